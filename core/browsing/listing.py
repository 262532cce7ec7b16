"""Pages of memories that match a filter, in one of several orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import TextClause, text

from core.errors import Invalid, Problem
from core.memory import as_of, field_filters, retention
from core.memory.as_of import NOW, Moment
from core.storage import bounded_rows
from core.storage.db import Tx
from core.types import Status

SEARCHED: Final = 10_000
"""Memories that one page looks through, or sorts."""

SEARCHED_AT_ONCE: Final = 1_000_000
"""Memories among which a job over all that match a filter looks for them, once, when it is made."""

SEARCHED_RECORDED: Final = 5_000
"""Likewise as of a time: the version of each is looked up."""

Order = Literal["newest", "oldest", "said", "importance", "updated", "strength", "uses", "reward", "value"]


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Filter of memories; None: any. `q`: consecutive characters of the content, in any case.

    `message_id`: a message of `session_id`. `episode_type`, `success`: of episodes alone. `value_type`, `value_min`,
    `value_max`, `value_is`, `value_has`: of typed values; the last two are JSON. `since`, `until`: when it happened or
    was said. `structured`, `metadata`: fields that it has (`field_filters.demands`).
    """

    trusts: Sequence[str]
    user_id: str | None = None
    group_id: str | None = None
    session_id: str | None = None
    message_id: str | None = None
    kind: str | None = None
    category: str | None = None
    topic: str | None = None
    tag: str | None = None
    subject: str | None = None
    attribute: str | None = None
    pinned: bool | None = None
    min_importance: float | None = None
    min_strength: float | None = None
    episode_type: str | None = None
    success: bool | None = None
    value_type: str | None = None
    value_min: float | None = None
    value_max: float | None = None
    value_is: str | None = None
    value_has: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    structured: str | None = None
    metadata: str | None = None
    q: str | None = None
    status: Status | None = None
    include_archived: bool = False
    moment: Moment = NOW


@dataclass(frozen=True, slots=True)
class ListedMemories:
    """Rows of memories, and the cursor of the next page; None: this is the last one.

    `now`: when their strength was computed. `sorted_newest`: only so many of the newest were sorted; None: all.
    """

    rows: Sequence[Any]
    following: str | None
    now: datetime
    sorted_newest: int | None = None


@dataclass(frozen=True, slots=True)
class _Start:
    """Beginning of a page: behind the memory `after` with this value of the order; `now`: when strengths are taken."""

    now: datetime
    after: UUID | None = None
    value: float | datetime | None = None


def page(
    tx: Tx, memory_filter: MemoryFilter, order: Order = "newest", *, after: str | None = None, limit: int = 50
) -> ListedMemories:
    """Return a page of memories. Invalid: `after` is not the cursor of a page in this order.

    What no index narrows down is looked for, or sorted, among so many memories at a time (`SEARCHED`), the newest of
    the owner or the tenant. So a page by time may be short and yet not be the last.
    """
    recorded = memory_filter.moment.known_at is not None
    start = _start(after, order, memory_filter.moment.known_at or datetime.now(UTC))
    values = _values(memory_filter) | {
        "now": start.now,
        "after": start.after,
        "after_value": start.value,
        "limit": limit,
    }
    values |= {
        "searched": SEARCHED_RECORDED if recorded else SEARCHED,
        "from_id": None if ORDERS[order] else start.after,
    }
    rows, is_cut = bounded_rows.read(tx, (_PAGES_RECORDED if recorded else _PAGES)[order], values)
    is_full = is_cut or len(rows) == limit
    if is_full and ORDERS[order] is None:
        return ListedMemories(rows, str(rows[-1].id), start.now)
    seen = tx.execute(_SEARCHED_TO[order], values).one()
    cut = seen.rows == values["searched"]
    if ORDERS[order] is None:
        return ListedMemories(rows, str(seen.last) if cut else None, start.now)
    following = _cursor(rows[-1], order, start.now) if is_full else None
    return ListedMemories(rows, following, start.now, seen.rows if cut else None)


def places(tx: Tx, memory_filter: MemoryFilter, limit: int) -> list[tuple[UUID, int]]:
    """Return the ids and versions of the newest memories that match, looked for among `SEARCHED_AT_ONCE`."""
    bounds = {"now": datetime.now(UTC), "limit": limit, "searched": SEARCHED_AT_ONCE, "from_id": None}
    return [(row.id, row.version) for row in tx.execute(_PLACES, _values(memory_filter) | bounds)]


