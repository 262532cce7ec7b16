"""Renew the lease of a running attempt, and stop an attempt that overruns or was cancelled."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

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


@contextmanager
def watch(ledger: Ledger, job: Job) -> Iterator[None]:
    """Renew the lease from a thread of its own while the agent works, and stop the agent when its time is over.

    Raises:
        Overran: the agent took longer than it may.
        LeaseLost: the dispatch was cancelled, or taken over by another worker.
    """
    most = ledger.seconds.get(job.target)
    with deadline.interruptible(most) if ledger.interrupts else nullcontext() as alarm:
        watch = _LeaseWatch(ledger, job, alarm, most)
        watch.loop.start()
        try:
            yield
        except Interrupted:
            pass
        finally:
            if alarm is not None:
                alarm.disarm()
            watch.loop.close(None)
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
        interval = self._every if alarm is None else min(CHECK_SECONDS, self._every)
        self.loop = Loop("lease", self._turn, interval, delayed=True)

    def _turn(self) -> None:
        if self._alarm is None:
            self._ask(_RENEW)
        elif self.over is None:
            self.over = self._look(time.monotonic())
        if self.over is not None and self._alarm is not None:
            self._alarm.ring()

    def _look(self, now: float) -> Overran | LeaseLost | None:
        if self._most is not None and now - self._began >= self._most:
            which = f"{self._job.overruns + 1} of {MOST_OVERRUNS} times"
            return Overran(f"{self._job.target} took longer than the {self._most:g} s that it may take ({which}).")
        renews = now - self._renewed >= self._every
        self._renewed = now if renews else self._renewed
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


_HELD = text("SELECT FROM dispatches WHERE id = :id AND lease = :lease AND status = 'running'")


_RENEW = text("""
    UPDATE dispatches SET wake_at = least(clock_timestamp() + make_interval(secs => :seconds), deadline_at)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")
