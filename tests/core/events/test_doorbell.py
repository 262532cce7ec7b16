from __future__ import annotations

import socket
import time

from core.events.doorbell import Doorbell


def test_a_bell_without_a_broker_keeps_nobody_waiting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # It accepts, and never answers.
        bell = Doorbell(f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        began = time.monotonic()
        for _ in range(100):
            bell.notify()
        assert time.monotonic() - began < 10
    bell.close()
