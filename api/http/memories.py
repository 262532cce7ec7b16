"""Reading memories; what people do to whole memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Response
from fastapi import Body as JsonBody
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from sqlalchemy import TextClause, text

from api import provenance
from api.ingress.dependencies import At, Door, Reader, Writer, author
from api.ingress.large_json import Route
from api.serializers import memory_json
from core.errors import Conflict, Invalid, Problem
from core.events.parsing import Content, Name
from core.extraction import stated
from core.memory import as_of as memory_as_of
from core.memory import memories, writer
from core.memory.as_of import Moment
from core.memory.changes import Edit, Owner, Pin, Restore
from core.search.filters import SERVED
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Category, Json, Kind, Status, Topic, Trust

router = APIRouter(prefix="/v1", tags=["memory"], route_class=Route)

Limit = Annotated[int, Query(ge=1, le=500)]
Order = Literal["newest", "oldest", "importance", "updated"]
AsOf = Annotated[AwareDatetime | None, Query(description="What was true then, superseded by now or not")]
KnownAt = Annotated[AwareDatetime | None, Query(description="What was recorded then, in its words of then")]
Reason = Annotated[str | None, Field(max_length=2_000, description="Kept in the history")]
Seen = Annotated[int | None, Field(ge=1, description="The version that was looked at; refused if it is another now")]


class Wanted(BaseModel):
    """Which memories to list."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name | None = None
    group_id: Name | None = None
    session_id: Annotated[Name | None, Field(description="Those that rest on something said in this session")] = None
    kind: Kind | None = None
    category: Category | None = None
    topic: Topic | None = None
    tag: Name | None = None
    trust: Annotated[Trust | None, Field(description="Default: all but rejected and quarantined")] = None
    subject: Name | None = None
    attribute: Name | None = None
    pinned: bool | None = None
    q: Annotated[
        Content | None, Field(min_length=1, max_length=200, description="Letters in a row of the content, in any case")
    ] = None
    status: Annotated[Status | None, Field(description="Default: active; with `as_of` superseded, too")] = None
    include_archived: bool = False
    as_of: AsOf = None
    known_at: KnownAt = None
    order: Order = "newest"
    after: Annotated[str | None, Field(max_length=100, description="The `next` of the page before")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class RestoreRequest(BaseModel):
    """Why something comes back."""

    model_config = ConfigDict(extra="forbid")

    reason: Reason = None
    version: Seen = None


class PinRequest(BaseModel):
    """Return whether a memory shall be kept from fading, and from the limit of its user."""

    model_config = ConfigDict(extra="forbid")

    pinned: bool = True
    reason: Reason = None
    version: Seen = None


@router.get("/memories")
def get_memories(at: At, who: Reader, wanted: Annotated[Wanted, Query()]) -> Json:
    """Memories, newest first. One that has expired is no longer active, even before a sweep has archived it."""
    if wanted.q is not None and wanted.user_id is None and wanted.group_id is None:
        raise Invalid([Problem("/q", "say whose memories to look through: `user_id`, `group_id` or both")])
    moment = Moment(wanted.as_of, wanted.known_at)
    lists = _LISTS if moment.known_at is None else _LISTS_THEN
    with at.db.tenant(who.tenant_id) as tx:
        rows = tx.execute(lists[wanted.order], _values(wanted, moment)).all()
        evidence = memory_as_of.evidence(tx, [row.id for row in rows], moment.known_at)
    items = [memory_json(row, evidence.get(row.id, []), moment.known_at) for row in rows]
    return {"items": items, "next": _cursor(rows[-1], wanted.order) if len(rows) == wanted.limit else None}


@router.get("/memories/{memory_id}")
def get_memory(
    at: At, who: Reader, memory_id: UUID, response: Response, as_of: AsOf = None, known_at: KnownAt = None
) -> Json:
    """One memory with its evidence, as it is or was; its ETag is what `If-Match` wants."""
    with at.db.tenant(who.tenant_id) as tx:
        row = memory_as_of.get(tx, memory_id, Moment(as_of, known_at))
        evidence = memory_as_of.evidence(tx, [memory_id], known_at).get(memory_id, [])
    response.headers["ETag"] = f'"{row.version}"'
    return memory_json(row, evidence, known_at)


@router.post("/memories/{memory_id}/restore")
def post_restore(
    at: At, who: Writer, memory_id: UUID, asked: Annotated[RestoreRequest | None, JsonBody()] = None
) -> Json:
    """Serve again what was archived; it begins to fade anew. Restoring what is active changes nothing."""
    asked = asked or RestoreRequest()
    with at.db.tenant(who.tenant_id) as tx:
        row = seen(memories.get(tx, memory_id), asked.version)
        if row.status != Status.ACTIVE:
            carry_out(tx, who, row, Restore(row.id, row.version, asked.reason or "Restored by hand."))
    return shown(at, who, memory_id)


@router.post("/memories/{memory_id}/pin")
def post_pin(at: At, who: Writer, memory_id: UUID, asked: Annotated[PinRequest | None, JsonBody()] = None) -> Json:
    """Keep a memory from fading, or let it fade again. Asking for what is so already changes nothing."""
    asked = asked or PinRequest()
    with at.db.tenant(who.tenant_id) as tx:
        row = seen(memories.get(tx, memory_id), asked.version)
        if row.pinned != asked.pinned:
            words = "Pinned by hand." if asked.pinned else "Unpinned by hand."
            carry_out(tx, who, row, Pin(row.id, row.version, asked.pinned, asked.reason or words))
    return shown(at, who, memory_id)


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
        return provenance.of(tx, memory_id)


def seen(row: Any, version: int | None) -> Any:
    """The row, if it stands at the version that the caller has looked at."""
    if version is not None and row.version != version:
        raise Conflict(f"The memory is at version {row.version} now, not {version}. Read it again.")
    return row


def carry_out(tx: Tx, who: Caller, row: Any, change: Edit | Pin | Restore) -> None:
    """Let the key's holder change one memory. Conflict: it has been changed meanwhile."""
    stated.count(writer.apply(tx, who.tenant_id, Owner(row.user_id, row.group_id), [change], author(who)))


def shown(at: Door, who: Caller, memory_id: UUID) -> Json:
    """A memory as it stands now that it was changed, which the rules are to hear of."""
    at.bell.ring()
    with at.db.tenant(who.tenant_id) as tx:
        return memory_json(memories.get(tx, memory_id), memories.evidence(tx, [memory_id]).get(memory_id, []))


def _values(wanted: Wanted, moment: Moment) -> dict[str, Any]:
    statuses = moment.statuses(archived=wanted.include_archived)
    if wanted.status is not None:
        statuses = [wanted.status, *([Status.ARCHIVED] if wanted.include_archived else [])]
    plain = "user_id group_id session_id kind category topic tag subject attribute pinned q as_of known_at limit"
    return {
        **{name: getattr(wanted, name) for name in plain.split()},
        **_after(wanted),
        "statuses": statuses,
        "trusts": [wanted.trust] if wanted.trust else list(SERVED),
        "expired": wanted.include_archived,
    }


def _cursor(row: Any, order: Order) -> str:
    """Where a page ends: the last memory and, unless ids alone give the order, what it was ordered by."""
    column = ORDERS[order]
    if column is None:
        return str(row.id)
    value = getattr(row, column)
    return (
        f"{row.id},{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}" if column == "updated_at" else f"{row.id},{value!r}"
    )


def _after(wanted: Wanted) -> dict[str, Any]:
    """Where the page before ended."""
    if wanted.after is None:
        return {"after": None, "after_value": None}
    name, _, value = wanted.after.partition(",")
    try:
        return {"after": UUID(name), "after_value": _read(value, wanted.order)}
    except ValueError:
        raise Invalid([Problem("/after", "send the `next` of the page before, with the same `order`")]) from None


def _read(value: str, order: Order) -> float | datetime | None:
    match ORDERS[order]:
        case "importance":
            return float(value)
        case "updated_at":
            return datetime.fromisoformat(value)
        case _:
            return None


ORDERS: Final[Mapping[Order, str | None]] = {
    "newest": None,
    "oldest": None,
    "importance": "importance",
    "updated": "updated_at",
}
"""The column that gives each order, from its highest value on; None: the ids, which grow with time, do."""

_FIT = f"""
    (cast(:user_id AS text) IS NULL OR {{table}}.user_id = :user_id)
    AND (cast(:group_id AS text) IS NULL OR {{table}}.group_id = :group_id)
    AND (cast(:session_id AS text) IS NULL
         OR {{table}}.id IN (SELECT e.memory_id FROM evidence e WHERE e.session_id = :session_id))
    AND (cast(:kind AS text) IS NULL OR m.kind = :kind)
    AND (cast(:category AS text) IS NULL OR m.category = :category)
    AND (cast(:topic AS text) IS NULL OR m.topic = :topic)
    AND (cast(:tag AS text) IS NULL OR :tag = ANY(m.tags))
    AND (cast(:subject AS text) IS NULL OR m.subject = :subject)
    AND (cast(:attribute AS text) IS NULL OR m.attribute = :attribute)
    AND (cast(:pinned AS bool) IS NULL OR m.pinned = :pinned)
    AND (cast(:q AS text) IS NULL OR strpos(lower(m.content), lower(:q)) > 0)
    AND m.trust = ANY(:trusts) AND m.status = ANY(:statuses)
    AND (:expired OR m.status <> 'active' OR {memory_as_of.UNEXPIRED}) AND {memory_as_of.TRUE}
"""
"""What fits a list. A wish that nobody has is no condition to the planner, so that the others find their index."""


def _list(order: Order, *, then: bool) -> TextClause:
    """A page in an order, of the memories as they are or as they were recorded at a time."""
    source, table = (f"memories s CROSS JOIN {memory_as_of.KNOWN} m", "s") if then else ("memories m", "m")
    column, way, sign = ORDERS[order], *(("ASC", ">") if order == "oldest" else ("DESC", "<"))
    begins, place = f"{table}.id {sign} :after", f"{table}.id {way}"
    if column is not None:
        kind = "float8" if column == "importance" else "timestamptz"
        begins = f"(m.{column}, {table}.id) < (cast(:after_value AS {kind}), :after)"
        place = f"m.{column} DESC, {table}.id DESC"
    apart = f"AND ({table}.trust <> 'quarantined' OR 'quarantined' = ANY(:trusts))"  # What is now, was hostile then.
    return text(f"""
        SELECT m.* FROM {source} WHERE {_FIT.format(table=table)} {apart} AND (cast(:after AS uuid) IS NULL OR {begins})
        ORDER BY {place} LIMIT :limit
    """)


_LISTS: Final = {order: _list(order, then=False) for order in ORDERS}

_LISTS_THEN: Final = {order: _list(order, then=True) for order in ORDERS}
