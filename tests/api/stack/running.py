"""A stack that the tests run."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(come_true: Callable[[], bool], limit_s: float = 60.0) -> None:
    deadline = time.monotonic() + limit_s
    while not come_true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)
