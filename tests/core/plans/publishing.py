"""Events about plans."""

from __future__ import annotations

from typing import Any

from core.storage.db import Database
from core.types import Event, Json
from tests.factories import events_since
from tests.samples import TENANT, accept, event


def updated(plan: Any, session: str = "s1", **more: Any) -> Json:
    fields = {name: more.pop(name) for name in ("id", "time") if name in more}
    payload = {"session_id": session, "user_id": "ada", "plan": plan, **more}
    return event("plan.updated", payload, **fields)


def published(app: Database, document: Json) -> Event:
    with app.tenant(TENANT) as tx:
        last = events_since(tx, 0, 1000)[-1].seq if events_since(tx, 0, 1000) else 0
    accept(app, document)
    with app.tenant(TENANT) as tx:
        return events_since(tx, last, 1000)[0]
