"""The baton of a process: of the threads that answer requests, one computes at a time.

An interpreter runs one thread at a time anyway. Threads that all want to run hand it over at each array operation and
each answer of the database, which took a search a third more processor time (docs/decisions/performance.md, 0064).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

PATIENCE_S: Final = 1.0
"""After this wait a thread goes on without the baton: whoever has it may wait for something else."""


@dataclass(slots=True)
class _Line:
    """Threads of one tenant that wait for the baton. `spent`: the seconds for which its threads have carried it."""

    spent: float = 0.0
    starting: deque[threading.Lock] = field(default_factory=deque)
    returning: deque[threading.Lock] = field(default_factory=deque)

    def pop(self) -> threading.Lock:
        return (self.returning or self.starting).popleft()

    def __bool__(self) -> bool:
        return bool(self.returning or self.starting)


class Baton:
    """Turn to compute, granted to the waiting tenant that has computed least (start-time fair queuing, Goyal 1996).

    Of one tenant's threads those that have begun come first, then those that have waited longest. Whoever waits
    elsewhere passes it on.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._taken = False
        self._lines: dict[str, _Line] = {}
        self._least = 0.0
        self._mine = threading.local()

    @property
    def tenant(self) -> str:
        """The tenant for which this thread computes; empty: none."""
        tenant_id: str = getattr(self._mine, "tenant", "")
        return tenant_id

    @contextmanager
    def carried(self, tenant_id: str = "") -> Iterator[None]:
        """Carry the baton for a tenant: wait for it, and pass it on in the end."""
        self._mine.tenant = tenant_id
        self._mine.is_carried = self._take(returning=False)
        try:
            yield
        finally:
            self._pass_on()
            self._mine.tenant = ""

    @contextmanager
    def passed_on(self) -> Iterator[None]:
        """Let another thread carry the baton while this one waits for something; nothing happens if it has none."""
        if not self._pass_on():
            yield
            return
        try:
            yield
        finally:
            self._mine.is_carried = self._take(returning=True)

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

    def _take(self, *, returning: bool) -> bool:
        """Wait for the baton; return False if that took too long."""
        with self._lock:
            line = self._line(self.tenant)
            if not self._taken:
                self._taken = True
                self._least = line.spent
                self._mine.since = time.monotonic()
                return True
            turn = threading.Lock()
            turn.acquire()
            waiting = line.returning if returning else line.starting
            waiting.append(turn)
        if turn.acquire(timeout=self._patience_s):
            self._mine.since = time.monotonic()
            return True
        with self._lock:
            if turn in waiting:
                waiting.remove(turn)
                return False
        self._mine.since = time.monotonic()
        return True  # It was handed over at the last moment.

    def _line(self, tenant_id: str) -> _Line:
        """Return a tenant's line; what it did not use while it did not wait is not saved up."""
        line = self._lines.setdefault(tenant_id, _Line())
        if not line:
            line.spent = max(line.spent, self._least)
        return line

    def _pass_on(self) -> bool:
        """Hand the baton to the next thread; return False if this thread does not carry it."""
        if not getattr(self._mine, "is_carried", False):
            return False
        self._mine.is_carried = False
        with self._lock:
            self._line(self.tenant).spent += time.monotonic() - self._mine.since
            self._taken = any(self._lines.values())
            if self._taken:
                following = min(filter(None, self._lines.values()), key=lambda line: line.spent)
                self._least = following.spent
                following.pop().release()
            self._forget_idle()
        return True

    def _forget_idle(self) -> None:
        """Forget the tenants that owe nothing to those that wait; all, if nobody waits."""
        self._lines = {
            tenant_id: line
            for tenant_id, line in self._lines.items()
            if self._taken and (line or line.spent > self._least)
        }


REQUESTS: Final = Baton()
"""The baton of the threads that answer requests in this process."""
