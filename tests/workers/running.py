"""Running an agent by a rule."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event
from tests.works import Works


def run(app: Database, works: Works, target: str, payload: Json | None = None) -> list[Any]:
    """Let a rule run the agent on an event, and all that follows; the results of its dispatches."""
    rule = a_document(
        name="try_it", event_type="order.placed", actions=[{"action_type": "run_agent", "target": target}]
    )
    with app.tenant(TENANT) as tx:
        if "try_it" not in {stored.name for stored in store.in_force(tx)}:
            store.save(tx, TENANT, rule, author="test")
    accept(app, event(payload=payload or {}))
    works.settle()
    done = text("SELECT result FROM dispatches WHERE target = :target AND status = 'done' ORDER BY id")
    with app.tenant(TENANT) as tx:
        return list(tx.execute(done, {"target": target}).scalars())
