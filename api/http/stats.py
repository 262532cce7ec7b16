"""How much there is of everything, for one tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import text

from api.http.door import At, Reader
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"])

UserId = Annotated[str | None, Query(description="Count this user's events and memories only")]


@router.get("/stats")
def get_stats(at: At, who: Reader, user_id: UserId = None) -> Json:
    """Counts: events by type, decisions by rule and verdict, dispatches by status and target, memories by category."""
    with at.db.tenant(who.tenant_id) as tx:
        events = tx.execute(_EVENTS, {"user": user_id}).all()
        decisions = tx.execute(_DECISIONS).mappings().all()
        dispatches = tx.execute(_DISPATCHES).mappings().all()
        memories = tx.execute(_MEMORIES, {"user": user_id}).mappings().all()
    return {
        "events": {row.event_type: row.n for row in events},
        "decisions": [dict(row) for row in decisions],
        "dispatches": [dict(row) for row in dispatches],
        "memories": [dict(row) for row in memories],
    }


_EVENTS = text("""
    SELECT event_type, count(*) AS n FROM events
    WHERE cast(:user AS text) IS NULL OR user_id = :user
    GROUP BY event_type ORDER BY event_type
""")

_DECISIONS = text("SELECT rule, verdict, count(*) AS count FROM decisions GROUP BY 1, 2 ORDER BY 1, 2")

_DISPATCHES = text("SELECT target, status, count(*) AS count FROM dispatches GROUP BY 1, 2 ORDER BY 1, 2")

_MEMORIES = text("""
    SELECT category, status, count(*) AS count FROM memories
    WHERE cast(:user AS text) IS NULL OR user_id = :user
    GROUP BY 1, 2 ORDER BY 1, 2
""")
