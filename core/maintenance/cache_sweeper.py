"""Evicts idle in-process caches.

Each question sweeps the cache it reads; where no question comes any more, this loop does it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from core import heap, memoize
from core.index.resident import cache
from core.index.resident.filling import FILLER
from core.inference import loaded
from core.loop import Loop
from core.memory import feature_cache
from core.storage import idle_connections

EVERY_SECONDS: Final = 30.0
"""Interval of the sweep; an entry stays at most that much longer than its cache allows."""

SWEEPS: Final[tuple[Callable[[], None], ...]] = (
    memoize.sweep,
    cache.sweep,
    feature_cache.sweep,
    loaded.sweep,
    idle_connections.sweep,
    heap.trim,
)
"""Every in-process cache of users' texts, vectors or rows, idle models and connections; what they held goes back to the
operating system."""


class CacheSweeper:
    """Evicts from a thread of its own until closed. One per process, started after its last fork."""

    def __init__(self) -> None:
        self._loop = Loop("cache sweeper", _sweep, EVERY_SECONDS, delayed=True)
        self._loop.start()

    def close(self) -> None:
        FILLER.stop()
        self._loop.close()


def _sweep() -> None:
    errors: list[Exception] = []
    for sweep in SWEEPS:
        try:
            sweep()
        except Exception as error:  # noqa: BLE001 - the other caches are to be swept all the same
            errors.append(error)
    if errors:
        raise ExceptionGroup("Caches were not swept.", errors)
