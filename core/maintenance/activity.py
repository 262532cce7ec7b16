"""Counts for /v1/stats of what the service did: events, decisions, dispatches, searches that returned a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text

from core.maintenance import memory_stats
from core.storage.db import Tx
from core.types import Json


@dataclass(frozen=True, slots=True)
class Activity:
    """Events by type, decisions by rule and verdict, dispatches by target and status, and recent recalls."""

    events: Mapping[str, int]
    decisions: Sequence[Json]
    dispatches: Sequence[Json]
    recalls: int


def of(tx: Tx, user_id: str | None, now: datetime) -> Activity:
    """Count a tenant's activity; events and recalls of one user only, if one is given."""
    recalled = tx.execute(_RECALLS, {"user": user_id, "now": now, "days": memory_stats.DAYS})
    return Activity(
        {row.event_type: row.n for row in tx.execute(_EVENTS, {"user": user_id})},
        [dict(row) for row in tx.execute(_DECISIONS).mappings()],
        [dict(row) for row in tx.execute(_DISPATCHES).mappings()],
        int(recalled.scalar_one()),
    )


_EVENTS = text("""
    SELECT event_type, count(*) AS n FROM events
    WHERE cast(:user AS text) IS NULL OR user_id = :user
    GROUP BY event_type ORDER BY event_type
""")

_RECALLS = text("""
    SELECT coalesce(sum(CASE WHEN jsonb_typeof(payload -> 'searches') = 'number'
                             THEN cast(payload ->> 'searches' AS numeric) END), 0)
    FROM events
    WHERE event_type = 'memory.recalled' AND source = 'imprint'
      AND time > cast(:now AS timestamptz) - make_interval(days => :days)
      AND (cast(:user AS text) IS NULL OR user_id = :user)
""")
"""Searches that returned a memory, as announced; searches that returned none are not announced."""

_DECISIONS = text("SELECT rule, verdict, count(*) AS count FROM decisions GROUP BY 1, 2 ORDER BY 1, 2")

_DISPATCHES = text("SELECT target, status, count(*) AS count FROM dispatches GROUP BY 1, 2 ORDER BY 1, 2")
