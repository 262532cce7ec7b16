"""Counts of alarms: rows of one tenant in the period before each of some due times, bounded and by an index.

A count looks through MAX_COUNTED rows at most. Where there are more, a plain count ends there; with a filter, a sum or
a key, or where it is compared with another count, it would be wrong, and the look is `partial`.

A due time may be past, so that a backtest counts what the clock has counted: events and memories by the time of their
acceptance, whatever became of them. Of dispatches only the present status is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import TextClause, text

from core.config import Settings
from core.events.log import OPEN_DISPATCH
from core.storage.db import Tx
from rules.document.counting import MAX_COUNTED, AnyCount, BudgetShare, DispatchCount, EventCount, MemoryCount, is_plain

MAX_KEYS: Final = 10_000
"""Users, sessions or sources that one count tells apart; of more the look is partial."""

Number = int | float | None
"""A counted number; None: unknown."""

TENANT: Final = ""
"""Key of counts for the whole tenant."""


class DailyBudget(NamedTuple):
    """Tokens and cost of models that a tenant may use in a day; None: no limit."""

    tokens: int | None = None
    cost: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits of the settings."""
        return cls(settings.llm_tokens_per_day, settings.llm_cost_per_day)


NO_BUDGET: Final = DailyBudget()


@dataclass(slots=True)
class Look:
    """What was counted for a due time: for each key all numbers by name. `partial`: there were too many rows."""

    by_key: dict[str, dict[str, Number]] = field(default_factory=dict)
    partial: bool = False


class Subject(NamedTuple):
    """What is counted for: a tenant, or for each user, session or source of it; and the due times.

    `compared`: names of the counts that a condition compares with another field. `is_live`: the due time has just come.
    """

    tenant_id: str
    for_each: str
    dues: Sequence[datetime]
    compared: Collection[str] = ()
    is_live: bool = False


def look(tx: Tx, subject: Subject, counts: Mapping[str, AnyCount], budget: DailyBudget) -> dict[datetime, Look]:
    """Count for each due time. A user, session or source of which nothing was counted is left out.

    Works for both roles.
    """
    looks = {due: Look() for due in subject.dues}
    exact = {*subject.compared, *(count.per for count in counts.values())}
    for name, count in counts.items():
        for row in tx.execute(*statement(subject, count, budget)):
            look_ = looks[row.due]
            look_.partial |= _is_cut(row, count, subject, is_exact=name in exact)
            if row.key is not None:
                look_.by_key.setdefault(row.key, {})[name] = _number(
                    MAX_COUNTED if row.looked > MAX_COUNTED else row.total
                )
    for look_ in looks.values():
        if subject.for_each == "tenant":
            look_.by_key.setdefault(TENANT, {})
        look_.by_key = {key: complete(counts, numbers) for key, numbers in look_.by_key.items()}
    return looks


def complete(counts: Mapping[str, AnyCount], numbers: Mapping[str, Number]) -> dict[str, Number]:
    """Return the numbers of a key with 0 where nothing was counted, each divided as it says."""
    plain = {name: numbers.get(name, None if isinstance(count, BudgetShare) else 0) for name, count in counts.items()}
    return {
        name: plain[name] if count.per is None else _ratio(plain[name], plain[count.per])
        for name, count in counts.items()
    }


def _ratio(number: Number, divisor: Number) -> Number:
    return None if number is None or not divisor else number / divisor


def _number(total: Any) -> Number:
    if total is None:
        return None
    return int(total) if total == int(total) else float(total)


def _is_cut(row: Any, count: AnyCount, subject: Subject, *, is_exact: bool) -> bool:
    """Return whether rows that were not looked through could change the number."""
    if row.looked <= MAX_COUNTED and row.keys <= MAX_KEYS:
        return False
    is_past = isinstance(count, DispatchCount) and not subject.is_live
    return subject.for_each != "tenant" or row.keys > MAX_KEYS or is_exact or is_past or not is_plain(count)


Statement = tuple[TextClause, Mapping[str, Any]]


def statement(subject: Subject, count: AnyCount, budget: DailyBudget) -> Statement:
    """Return the statement of one count with its values: rows of due, key, total, and how many rows and keys it saw."""
    values = {"tenant": subject.tenant_id, "dues": list(subject.dues), "most": MAX_COUNTED, "keys": MAX_KEYS}
    counting, more = _MAKERS[type(count)](count, subject.for_each, budget)
    return counting, {**values, **more}


def _events(count: EventCount, for_each: str, _: DailyBudget) -> Statement:
    values = {name: getattr(count, name) for name in ("source", "user_id", "session_id")}
    number = None if count.sum is None else count.sum.removeprefix("payload.")
    return _EVENTS[for_each], values | {"types": count.types, "within": count.within_seconds, "number": number}


def _memories(count: MemoryCount, for_each: str, _: DailyBudget) -> Statement:
    values = {"source": count.source, "user_id": count.user_id, "within": count.within_seconds}
    by_source = for_each == "source" or count.source is not None
    return (_MEMORIES_BY_SOURCE if by_source else _MEMORIES)[for_each], values


def _dispatches(count: DispatchCount, _for_each: str, _: DailyBudget) -> Statement:
    return _DISPATCHES[count.status], {"within": count.within_seconds, "target": count.target, "rule": count.rule}


def _budget(_count: BudgetShare, _for_each: str, budget: DailyBudget) -> Statement:
    return _SPENT, {"tokens": budget.tokens, "cost": budget.cost}


