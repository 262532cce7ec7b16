"""Rows of the ledger of model calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from core.storage.db import Database
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import owe

NOW = datetime.now(UTC)


def call(app: Database, dispatch: UUID | None = None, *, tenant: str = TENANT, **fields: Any) -> None:
    """A call in the ledger."""
    values = {
        "model": "m",
        "prompt": "p.v1",
        "input": 100,
        "output": 10,
        "cost": 0.25,
        "latency": 50.0,
        "at": NOW,
        **fields,
    }
    with app.tenant(tenant) as tx:
        tx.execute(_CALL, {"tenant": tenant, "dispatch": dispatch or uuid4(), **values})


_CALL = text("""
    INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, latency_ms,
                             outcome, at)
    VALUES (:tenant, :dispatch, :model, :prompt, :input, :output, :cost, :latency, 'ok', :at)
""")


def dispatch(app: Database, target: str, rule: str | None, user: str | None) -> UUID:
    seq = accept(app, event(payload={"user_id": user} if user else {})).last_seq
    return owe(app, target, rule=rule, event_seq=seq)
