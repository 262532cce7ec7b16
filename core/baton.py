"""The baton of a process: of the threads that answer requests, one computes at a time.

An interpreter runs one thread at a time anyway. Threads that all want to run hand it over at each array operation and
each answer of the database, which took a search a third more processor time (docs/decisions/0064).
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_S: Final = 1.0
"""After this wait a thread goes on without the baton: whoever has it may wait for something else."""


class Baton:
    """Turn to compute, granted to threads in the order in which they ask. Whoever waits elsewhere passes it on."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._taken = False
        self._starting: deque[threading.Lock] = deque()
        self._returning: deque[threading.Lock] = deque()
        self._mine = threading.local()

    @contextmanager
    def carried(self) -> Iterator[None]:
        """Carry the baton: wait for it, and pass it on in the end."""
        self._mine.is_carried = self._take(self._starting)
        try:
            yield
        finally:
            self._pass_on()

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Let another thread carry the baton while this one waits for something; nothing happens if it has none."""
        if not self._pass_on():
            yield
            return
        try:
            yield
        finally:
            self._mine.is_carried = self._take(self._returning)

    def give_way(self) -> None:
        """Let a thread that waits compute first, as a long computation does from time to time."""
        with self.passed_on():
            pass

    @contextmanager
    def holding(self, lock: threading.Lock) -> Iterator[None]:
        """Hold a lock whose other holders pass the baton on: it is passed on as long as the lock is not free."""
        if not lock.acquire(blocking=False):
            with self.passed_on():
                lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _take(self, waiting: deque[threading.Lock]) -> bool:
        """Wait for the baton; return False if that took too long."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            turn = threading.Lock()
            turn.acquire()
            waiting.append(turn)
        if turn.acquire(timeout=self._patience_s):
            return True
        with self._lock:
            if turn in waiting:
                waiting.remove(turn)
                return False
        return True  # It was handed over at the last moment.

    def _pass_on(self) -> bool:
        """Hand the baton to the thread that has waited longest; return False if this thread does not carry it."""
        if not getattr(self._mine, "is_carried", False):
            return False
        self._mine.is_carried = False
        with self._lock:
            if waiting := self._returning or self._starting:
                waiting.popleft().release()
            else:
                self._taken = False
        return True


REQUESTS: Final = Baton()
"""The baton of the threads that answer requests in this process."""
