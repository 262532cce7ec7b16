"""Renew the lease of a running attempt, and stop an attempt that overruns or was cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Final

import structlog
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError

from core import logs
from core.errors import LeaseLost
from core.loop import Loop
from workers.dispatch import deadline
from workers.dispatch.deadline import Interrupted, Interrupter
from workers.dispatch.model import MOST_OVERRUNS, Job, Ledger, Overran

log = structlog.get_logger()

RENEWALS_PER_LEASE = 3
"""Renewals within the length of a lease, so that two failed ones cost nothing."""

CHECK_SECONDS = 1.0
"""Interval at which a running attempt checks whether it was cancelled."""

IDLE_TURNS: Final = 5
"""Turns without a running attempt after which the thread ends; the next attempt starts one again."""


@contextmanager
def watch(ledger: Ledger, job: Job) -> Iterator[None]:
    """Have the lease renewed while the agent works, and stop the agent when its time is over.

    Raises:
        Overran: the agent took longer than it may.
        LeaseLost: the dispatch was cancelled, or taken over by another worker.
    """
    most = ledger.seconds.get(job.target)
    with deadline.interruptible(most) if ledger.interrupts else nullcontext() as alarm:
        watch = _LeaseWatch(ledger, job, alarm, most)
        _WATCHES.add(watch)
        try:
            yield
        except Interrupted:
            pass
        finally:
            if alarm is not None:
                alarm.disarm()
            _WATCHES.remove(watch)
    if watch.over is not None:
        raise watch.over


class _LeaseWatch:
    """Renews the lease of a job, and notices that its time is over or that it belongs to another worker.

    `over`: why the attempt is over. `alarm` stops the agent then; without one nothing can, and it goes on.
    """

    def __init__(self, ledger: Ledger, job: Job, alarm: Interrupter | None, most: float | None) -> None:
        self.over: Overran | LeaseLost | None = None
        self._ledger = ledger
        self._job = job
        self._alarm = alarm
        self._most = most
        self._every = ledger.policy.lease / RENEWALS_PER_LEASE
        self._began = self._renewed = time.monotonic()
        self.interval = self._every / 2 if alarm is None else min(CHECK_SECONDS, self._every)

    def look(self) -> None:
        """Renew the lease if it is time; end an attempt that is over."""
        now = time.monotonic()
        # A turn may come a little early, and the next one only after a whole interval.
        renews = now - self._renewed >= self._every - self.interval / 2
        if self._alarm is not None and self.over is None:
            self.over = self._end_of(now, renews=renews)
        elif self._alarm is None and renews:
            self._ask(_RENEW)
        self._renewed = now if renews else self._renewed
        if self.over is not None and self._alarm is not None:
            self._alarm.ring()

    def _end_of(self, now: float, *, renews: bool) -> Overran | LeaseLost | None:
        if self._most is not None and now - self._began >= self._most:
            which = f"{self._job.overruns + 1} of {MOST_OVERRUNS} times"
            return Overran(f"{self._job.target} took longer than the {self._most:g} s that it may take ({which}).")
        return None if self._ask(_RENEW if renews else _HELD) else LeaseLost()

    def _ask(self, statement: TextClause) -> bool:
        """Run a statement on the dispatch; return whether this worker holds it, as far as the database can be asked."""
        values = {"id": self._job.id, "lease": self._job.lease, "seconds": self._ledger.policy.lease}
        try:
            with self._ledger.db.tenant(self._job.tenant_id) as tx:
                return tx.execute(statement, values).rowcount == 1
        except DBAPIError as error:
            # Not left to the loop, whose pause after a failure would let the attempt overrun.
            log.warning("dispatch.unrenewed", **logs.fault(error))
            return True


class _Watches:
    """The attempts that run in this process, looked after by one thread: to start one for each took a millisecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[_LeaseWatch] = set()
        self._loop: Loop | None = None
        self._interval = float("inf")
        self._idle = 0

    def add(self, watch: _LeaseWatch) -> None:
        with self._lock:
            self._running.add(watch)
            is_sooner = watch.interval < self._interval
            self._interval = min(watch.interval, self._interval)
            if self._loop is None or not self._loop.is_alive:  # It is not after a fork, either.
                self._idle = 0
                self._loop = Loop("lease", self._turn, self._interval, delayed=True)
                self._loop.start()
            elif is_sooner:
                self._loop.wake()

    def remove(self, watch: _LeaseWatch) -> None:
        with self._lock:
            self._running.discard(watch)

    def _turn(self) -> float:
        with self._lock:
            running = list(self._running)
            self._idle = 0 if running else self._idle + 1
            if self._idle >= IDLE_TURNS and self._loop is not None:
                self._loop.stop()
                self._loop, self._interval = None, float("inf")
                return 0.0
            interval = self._interval
        for watch in running:
            watch.look()
        return interval


_WATCHES: Final = _Watches()

_HELD = text("SELECT FROM dispatches WHERE id = :id AND lease = :lease AND status = 'running'")

_RENEW = text("""
    UPDATE dispatches SET wake_at = least(clock_timestamp() + make_interval(secs => :seconds), deadline_at)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")