def _values(memory_filter: MemoryFilter) -> dict[str, Any]:
    statuses = memory_filter.moment.statuses(archived=memory_filter.include_archived)
    if memory_filter.status is not None:
        statuses = [memory_filter.status, *([Status.ARCHIVED] if memory_filter.include_archived else [])]
    return {
        **{name: getattr(memory_filter, name) for name in MemoryFilter.__slots__},
        "as_of": memory_filter.moment.as_of,
        "known_at": memory_filter.moment.known_at,
        "statuses": statuses,
        "trusts": list(memory_filter.trusts),
        "expired": memory_filter.include_archived,
        "questioned": statuses == [Status.ACTIVE] and QUESTIONED.issuperset(memory_filter.trusts),
    }


def _cursor(row: Any, order: Order, now: datetime) -> str:
    """Return the cursor after a row: its id, the value it was ordered by, and for a strength the time it was taken."""
    value = row.ordered_by
    match ORDERS[order]:
        case None:
            return str(row.id)
        case Sorting(kind="timestamptz"):
            return f"{row.id},{_written(value)}"
        case Sorting(moving=True):
            return f"{row.id},{value!r},{_written(now)}"
        case _:
            return f"{row.id},{value!r}"


def _start(cursor: str | None, order: Order, now: datetime) -> _Start:
    """Return where a page begins, by the cursor of the page before."""
    if cursor is None:
        return _Start(now)
    name, value, taken = (*cursor.split(","), "", "")[:3]
    try:
        match ORDERS[order]:
            case None:
                return _Start(now, UUID(name))
            case Sorting(kind="timestamptz"):
                return _Start(now, UUID(name), _moment(value))
            case Sorting(moving=True):
                return _Start(_moment(taken), UUID(name), float(value))
            case _:
                return _Start(now, UUID(name), float(value))
    except ValueError:
        raise Invalid([Problem("/after", "send the `next` of the previous page with the same `order`")]) from None


