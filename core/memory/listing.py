"""Pages of memories that match a filter, in one of four orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import TextClause, text

from core.errors import Invalid, Problem
from core.memory import as_of
from core.memory.as_of import NOW, Moment
from core.storage.db import Tx
from core.types import Status

Order = Literal["newest", "oldest", "importance", "updated"]


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Filter of memories; None: any. `q`: consecutive characters of the content, in any case."""

    trusts: Sequence[str]
    user_id: str | None = None
    group_id: str | None = None
    session_id: str | None = None
    kind: str | None = None
    category: str | None = None
    topic: str | None = None
    tag: str | None = None
    subject: str | None = None
    attribute: str | None = None
    pinned: bool | None = None
    q: str | None = None
    status: Status | None = None
    include_archived: bool = False
    moment: Moment = NOW


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Rows of memories, and the cursor of the next page; None: this is the last one."""

    rows: Sequence[Any]
    following: str | None


def page(
    tx: Tx, wanted: MemoryFilter, order: Order = "newest", *, after: str | None = None, limit: int = 50
) -> MemoryPage:
    """Return a page of memories. Invalid: `after` is not the cursor of a page in this order."""
    statements = _PAGES if wanted.moment.known_at is None else _PAGES_RECORDED
    values = _values(wanted) | _position(after, order) | {"limit": limit}
    rows = tx.execute(statements[order], values).all()
    return MemoryPage(rows, _cursor(rows[-1], order) if len(rows) == limit else None)


def _values(wanted: MemoryFilter) -> dict[str, Any]:
    statuses = wanted.moment.statuses(archived=wanted.include_archived)
    if wanted.status is not None:
        statuses = [wanted.status, *([Status.ARCHIVED] if wanted.include_archived else [])]
    plain = "user_id group_id session_id kind category topic tag subject attribute pinned q"
    return {
        **{name: getattr(wanted, name) for name in plain.split()},
        "as_of": wanted.moment.as_of,
        "known_at": wanted.moment.known_at,
        "statuses": statuses,
        "trusts": list(wanted.trusts),
        "expired": wanted.include_archived,
    }


def _cursor(row: Any, order: Order) -> str:
    """Return the cursor after a row: its id and, unless ids alone give the order, the value it was ordered by."""
    column = ORDERS[order]
    if column is None:
        return str(row.id)
    value = getattr(row, column)
    return (
        f"{row.id},{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}" if column == "updated_at" else f"{row.id},{value!r}"
    )


def _position(cursor: str | None, order: Order) -> dict[str, Any]:
    """Return the values that a page begins after, from the cursor of the page before."""
    if cursor is None:
        return {"after": None, "after_value": None}
    name, _, value = cursor.partition(",")
    try:
        return {"after": UUID(name), "after_value": _value(value, order)}
    except ValueError:
        raise Invalid([Problem("/after", "send the `next` of the previous page with the same `order`")]) from None


def _value(written: str, order: Order) -> float | datetime | None:
    match ORDERS[order]:
        case "importance":
            return float(written)
        case "updated_at":
            return datetime.fromisoformat(written)
        case _:
            return None


ORDERS: Final[Mapping[Order, str | None]] = {
    "newest": None,
    "oldest": None,
    "importance": "importance",
    "updated": "updated_at",
}
"""The column that each order sorts by, highest value first; None: the id, which grows with time."""

_MATCHES = f"""
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
    AND (:expired OR m.status <> 'active' OR {as_of.UNEXPIRED}) AND {as_of.TRUE}
"""
"""The conditions of a list. One that is not set is constant for the planner, so that the others find their index."""


def _page(order: Order, *, recorded: bool) -> TextClause:
    """Return the statement for a page in an order: memories as they are, or `recorded` as of a time."""
    source, table = (f"memories s CROSS JOIN {as_of.KNOWN} m", "s") if recorded else ("memories m", "m")
    column, way, sign = ORDERS[order], *(("ASC", ">") if order == "oldest" else ("DESC", "<"))
    begins, place = f"{table}.id {sign} :after", f"{table}.id {way}"
    if column is not None:
        kind = "float8" if column == "importance" else "timestamptz"
        begins = f"(m.{column}, {table}.id) < (cast(:after_value AS {kind}), :after)"
        place = f"m.{column} DESC, {table}.id DESC"
    # A memory quarantined now is also left out of earlier states: it was hostile then.
    served = f"({table}.trust <> 'quarantined' OR 'quarantined' = ANY(:trusts))"
    return text(f"""
        SELECT m.* FROM {source}
        WHERE {_MATCHES.format(table=table)} AND {served} AND (cast(:after AS uuid) IS NULL OR {begins})
        ORDER BY {place} LIMIT :limit
    """)


_PAGES: Final = {order: _page(order, recorded=False) for order in ORDERS}

_PAGES_RECORDED: Final = {order: _page(order, recorded=True) for order in ORDERS}