_MAKERS: Final[Mapping[type[Any], Callable[[Any, str, DailyBudget], Statement]]] = {
    EventCount: _events,
    MemoryCount: _memories,
    DispatchCount: _dispatches,
    BudgetShare: _budget,
}

_LOOK: Final = """
    SELECT d.due, c.*
    FROM unnest(cast(:dues AS timestamptz[])) AS d (due)
    CROSS JOIN LATERAL (
        WITH r AS MATERIALIZED ({rows})
        SELECT g.key, g.total, n.looked, coalesce(g.keys, 0) AS keys
        FROM (SELECT count(*) AS looked FROM r) AS n
        LEFT JOIN (
            SELECT key, total, count(*) OVER () AS keys
            FROM (SELECT cast({key} AS text) AS key, {total} AS total FROM {of} GROUP BY 1) AS t
            WHERE key IS NOT NULL AND total <> 0 LIMIT :keys + 1
        ) AS g ON true
    ) AS c
"""
"""The numbers by key for each due time. LATERAL parts use an index, whatever the planner knows about the tables."""

_KEYS: Final = {"tenant": "''", "user": "user_id", "session": "session_id", "source": "source"}

_ACCEPTED: Final = """
    tenant_id = :tenant AND event_type = {types}
    AND received_at > d.due - make_interval(secs => :within) AND received_at <= d.due
    LIMIT :most + 1
"""

_EVENT_ROWS: Final = f"""
    SELECT user_id, session_id, source,
           CASE WHEN cast(:number AS text) IS NULL THEN 1
                WHEN jsonb_typeof(payload -> :number) = 'number'
                THEN least(greatest(cast(payload ->> :number AS numeric), -1e15), 1e15) ELSE 0 END AS number
    FROM events WHERE {_ACCEPTED.format(types="ANY(cast(:types AS text[]))")}
"""

_EVENTS: Final = {
    for_each: text(
        _LOOK.format(
            rows=_EVENT_ROWS,
            key=key,
            total="""coalesce(sum(number) FILTER (
                WHERE (cast(:source AS text) IS NULL OR source = :source)
                  AND (cast(:user_id AS text) IS NULL OR user_id = :user_id)
                  AND (cast(:session_id AS text) IS NULL OR session_id = :session_id)), 0)""",
            of="r",
        )
    )
    for for_each, key in _KEYS.items()
}

_CREATED: Final = f"""
    SELECT user_id, session_id, cast(substring(subject FROM '^memory:([0-9a-f-]{{36}})$') AS uuid) AS memory
    FROM events WHERE {_ACCEPTED.format(types="'memory.created'")}
"""

_MEMORIES: Final = {
    for_each: text(
        _LOOK.format(
            rows=_CREATED,
            key=key,
            total="count(*) FILTER (WHERE cast(:user_id AS text) IS NULL OR user_id = :user_id)",
            of="r",
        )
    )
    for for_each, key in _KEYS.items()
    if for_each != "source"
}

_CITED: Final = """
    r JOIN LATERAL (
        SELECT DISTINCT e.source FROM evidence v JOIN events e ON e.tenant_id = v.tenant_id AND e.id = v.event_id
        WHERE v.tenant_id = :tenant AND v.memory_id = r.memory) AS cited ON true
"""

_MEMORIES_BY_SOURCE: Final = {
    for_each: text(
        _LOOK.format(
            rows=_CREATED,
            key=key,
            total="""count(DISTINCT memory) FILTER (
                WHERE (cast(:user_id AS text) IS NULL OR user_id = :user_id)
                  AND (cast(:source AS text) IS NULL OR source = :source))""",
            of=_CITED,
        )
    )
    for for_each, key in _KEYS.items()
}
"""A memory counts once for each source that it cites."""

_STATUS: Final = {"dead": "status = 'dead'", "held": "status = 'held'", "open": OPEN_DISPATCH}

_DISPATCHES: Final = {
    status: text(
        _LOOK.format(
            rows=f"""
                SELECT target, rule,
                       CASE status WHEN 'dead' THEN coalesce(ended_at, created_at) ELSE created_at END AS at
                FROM dispatches WHERE tenant_id = :tenant AND {condition} ORDER BY id DESC LIMIT :most + 1
            """,
            key="''",
            total="""count(*) FILTER (
                WHERE at <= due AND (cast(:within AS float8) IS NULL OR at > due - make_interval(secs => :within))
                  AND (cast(:target AS text) IS NULL OR target = :target)
                  AND (cast(:rule AS text) IS NULL OR rule = :rule))""",
            of="r CROSS JOIN (SELECT d.due) AS now",
        )
    )
    for status, condition in _STATUS.items()
}

_SPENT: Final = text("""
    SELECT d.due, '' AS key, s.looked, 1 AS keys,
           greatest(s.tokens / cast(:tokens AS float8), s.cost / cast(:cost AS float8)) AS total
    FROM unnest(cast(:dues AS timestamptz[])) AS d (due)
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(cast(input_tokens AS bigint) + output_tokens), 0) AS tokens, coalesce(sum(cost), 0) AS cost,
               count(*) AS looked
        FROM (
            SELECT input_tokens, output_tokens, cost FROM model_calls
            WHERE tenant_id = :tenant AND at >= date_trunc('day', d.due, 'UTC') AND at <= d.due
            LIMIT :most + 1
        ) AS calls
    ) AS s
""")
"""`greatest` ignores the null of a limit that is not set."""
