"""What must happen, and what became of it; dead letters are sent again from here."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from sqlalchemy import text

from api.http.door import At, Reader, Writer
from api.shapes import dispatch_json
from core.db import Tx
from core.errors import Conflict, NotFound
from core.types import DispatchStatus, Json

router = APIRouter(prefix="/v1", tags=["dispatches"])

Limit = Annotated[int, Query(ge=1, le=500)]


@router.get("/dispatches")
def get_dispatches(
    at: At,
    who: Reader,
    status: str | None = None,
    rule: str | None = None,
    target: str | None = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """Dispatches, newest first."""
    values = {"status": status, "rule": rule, "target": target, "after": after, "limit": limit}
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(_DISPATCHES, values).all()
    return {"items": [dispatch_json(r) for r in rows], "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/dispatches/{dispatch_id}")
def get_dispatch(at: At, who: Reader, dispatch_id: UUID) -> Json:
    """One dispatch."""
    with at.db.tenant(who.tenant_id) as tx:
        return dispatch_json(_dispatch(tx, dispatch_id))


@router.post("/dispatches/{dispatch_id}/retry")
def post_retry(at: At, who: Writer, dispatch_id: UUID) -> Json:
    """Try a dead letter again from its first attempt on; the clock sends it within a second."""
    with at.db.tenant(who.tenant_id) as tx:
        again = tx.execute(_RETRY, {"id": dispatch_id}).one_or_none()
        if again is None:
            _refuse_retry(_dispatch(tx, dispatch_id))
        return dispatch_json(again)


def _dispatch(tx: Tx, dispatch_id: UUID) -> Any:
    row = tx.execute(text("SELECT * FROM dispatches WHERE id = :id"), {"id": dispatch_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no dispatch {dispatch_id} in this tenant.")
    return row


def _refuse_retry(row: Any) -> None:
    if row.status != DispatchStatus.DEAD:
        raise Conflict(f"This dispatch is {row.status}; only a dead one can be tried again.")
    raise Conflict("No agent was to work on this one. Publish the event again, with what its reason says put right.")


_DISPATCHES = text("""
    SELECT * FROM dispatches
    WHERE (cast(:status AS text) IS NULL OR status = :status) AND (cast(:rule AS text) IS NULL OR rule = :rule)
      AND (cast(:target AS text) IS NULL OR target = :target) AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")

_RETRY = text("""
    UPDATE dispatches SET status = 'pending', attempt = 0, sends = 0, ended_at = NULL, wake_at = clock_timestamp()
    WHERE id = :id AND status = 'dead' AND action_type IN ('run_agent', 'emit', 'notify') AND target <> 'hop_limit'
    RETURNING *
""")
"""Letters of the bus, of undecidable events and of stopped chains have no agent that could try again."""
