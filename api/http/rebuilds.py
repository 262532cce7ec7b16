"""Making a user's memories anew beside those that stand, looking at the difference, and taking it over or not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import text
from uuid_utils.compat import uuid7

from api.ingress.dependencies import At, Reader, Writer, author
from api.ingress.large_json import Route
from core.consolidation import pipeline
from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import log
from core.events.log import Announcement
from core.events.parsing import Name
from core.memory import shadow
from core.settings.limits import LimitReached
from core.storage.db import Tx
from core.tenancy import tenants
from core.tenancy.tenants import Caller
from core.types import Json
from rules.backtest import rebuild
from rules.document.schema import parse
from rules.document.targets import TARGETS

router = APIRouter(prefix="/v1/rebuilds", tags=["memory"], route_class=Route)

Limit = Annotated[int, Query(ge=1, le=200)]

RETRY_SECONDS = 30
"""When to try again where as many rebuilds run as may: one takes seconds to minutes."""


class RebuildRequest(BaseModel):
    """Whose memories to make anew, and what is to be different."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name
    rules: Annotated[list[Json] | None, Field(max_length=200, description="Default: those in force")] = None
    as_of: Annotated[AwareDatetime | None, Field(description="By what had happened then; default: by now")] = None
    extractor: Literal["offline", "llm"] | None = None
    embedding: Literal["local", "openai", "hash"] | None = None


@router.post("", status_code=202)
def post_rebuild(at: At, who: Writer, asked: RebuildRequest) -> Json:
    """Begin a rebuild. A worker carries it out; once it is `ready` it shows the difference, and nothing has changed."""
    _check(asked.rules)
    rebuild_id = uuid7()
    params = asked.model_dump(mode="json", exclude={"user_id"}, exclude_none=True)
    params["as_of"] = (asked.as_of or datetime.now(UTC)).isoformat()
    values = {
        "tenant": who.tenant_id,
        "id": rebuild_id,
        "user": asked.user_id,
        "shadow": f"{tenants.RESERVED}{rebuild_id.hex}",
        "params": json.dumps(params, ensure_ascii=False),
        "author": json.dumps(author(who).as_json()),
    }
    payload = {"user_id": asked.user_id, "rebuild_id": str(rebuild_id)}
    with at.db.tenant(who.tenant_id) as tx:
        _require_room(tx, who)
        tx.execute(_INSERT, values)
        log.announce(
            tx,
            who.tenant_id,
            [Announcement(str(rebuild_id), "rebuild.requested", datetime.now(UTC), payload)],
        )
        row = _row(tx, rebuild_id)
    at.bell.ring()
    return _json(row)


@router.get("")
def get_rebuilds(at: At, who: Reader, user_id: str | None = None, after: UUID | None = None, limit: Limit = 50) -> Json:
    """Rebuilds, newest first, without their differences."""
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(_LIST, {"user": user_id, "after": after, "limit": limit}).all()
    items = [{**_json(row), "difference": None} for row in rows]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/{rebuild_id}")
def get_rebuild(at: At, who: Reader, rebuild_id: UUID) -> Json:
    """One rebuild: `running`, `ready` with what it would add, remove and change, `applied` or `dropped`."""
    with at.db.tenant(who.tenant_id) as tx:
        return _json(_row(tx, rebuild_id))


@router.post("/{rebuild_id}/apply")
def post_apply(at: At, who: Writer, rebuild_id: UUID) -> Json:
    """Take the rebuilt memories over, in one transaction. It is one change, undone by the rebuild's id."""
    with at.db.tenant(who.tenant_id) as tx:
        row = _row(tx, rebuild_id)
    if row.status != "ready":
        raise Conflict(f"The rebuild is {row.status}; only one that is ready can be applied.")
    gate = pipeline.usual(at.db, at.embedder, at.settings)
    counts = rebuild.take_over(gate, who.tenant_id, row.shadow_id, row.id, row.user_id, row.difference, author(who))
    at.bell.ring()
    return {"id": str(row.id), "status": "applied", "changes": counts}


@router.delete("/{rebuild_id}")
def delete_rebuild(at: At, who: Writer, rebuild_id: UUID) -> Json:
    """Let the rebuilt memories go; what stands is untouched. One that was applied stays so."""
    with at.db.tenant(who.tenant_id) as tx:
        row = _row(tx, rebuild_id)
        if tx.execute(_DROPPED, {"id": rebuild_id}).rowcount == 0:
            raise Conflict(f"It was applied. POST /v1/memories/decisions/{rebuild_id}/undo takes that back.")
    shadow.drop(at.db, row.shadow_id)
    return {"id": str(row.id), "status": "dropped"}


def _require_room(tx: Tx, who: Caller) -> None:
    """Refuse a rebuild while as many run as the tenant may have; one that hangs is ended by deleting it."""
    tx.execute(_LOCK, {"tenant": who.tenant_id})
    if tx.execute(_RUNNING).scalar_one() >= who.limits.rebuilds:
        raise LimitReached("rebuilds", who.limits.rebuilds, RETRY_SECONDS)


def _check(rules: list[Json] | None) -> None:
    for place, document in enumerate(rules or ()):
        try:
            parse(document, TARGETS)
        except Invalid as error:
            raise Invalid([Problem(f"/rules/{place}{p.pointer}", p.detail) for p in error.problems]) from error


def _row(tx: Tx, rebuild_id: UUID) -> Any:
    row = tx.execute(_GET, {"id": rebuild_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no rebuild {rebuild_id} in this tenant.")
    return row


def _json(row: Any) -> Json:
    names = "id user_id status params difference author created_at ended_at".split()
    return {name: getattr(row, name) for name in names}


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('rebuilds of ' || :tenant, 0))")

_RUNNING = text("SELECT count(*) FROM rebuilds WHERE status = 'running'")

_INSERT = text("""
    INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status, params, author)
    VALUES (:tenant, :id, :user, :shadow, 'running', cast(:params AS jsonb), cast(:author AS jsonb))
""")

_GET = text("SELECT * FROM rebuilds WHERE id = :id")

_LIST = text("""
    SELECT * FROM rebuilds
    WHERE (cast(:user AS text) IS NULL OR user_id = :user) AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")

_DROPPED = text("""
    UPDATE rebuilds SET status = 'dropped', difference = NULL, ended_at = clock_timestamp()
    WHERE id = :id AND status <> 'applied'
""")
