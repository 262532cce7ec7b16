"""Events that are routed, and what comes of them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.samples import TENANT

EMIT: Json = {"action_type": "emit", "event_type": "order.checked", "payload": {"id": "{{payload.id}}"}}


def save(app: Database, *documents: Json, tenant: str = TENANT) -> None:
    """Put rules in force; the log forgets that somebody did."""
    with app.tenant(tenant) as tx:
        for document in documents:
            store.save(tx, tenant, document, author="test")
        tx.execute(text("DELETE FROM events WHERE event_type = 'rule.changed'"))


def rows(queue: Database, table: str, order: str = "1") -> list[Any]:
    with queue.queue() as tx:
        return list(tx.execute(text(f"SELECT * FROM {table} ORDER BY {order}")))
