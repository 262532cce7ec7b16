"""Reading memories and sessions; what people do to whole memories."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi import Body as JsonBody
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import text

from api import why
from api.http.door import At, Door, Reader, Writer
from api.shapes import memory_json, message_json
from core import changes, memories, sessions
from core.changes import Author, Owner, Pin, Restore
from core.db import Tx
from core.errors import Conflict
from core.tenants import Caller
from core.types import Category, Json, Status

router = APIRouter(prefix="/v1", tags=["memory"])

Limit = Annotated[int, Query(ge=1, le=500)]


Reason = Annotated[str | None, Field(max_length=2_000, description="Kept in the history")]
Seen = Annotated[int | None, Field(ge=1, description="The version that was looked at; refused if it is another now")]


class RestoreRequest(BaseModel):
    """Why something comes back."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = None
    version: Seen = None


class PinRequest(BaseModel):
    """Whether a memory shall be kept from fading, and from the limit of its user."""

    model_config = ConfigDict(extra="forbid")

    pinned: bool = True
    reason: Reason = None
    version: Seen = None


@router.get("/memories")
def get_memories(
    at: At,
    who: Reader,
    user_id: str | None = None,
    category: Category | None = None,
    status: Status = Status.ACTIVE,
    include_archived: bool = False,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """Memories, newest first. One that has expired is no longer active, even before a sweep has archived it."""
    statuses = [status, Status.ARCHIVED] if include_archived else [status]
    values = {"user": user_id, "category": category, "statuses": statuses, "after": after, "limit": limit}
    values |= {"expired": include_archived}
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


@router.post("/memories/{memory_id}/restore")
def post_restore(
    at: At, who: Writer, memory_id: UUID, asked: Annotated[RestoreRequest | None, JsonBody()] = None
) -> Json:
    """Serve again what was archived; it begins to fade anew. Restoring what is active changes nothing."""
    asked = asked or RestoreRequest()
    with at.db.tenant(who.tenant_id) as tx:
        row = _seen(memories.get(tx, memory_id), asked.version)
        if row.status != Status.ACTIVE:
            _apply(tx, who, row, Restore(row.id, row.version, asked.reason or "Restored by hand."))
    return _shown(at, who, memory_id)


@router.post("/memories/{memory_id}/pin")
def post_pin(at: At, who: Writer, memory_id: UUID, asked: Annotated[PinRequest | None, JsonBody()] = None) -> Json:
    """Keep a memory from fading, or let it fade again. Asking for what is so already changes nothing."""
    asked = asked or PinRequest()
    with at.db.tenant(who.tenant_id) as tx:
        row = _seen(memories.get(tx, memory_id), asked.version)
        if row.pinned != asked.pinned:
            words = "Pinned by hand." if asked.pinned else "Unpinned by hand."
            _apply(tx, who, row, Pin(row.id, row.version, asked.pinned, asked.reason or words))
    return _shown(at, who, memory_id)


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


def _seen(row: Any, version: int | None) -> Any:
    """The row, if it stands at the version that the caller has looked at."""
    if version is not None and row.version != version:
        raise Conflict(f"The memory is at version {row.version} now, not {version}. Read it again.")
    return row


def _apply(tx: Tx, who: Caller, row: Any, change: Pin | Restore) -> None:
    author = Author(f"key:{who.key_id}")
    changes.apply(tx, who.tenant_id, Owner(row.user_id, row.group_id), [change], author)


def _shown(at: Door, who: Caller, memory_id: UUID) -> Json:
    """A memory as it stands now that it was changed, which the rules are to hear of."""
    at.bell.ring()
    with at.db.tenant(who.tenant_id) as tx:
        return memory_json(memories.get(tx, memory_id), memories.evidence(tx, [memory_id]).get(memory_id, []))


_LIST = text("""
    SELECT * FROM memories
    WHERE (cast(:user AS text) IS NULL OR user_id = :user) AND (cast(:category AS text) IS NULL OR category = :category)
      AND status = ANY(:statuses) AND (:expired OR status <> 'active' OR expires_at IS NULL OR expires_at > now())
      AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")
