"""Reading memories and sessions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import text

from api import why
from api.http.door import At, Reader
from api.shapes import memory_json, message_json
from core import memories, sessions
from core.types import Json

router = APIRouter(prefix="/v1", tags=["memory"])

Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/memories")
def get_memories(
    at: At,
    who: Reader,
    user_id: str | None = None,
    category: str | None = None,
    status: str = "active",
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """Memories, newest first."""
    values = {"user": user_id, "category": category, "status": status, "after": after, "limit": limit}
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(_LIST, values).all()
        evidence = memories.evidence(tx, [row.id for row in rows])
    items = [memory_json(row, evidence.get(row.id, [])) for row in rows]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/memories/{memory_id}")
def get_memory(at: At, who: Reader, memory_id: UUID) -> Json:
    """One memory with its evidence."""
    with at.db.tenant(who.tenant_id) as tx:
        return memory_json(memories.get(tx, memory_id), memories.evidence(tx, [memory_id]).get(memory_id, []))


@router.get("/memories/{memory_id}/history")
def get_history(at: At, who: Reader, memory_id: UUID) -> Json:
    """Every version, oldest first."""
    with at.db.tenant(who.tenant_id) as tx:
        memories.get(tx, memory_id)
        return {"items": [asdict(version) for version in memories.history(tx, memory_id)], "next": None}


@router.get("/memories/{memory_id}/why")
def get_why(at: At, who: Reader, memory_id: UUID) -> Json:
    """Why a memory exists: event → rule and version → dispatch → model calls → evidence."""
    with at.db.tenant(who.tenant_id) as tx:
        return why.of(tx, memory_id)


@router.get("/sessions/{session_id:path}/messages")
def get_messages(at: At, who: Reader, session_id: str, after: int = 0, limit: Limit = 100) -> Json:
    """A session's messages in their order; `after` is a position."""
    with at.db.tenant(who.tenant_id) as tx:
        sessions.get(tx, session_id)
        found = sessions.transcript(tx, session_id, after=after, limit=limit)
    following = str(found[-1].position) if len(found) == limit else None
    return {"items": [message_json(m) for m in found], "next": following}


@router.get("/sessions/{session_id:path}")
def get_session(at: At, who: Reader, session_id: str) -> Json:
    """Where a session stands."""
    with at.db.tenant(who.tenant_id) as tx:
        return asdict(sessions.get(tx, session_id))


_LIST = text("""
    SELECT * FROM memories
    WHERE (cast(:user AS text) IS NULL OR user_id = :user) AND (cast(:category AS text) IS NULL OR category = :category)
      AND status = :status AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")
