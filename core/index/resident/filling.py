"""Fills entries of the cache behind the questions, which the database answers meanwhile.

One thread in a process, which lives as long as there is something to fill; an owner waits at most once. It has a
connection of its own, bound to the tenant and the reader who asked, and pauses between pieces while questions are
asked: what it reads waits in the server meanwhile.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Final

import structlog

from core import logs
from core.index.resident.cache import CHANGED, OwnerCache
from core.storage.db import Database

log = structlog.get_logger()

MOST_WAITING: Final = 64
"""Owners that wait for the thread; others are filled after a later question."""

LONGEST_PAUSE_SECONDS: Final = 0.01
"""Of one piece, however many questions are asked: they are fewer once the entry is there."""

_STEP_SECONDS: Final = 0.002


class Stopped(Exception):
    """The process ends."""


@dataclass(frozen=True, slots=True)
class _Fill:
    db: Database
    tenant_id: str
    entry: OwnerCache
    dimension: int


class Filler:
    """The thread of a process, and the entries that wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: OrderedDict[OwnerCache, _Fill] = OrderedDict()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._asking = 0
        self._needed = 0

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count a question that the thread gives way to."""
        with self._lock:
            self._asking += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking -= 1

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Count a question that waits for all rows of an owner: the thread may be reading them."""
        with self._lock:
            self._needed += 1
        try:
            yield
        finally:
            with self._lock:
                self._needed -= 1

    def later(self, db: Database, tenant_id: str, entry: OwnerCache, dimension: int) -> None:
        """Fill an entry soon, unless it waits already or too many do."""
        with self._lock:
            if entry.filling or len(self._waiting) >= MOST_WAITING:
                return
            entry.filling = True
            self._waiting[entry] = _Fill(db, tenant_id, entry, dimension)
            if self._thread is None or not self._thread.is_alive():
                self._stopped = threading.Event()
                self._thread = threading.Thread(target=self._run, args=(self._stopped,), name="filler", daemon=True)
                self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Give up what is being filled and what waits; the next question about a user begins anew."""
        with self._lock:
            self._stopped.set()
            waiting, thread = list(self._waiting), self._thread
            self._waiting.clear()
            self._thread = None
        for entry in waiting:
            entry.filling = False
        if thread is not None:
            thread.join(timeout)

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to fill; return whether that is so."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(timeout)
        return thread is None or not thread.is_alive()

    def _run(self, stopped: threading.Event) -> None:
        while (fill := self._next(stopped)) is not None:
            try:
                self._fill(fill, stopped)
            except Stopped:
                pass
            except Exception as error:  # noqa: BLE001 - the next question about the owner tries again
                log.warning("search.filling_failed", **logs.fault(error))
            finally:
                fill.entry.filling = False

    def _next(self, stopped: threading.Event) -> _Fill | None:
        with self._lock:
            if stopped.is_set():
                return None
            if not self._waiting:
                self._thread = None
                return None
            return self._waiting.popitem(last=False)[1]

    def _fill(self, fill: _Fill, stopped: threading.Event) -> None:
        def pause() -> None:
            until = time.monotonic() + LONGEST_PAUSE_SECONDS
            while self._asking and not self._needed and not stopped.is_set() and time.monotonic() < until:
                time.sleep(_STEP_SECONDS)
            if stopped.is_set():
                raise Stopped

        with closing(fill.db.apart()) as reader:
            check = fill.entry.check(fill.dimension)
            with reader.asking(fill.tenant_id, (CHANGED, check.values)) as (tx, (changed,)):
                fill.entry.view(tx, check, changed[0], pause)


FILLER: Final = Filler()
"""Of this process."""
