"""The pipeline of production in this process: a database of its own, some default rules, and what works on them.

Nothing runs beside it: `publish` returns when all that follows from the events is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from bench.stand import database
from core import logs
from core.config import Settings
from core.events import parsing
from core.inference import configured_embedder
from core.sessions import ingest
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from rules.registry import store
from workers import wiring
from workers.dispatch import ledger as dispatch_ledger
from workers.dispatch.model import Ledger
from workers.dispatch.relay import DispatchRef
from workers.routing import router as routing_router
from workers.routing.router import Router

TENANT: Final = "bench"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A database, and what works on it."""

    app: Database
    router: Router
    ledger: Ledger

    def publish(self, events: Sequence[dict[str, Any]]) -> None:
        """Accept events, and work off what follows from them."""
        ingest.accept(self.app, TENANT, parsing.check(list(events)))
        routed = True
        while routed:
            count, owed = routing_router.route(self.router)
            ran = self._work([*owed, *routing_router.fire_due(self.router)])
            routed = bool(count or ran)

    def _work(self, owed: Sequence[DispatchRef]) -> int:
        """Run these dispatches and those that follow; return how many there were."""
        waiting, ran = list(owed), 0
        while waiting:
            ref = waiting.pop()
            waiting += run_one(self.ledger, ref.tenant_id, ref.id)
            ran += 1
        return ran


def run_one(ledger: Ledger, tenant_id: str, dispatch_id: UUID) -> list[DispatchRef]:
    """Run one dispatch; return the dispatches to send."""
    owed: list[DispatchRef] = []
    dispatch_ledger.take_turn(ledger, tenant_id, None, [dispatch_id], owed.extend)
    return owed


@contextmanager
def started(rules: Collection[str]) -> Iterator[Pipeline]:
    """Yield a pipeline with these default rules alone, and the default embedding model."""
    logs.configure("warning", "text", "bench")
    model = configured_embedder.embedder(Settings(embedding="local"))
    with (
        database(model, rules_poll_seconds=1e-9) as (settings, _),
        closing(db.connect(db.app_url(settings), 2)) as app,
    ):
        pipeline = Pipeline(app, wiring.router(settings), wiring.ledger(settings, model))
        with closing(pipeline.router.db), closing(pipeline.ledger.db):
            with app.tenant(TENANT) as tx:
                tenants.ensure(tx, TENANT)
                for name in store.install_defaults(tx, TENANT):
                    if name not in rules:
                        store.delete(tx, TENANT, name, author="bench")
            yield pipeline
