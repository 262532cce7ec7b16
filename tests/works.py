"""Everything that follows from the log, carried out in this process: the router and the ledger, without Celery."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from sqlalchemy import text

from core.config import Settings
from rules.flow import flow_rows
from workers import wiring
from workers.dispatch import ledger as dispatch_ledger
from workers.dispatch.model import Ledger
from workers.dispatch.relay import DispatchRef
from workers.routing import router as routing_router
from workers.routing.router import Router

ROUNDS = 100


@dataclass(frozen=True, slots=True)
class Works:
    """A router and a worker of every queue, working when told to."""

    router: Router
    ledger: Ledger

    def settle(self, *, flush: bool = True) -> int:
        """Work until nothing is owed; how many dispatches were run. With `flush`, open debounces act now."""
        done = 0
        for _ in range(ROUNDS):
            count, owed = routing_router.route(self.router)
            if flush:
                self._make_due()
            owed += routing_router.fire_due(self.router)
            done += self.run(owed)
            if not count and not owed:
                return done
        raise AssertionError("It does not come to an end.")

    def run(self, owed: list[DispatchRef]) -> int:
        """Run these dispatches and those that follow; how many there were."""
        done, waiting = 0, list(owed)
        while waiting:
            next_one = waiting.pop(0)
            waiting += run_one(self.ledger, next_one.tenant_id, next_one.id)
            done += 1
        return done

    def _make_due(self) -> None:
        """End the wait of every debounce."""
        with self.router.db.queue() as tx:
            open_ones = tx.execute(text("SELECT tenant_id, rule, key FROM flows WHERE due_at IS NOT NULL"))
            places = [(row.tenant_id, row.rule, row.key) for row in open_ones]
            flow_rows.pass_on(tx, [], datetime.now(UTC) - timedelta(seconds=1), places)


def run_one(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[DispatchRef]:
    """Run one dispatch; the dispatches to send."""
    owed: list[DispatchRef] = []
    dispatch_ledger.take_turn(ledger, tenant_id, None, [dispatch_id], owed.extend)
    return owed


@contextmanager
def at_work(settings: Settings) -> Iterator[Works]:
    """Both, on these settings; rules are looked at every time."""
    works = Works(wiring.router(settings.model_copy(update={"rules_poll_seconds": 1e-9})), wiring.ledger(settings))
    try:
        yield works
    finally:
        works.router.db.close()
        works.ledger.db.close()
