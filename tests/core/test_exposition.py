"""The listener for metrics."""

from __future__ import annotations

import socket

import pytest

from core import exposition
from core.errors import Misconfigured


def test_a_taken_port_is_one_clear_line():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(Misconfigured, match=f"port taken: something listens on 127.0.0.1:{port}"):
            exposition.listen("127.0.0.1", port)
