"""Statistics of a rule: matches, firings, what held it back, results and cost.

To compare two policies, give both a `group` and the first of them a `sample`:

    {"name": "extract_a", "group": "extraction", "priority": 1, "flow": {"sample": {"ratio": 0.5,
     "key": ["payload.user_id"]}}, …}
    {"name": "extract_b", "group": "extraction", …}

Only the first matching rule of a group fires, so half of the users, always the same ones, get the first policy and
the others the second. The statistics of each then include those of the other under `beside`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from sqlalchemy import TextClause, text

from core.events import expiries
from core.events.expiries import Kind
from core.storage.db import Tx
from core.types import Json
from rules.registry import store

SKEW: Final = timedelta(minutes=1)
"""Between the id of a dispatch and the time of its row, at most."""

COUNTED: Final[tuple[Kind, ...]] = ("decisions", "dispatches", "events")
"""Kinds of rows that the figures are counted from."""


def of(
    tx: Tx, name: str, since: datetime | None = None, until: datetime | None = None, most: int | None = None
) -> Json:
    """Return the figures of a rule between two moments (`until` excluded), and of the other rules in its group.

    `most`: the period begins later if one of the rules has more decisions or dispatches in it than that.
    Counted by the time of decisions and of the creation of dispatches. `incomplete_to`: up to when decisions and
    dispatches of the period have left by the tenant's retention. NotFound: the rule never existed.
    """
    rules = {stored.name: stored for stored in store.in_force(tx)}
    if name not in rules and not store.versions(tx, name, limit=1):
        store.get(tx, name)
    group = rules[name].document.get("group") if name in rules else None
    others = [
        rule.name for rule in rules.values() if group and rule.document.get("group") == group and rule.name != name
    ]
    names = [name, *others]
    if most is not None:
        since = _later(tx, names, {"since": since, "until": until, "most": most})
    figures = _figures(tx, names, {"since": since, "until": until, "first_id": since and first_id(since)})
    return {
        **figures[name],
        "from": since,
        "to": until,
        "incomplete_to": left if (left := expiries.newest(tx, *COUNTED)) and (since is None or since <= left) else None,
        "group": group,
        "beside": [figures[other] for other in others],
    }


def first_id(moment: datetime) -> UUID:
    """Return what is less than the id of a dispatch that was made at a moment or later: ids grow with time."""
    return UUID(int=max(0, int((moment - SKEW).timestamp() * 1_000)) << 80)


def _later(tx: Tx, names: Sequence[str], values: Mapping[str, Any]) -> datetime | None:
    """Return when a period begins that has no more than `most` decisions or dispatches of each rule, but for ties."""
    begins: datetime | None = tx.execute(_LATER, {**values, "names": list(names)}).scalar_one()
    return begins or values["since"]


def _figures(tx: Tx, names: Sequence[str], between: Mapping[str, datetime | UUID | None]) -> dict[str, Json]:
    def run(query: TextClause) -> Iterable[Any]:
        return tx.execute(query, {**between, "names": list(names)})

    figures = {name: _nothing(name) for name in names}
    for row in run(_DECISIONS):
        _count_decisions(figures[row.rule], row)
    for row in run(_DISPATCHES):
        figures[row.rule]["dispatches"].append({"target": row.target, "status": row.status, "count": row.count})
    for query in (_RUNS, _CALLS, _CHANGES):
        for row in run(query):
            figures[row.rule] |= {field: value for field, value in row._mapping.items() if field != "rule"}
    return figures


def _nothing(name: str) -> Json:
    return {
        "rule": name,
        "matched": 0,
        "fired": 0,
        "gathered": 0,
        "held": {},
        "dispatches": [],
        "run_seconds_mean": None,
        "run_seconds_p95": None,
        "users": 0,
        "last_acted_at": None,
        "model_calls": 0,
        "tokens": 0,
        "cost": 0.0,
        "memories_added": 0,
        "memories_changed": 0,
    }


def _count_decisions(figures: Json, row: Any) -> None:
    figures["matched"] += row.count
    if row.verdict == "held":
        figures["held"][row.reason or "unknown"] = row.count
    else:
        figures[row.verdict] = figures.get(row.verdict, 0) + row.count


_BETWEEN: Final = """
    ({column} >= :since OR cast(:since AS timestamptz) IS NULL)
    AND ({column} < :until OR cast(:until AS timestamptz) IS NULL)
"""

_OF_RULE: Final = f"""
    d.rule = ANY (cast(:names AS text[])) AND (cast(:first_id AS uuid) IS NULL OR d.id >= :first_id)
    AND {_BETWEEN.format(column="d.created_at")}
"""

_LATER = text(f"""
    SELECT max(at) FROM unnest(cast(:names AS text[])) AS r (rule) CROSS JOIN LATERAL (
        (SELECT at FROM decisions WHERE rule = r.rule AND {_BETWEEN.format(column="at")}
         ORDER BY at DESC OFFSET :most LIMIT 1)
        UNION ALL
        (SELECT created_at FROM dispatches d
         WHERE d.rule = r.rule AND (cast(:until AS timestamptz) IS NULL OR d.created_at < :until)
         ORDER BY d.id DESC OFFSET :most LIMIT 1)
    ) AS first (at)
    WHERE cast(:since AS timestamptz) IS NULL OR at > :since
""")
"""The time of the first row beyond those that are counted, of the rule that has the most."""

_DECISIONS = text(f"""
    SELECT rule, verdict, CASE WHEN verdict = 'held' THEN reason END AS reason, count(*) AS count FROM decisions
    WHERE rule = ANY (cast(:names AS text[])) AND {_BETWEEN.format(column="at")}
    GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
""")

_DISPATCHES = text(f"""
    SELECT rule, target, status, count(*) AS count FROM dispatches d WHERE {_OF_RULE} GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
""")

_RUNS = text(f"""
    SELECT d.rule,
           avg(r.seconds) FILTER (WHERE d.status = 'done') AS run_seconds_mean,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY r.seconds) FILTER (WHERE d.status = 'done') AS run_seconds_p95,
           count(DISTINCT e.user_id) FILTER (WHERE d.status NOT IN ('shadow', 'cancelled')) AS users,
           max(d.created_at) FILTER (WHERE d.status NOT IN ('shadow', 'cancelled')) AS last_acted_at
    FROM dispatches d
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    CROSS JOIN LATERAL (SELECT cast(extract(epoch FROM d.ended_at - d.started_at) AS float8) AS seconds) AS r
    WHERE {_OF_RULE} GROUP BY d.rule
""")

_CALLS = text(f"""
    SELECT d.rule, count(*) AS model_calls, sum(c.input_tokens::bigint + c.output_tokens)::bigint AS tokens,
           sum(c.cost) AS cost
    FROM dispatches d JOIN model_calls c ON c.tenant_id = d.tenant_id AND c.dispatch_id = d.id
    WHERE {_OF_RULE} GROUP BY d.rule
""")

_CHANGES = text(f"""
    SELECT d.rule, count(*) FILTER (WHERE v.version = 1) AS memories_added,
           count(*) FILTER (WHERE v.version > 1) AS memories_changed
    FROM dispatches d JOIN memory_versions v ON v.tenant_id = d.tenant_id AND v.dispatch_id = d.id
    WHERE {_OF_RULE} GROUP BY d.rule
""")