def _written(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"


def _moment(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    if moment.tzinfo is None:
        raise ValueError(written)
    return moment


@dataclass(frozen=True, slots=True)
class Sorting:
    """A value that memories are sorted by, highest first; `moving`: it depends on the time."""

    value: str
    kind: Literal["float8", "timestamptz"] = "float8"
    moving: bool = False


_REWARD: Final = """
    CASE WHEN jsonb_typeof(m.structured -> 'reward') = 'number'
              AND abs(cast(m.structured ->> 'reward' AS numeric)) < 1e100
         THEN cast(m.structured ->> 'reward' AS float8) ELSE '-infinity' END
"""
"""Reward of the session of an episode; memories without a reward come last."""

_VALUE: Final = "m.structured -> 'typed' -> 'value'"

_NUMBER: Final = f"""
    CASE WHEN jsonb_typeof({_VALUE}) = 'number' AND abs(cast({_VALUE} #>> ARRAY[]::text[] AS numeric)) < 1e100
         THEN cast({_VALUE} #>> ARRAY[]::text[] AS float8) END
"""
"""A typed value that is a number or a rating; null: it is none."""

_STRENGTH: Final = retention.strength_sql("m", ":now")

ORDERS: Final[Mapping[Order, Sorting | None]] = {
    "newest": None,
    "oldest": None,
    "said": Sorting("m.occurred_at", "timestamptz"),
    "importance": Sorting("m.importance"),
    "updated": Sorting("m.updated_at", "timestamptz"),
    "strength": Sorting(_STRENGTH, moving=True),
    "uses": Sorting("cast(m.uses AS float8)"),
    "reward": Sorting(_REWARD),
    "value": Sorting(f"coalesce({_NUMBER}, '-infinity')"),
}
"""The value that each order sorts by; None: the id, which grows with time."""

_MATCHES = f"""
    (cast(:kind AS text) IS NULL OR m.kind = :kind)
    AND (cast(:category AS text) IS NULL OR m.category = :category)
    AND (cast(:topic AS text) IS NULL OR m.topic = :topic)
    AND (cast(:tag AS text) IS NULL OR :tag = ANY(m.tags))
    AND (cast(:subject AS text) IS NULL OR m.subject = :subject)
    AND (cast(:attribute AS text) IS NULL OR m.attribute = :attribute)
    AND (cast(:pinned AS bool) IS NULL OR m.pinned = :pinned)
    AND (cast(:min_importance AS float8) IS NULL OR m.importance >= :min_importance)
    AND (cast(:min_strength AS float8) IS NULL OR {_STRENGTH} >= :min_strength)
    AND (cast(:episode_type AS text) IS NULL
         OR m.category = 'episode' AND m.structured ->> 'type' = :episode_type)
    AND (cast(:success AS bool) IS NULL
         OR m.category = 'episode' AND m.structured -> 'success' = to_jsonb(cast(:success AS bool)))
    AND (cast(:value_type AS text) IS NULL OR m.structured -> 'typed' ->> 'type' = :value_type)
    AND (cast(:value_min AS float8) IS NULL OR {_NUMBER} >= :value_min)
    AND (cast(:value_max AS float8) IS NULL OR {_NUMBER} <= :value_max)
    AND (cast(:value_is AS text) IS NULL OR {_VALUE} = cast(:value_is AS jsonb))
    AND (cast(:value_has AS text) IS NULL
         OR jsonb_typeof({_VALUE}) = 'array' AND {_VALUE} @> cast(:value_has AS jsonb))
    AND (cast(:since AS timestamptz) IS NULL OR m.occurred_at >= :since)
    AND (cast(:until AS timestamptz) IS NULL OR m.occurred_at < :until)
    AND (cast(:structured AS text) IS NULL OR {field_filters.STRUCTURED})
    AND (cast(:metadata AS text) IS NULL OR {field_filters.METADATA})
    AND (cast(:q AS text) IS NULL OR strpos(lower(m.content), lower(:q)) > 0)
    AND m.trust = ANY(:trusts) AND m.status = ANY(:statuses)
    AND (:expired OR m.status <> 'active' OR {as_of.UNEXPIRED}) AND {as_of.TRUE}
"""
"""The conditions of a list. One that is not set is constant for the planner, so that the others find their index."""


QUESTIONED: Final = frozenset({"disputed", "quarantined"})
"""Trust of memories that wait for a person, which have an index of their own."""

_WITHIN: Final = """
    (cast(:user_id AS text) IS NULL OR user_id = :user_id)
    AND (cast(:group_id AS text) IS NULL OR group_id = :group_id)
    AND (cast(:session_id AS text) IS NULL
         OR id = ANY(ARRAY(SELECT e.memory_id FROM evidence e WHERE e.session_id = :session_id
                           AND (cast(:message_id AS text) IS NULL OR e.message_id = :message_id))))
    AND (cast(:user_id AS text) IS NULL OR cast(:category AS text) IS NULL OR category = :category)
    AND (NOT :questioned OR status = 'active' AND trust IN ('disputed', 'quarantined') AND trust = ANY(:trusts))
    AND (cast(:from_id AS uuid) IS NULL OR id {sign} :from_id)
    ORDER BY id {way} LIMIT :searched
"""
"""Conditions by which an index narrows a list, and no more rows than a page looks through. An array is looked up by the
index of ids; beside an OR, the rows of a subquery would only be compared with those of every memory of the tenant.
"""


def _page(order: Order, *, recorded: bool) -> TextClause:
    """Return the statement for a page in an order: memories as they are, or `recorded` as of a time."""
    sorting, way, sign = ORDERS[order], *(("ASC", ">") if order == "oldest" else ("DESC", "<"))
    looked_through = f"(SELECT * FROM memories WHERE {_WITHIN.format(sign=sign, way=way)})"
    source, table = f"{looked_through} m", "m"
    if recorded:
        source, table = f"{looked_through} w JOIN memories s ON s.id = w.id CROSS JOIN {as_of.KNOWN} m", "s"
    value, begins, order_by = "NULL", "true", f"{table}.id {way}"
    if sorting is not None:
        value = sorting.value
        begins = (
            f"(cast(:after AS uuid) IS NULL OR ({value}, {table}.id) < (cast(:after_value AS {sorting.kind}), :after))"
        )
        order_by = f"{value} DESC, {table}.id DESC"
    # A memory quarantined now is also left out of earlier states: it was hostile then.
    served = f"({table}.trust <> 'quarantined' OR 'quarantined' = ANY(:trusts))"
    return text(f"""
        SELECT m.*, {value} AS ordered_by FROM {source}
        WHERE {_MATCHES} AND {served} AND {begins}
        ORDER BY {order_by} LIMIT :limit
    """)


def _searched_to(order: Order) -> TextClause:
    """Return the statement for how many memories a page looked through, and the last of them."""
    way, sign, last = ("ASC", ">", "DESC") if order == "oldest" else ("DESC", "<", "ASC")
    within = _WITHIN.format(sign=sign, way=way)
    return text(f"""
        SELECT count(*) AS rows, (array_agg(id ORDER BY id {last}))[1] AS last
        FROM (SELECT id FROM memories WHERE {within}) AS m
    """)


_PAGES: Final = {order: _page(order, recorded=False) for order in ORDERS}

_PAGES_RECORDED: Final = {order: _page(order, recorded=True) for order in ORDERS}

_SEARCHED_TO: Final = {order: _searched_to(order) for order in ORDERS}

_PLACES: Final = text(f"""
    SELECT m.id, m.version FROM (SELECT * FROM memories WHERE {_WITHIN.format(sign="<", way="DESC")}) AS m
    WHERE {_MATCHES} AND (m.trust <> 'quarantined' OR 'quarantined' = ANY(:trusts))
    ORDER BY m.id DESC LIMIT :limit
""")
