"""Evicts idle in-process caches.

What is at hand is looked through with each question; where no question comes any more, the clock does it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

import structlog

from core import memoize
from core.index.resident import cache

log = structlog.get_logger()

EVERY_SECONDS: Final = 30.0
"""How often: what is kept at the longest stays that much longer."""

SWEEPS: Final[tuple[Callable[[], None], ...]] = (memoize.sweep, cache.sweep)
"""All that a process keeps of what users say, or of what stands for it."""


class Sweeper:
    """Lets go from a thread of its own until closed. One for each process, begun behind its last fork."""

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
