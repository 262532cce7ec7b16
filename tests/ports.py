"""What the servers of tests share: ports, and how soon they end."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from itertools import cycle

FIRST = 10_000
COUNT = 1_400
WORKERS = 16
"""The last port lies below those that the system gives to outgoing connections, from 32768 on."""


POLL_SECONDS = 0.02
"""How often a server in a thread looks whether it is to end: `serve_forever` itself would look every half second."""


def free_port() -> int:
    """A port on which nothing listens, and which this process and other workers of this run will not take again soon.

    A port that the system chooses is free only until the next connection of any process.
    """
    return next(port for port in _PORTS if _is_free(port))


def _own() -> Iterator[int]:
    """The ports of this worker, beginning elsewhere than another run of tests on this machine would."""
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % WORKERS
    start = os.getpid() * 37 % COUNT
    return cycle(FIRST + worker * COUNT + (start + step) % COUNT for step in range(COUNT))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_PORTS = _own()
