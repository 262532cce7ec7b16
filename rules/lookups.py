"""What conditions may look up beyond the event: asked only when a rule that may still match needs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.db import Tx
from core.types import Event


def lookup(tx: Tx, event: Event) -> Callable[[str], Any]:
    """Answers the looked-up names of one event; None where there is no such thing."""

    def ask(name: str) -> Any:
        values = {
            "tenant": event.tenant_id,
            "session": event.session_id,
            "user": event.user_id,
            "memory": _memory_id(event.subject),
            "time": event.time,
            "seq": event.seq,
        }
        # Within a savepoint: a query that fails for one event must not spoil the transaction of a whole batch.
        with tx.begin_nested():
            return tx.execute(QUERIES[name], values).scalar()

    return ask


def _memory_id(subject: str | None) -> UUID | None:
    kind, _, name = (subject or "").partition(":")
    try:
        return UUID(name) if kind == "memory" else None
    except ValueError:
        return None


QUERIES: Final = {
    "session.message_count": text("SELECT message_count FROM sessions WHERE tenant_id = :tenant AND id = :session"),
    "session.token_count": text("SELECT token_count FROM sessions WHERE tenant_id = :tenant AND id = :session"),
    "session.idle_seconds": text("""
        SELECT cast(extract(epoch FROM cast(:time AS timestamptz) - max(time)) AS float8) FROM events
        WHERE tenant_id = :tenant AND session_id = :session AND seq < :seq AND event_type = 'message.added'
    """),
    "user.memory_count": text("""
        SELECT count(*) FROM memories WHERE tenant_id = :tenant AND user_id = :user AND status = 'active'
    """),
    "memory.importance": text("SELECT importance FROM memories WHERE tenant_id = :tenant AND id = :memory"),
    "budget.tokens_today": text("""
        SELECT coalesce(sum(input_tokens + output_tokens), 0)::bigint FROM model_calls
        WHERE tenant_id = :tenant AND at >= date_trunc('day', now(), 'UTC')
    """),
}
