"""How much there is of everything, for one tenant, and how its memory does."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import text

from api.ingress.dependencies import At, Reader
from api.ingress.large_json import Route
from core.events.parsing import Name
from core.maintenance import memory_stats
from core.storage.db import Tx
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

UserId = Annotated[Name | None, Query(description="Count this user's events and memories only")]


@router.get("/stats")
def get_stats(at: At, who: Reader, user_id: UserId = None) -> Json:
    """Counts: events by type, decisions by rule and verdict, dispatches by status and target, memories by category.

    `memory` says how the memory does. Its `latency_ms` and `recall.process` are what this one process has measured of
    this tenant.
    """
    now = datetime.now(UTC)
    with at.db.tenant(who.tenant_id) as tx:
        events = tx.execute(_EVENTS, {"user": user_id}).all()
        decisions = tx.execute(_DECISIONS).mappings().all()
        dispatches = tx.execute(_DISPATCHES).mappings().all()
        counted = memory_stats.counts(tx, user_id, now)
        memory = memory_stats.of(tx, user_id, now, counted)
        recalled = _recalled(tx, user_id, now)
    recall = {"with_memories": recalled, "process": at.hits.of(who.tenant_id)}
    return {
        "events": {row.event_type: row.n for row in events},
        "decisions": [dict(row) for row in decisions],
        "dispatches": [dict(row) for row in dispatches],
        "memories": sorted(counted.crossed, key=lambda one: (one["category"], one["status"])),
        "memory": memory | {"recall": recall, "latency_ms": at.hits.latency(who.tenant_id)},
    }


def _recalled(tx: Tx, user_id: str | None, now: datetime) -> int:
    """Searches that handed out a memory, as far back as figures go."""
    values = {"user": user_id, "now": now, "days": memory_stats.DAYS}
    return int(tx.execute(_RECALLED, values).scalar_one())


_EVENTS = text("""
    SELECT event_type, count(*) AS n FROM events
    WHERE cast(:user AS text) IS NULL OR user_id = :user
    GROUP BY event_type ORDER BY event_type
""")

_RECALLED = text("""
    SELECT coalesce(sum(CASE WHEN jsonb_typeof(payload -> 'searches') = 'number'
                             THEN cast(payload ->> 'searches' AS numeric) END), 0)
    FROM events
    WHERE event_type = 'memory.recalled' AND source = 'imprint'
      AND time > cast(:now AS timestamptz) - make_interval(days => :days)
      AND (cast(:user AS text) IS NULL OR user_id = :user)
""")
"""What was announced; searches that handed out nothing are not."""

_DECISIONS = text("SELECT rule, verdict, count(*) AS count FROM decisions GROUP BY 1, 2 ORDER BY 1, 2")

_DISPATCHES = text("SELECT target, status, count(*) AS count FROM dispatches GROUP BY 1, 2 ORDER BY 1, 2")
