"""Keep the lease of a running attempt, and stop an attempt that overruns or was cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import structlog
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError

from core import logs
from core.errors import LeaseLost
from workers.dispatch import deadline
from workers.dispatch.deadline import Alarm, Interrupted
from workers.dispatch.model import OVERRUNS, Job, Ledger, Overran

log = structlog.get_logger()

RENEWALS_PER_LEASE = 3
"""A lease is renewed three times within its length, so that two lost renewals cost nothing."""


LOOK_SECONDS = 1.0
"""How often a running attempt looks whether it was called off."""


@contextmanager
def watched(ledger: Ledger, job: Job) -> Iterator[None]:
    """Keep the lease alive from a thread of its own while the agent works, and stop the agent when its time is over.

    Raises:
        Overran: the agent took longer than it may.
        LeaseLost: the dispatch was called off, or taken over by another worker.
    """
    watch = _Watch(ledger, job)
    with deadline.alarm(watch.most) if ledger.interrupts else nullcontext() as alarm:
        thread = threading.Thread(target=watch.run, args=(alarm,), name="lease", daemon=True)
        thread.start()
        try:
            yield
        except Interrupted:
            pass
        finally:
            if alarm is not None:
                alarm.disarm()
            watch.done.set()
            thread.join()
    if watch.over is not None:
        raise watch.over


class _Watch:
    """Renews the lease of a job, and notices that its time is over or that it is not its worker's any more."""

    def __init__(self, ledger: Ledger, job: Job) -> None:
        self.done = threading.Event()
        self.over: Overran | LeaseLost | None = None
        self.most = ledger.seconds.get(job.target)
        self._ledger = ledger
        self._job = job

    def run(self, alarm: Alarm | None) -> None:
        every = self._ledger.policy.lease / RENEWALS_PER_LEASE
        began = renewed = time.monotonic()
        while not self.done.wait(min(LOOK_SECONDS, every) if alarm is not None else every):
            if self.over is None:
                renews = time.monotonic() - renewed >= every or alarm is None
                renewed = time.monotonic() if renews else renewed
                self.over = self._look(time.monotonic() - began, renews=renews) if alarm is not None else self._renew()
            if self.over is not None and alarm is not None:
                alarm.ring()

    def _look(self, took: float, *, renews: bool) -> Overran | LeaseLost | None:
        if self.most is not None and took >= self.most:
            which = f"{self._job.overruns + 1} of {OVERRUNS} times"
            return Overran(f"{self._job.target} took longer than the {self.most:g} s that it may take ({which}).")
        return self._renew() if renews else self._check()

    def _renew(self) -> LeaseLost | None:
        lost = self._ask(_RENEW)
        return lost if self._ledger.interrupts else None

    def _check(self) -> LeaseLost | None:
        return self._ask(_HELD)

    def _ask(self, statement: TextClause) -> LeaseLost | None:
        values = {"id": self._job.id, "lease": self._job.lease, "seconds": self._ledger.policy.lease}
        try:
            with self._ledger.db.tenant(self._job.tenant_id) as tx:
                return None if tx.execute(statement, values).rowcount == 1 else LeaseLost()
        except DBAPIError as error:
            log.warning("dispatch.unrenewed", **logs.fault(error))
            return None


_HELD = text("SELECT FROM dispatches WHERE id = :id AND lease = :lease AND status = 'running'")


_RENEW = text("""
    UPDATE dispatches SET wake_at = least(clock_timestamp() + make_interval(secs => :seconds), deadline_at)
    WHERE id = :id AND lease = :lease AND status = 'running'
""")
