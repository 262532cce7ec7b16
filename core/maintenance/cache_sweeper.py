"""Evicts idle in-process caches.

Caches are also swept on use; this covers processes that are not asked any more.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import structlog

from core import memoize
from core.memory import nearest_vectors
from core.search.resident import cache

log = structlog.get_logger()

EVERY_SECONDS: Final = 30.0
"""Interval; an entry may outlive its limit by this much."""

SWEEPS: Final[tuple[Callable[[], None], ...]] = (memoize.sweep, nearest_vectors.sweep, cache.sweep)
"""All caches of a process that hold user data, or digests of it."""


class Sweeper:
    """Evicts idle cache entries from a thread of its own until closed. One per process, started after its last fork."""

    def __init__(self) -> None:
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join(timeout=2)

    def _run(self) -> None:
        while not self._closed.wait(EVERY_SECONDS):
            for sweep in SWEEPS:
                try:
                    sweep()
                except Exception:
                    # The others are to let go all the same, and this one next time.
                    log.exception("sweep.broken")
