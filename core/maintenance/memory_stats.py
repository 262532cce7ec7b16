"""Figures for /v1/stats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from sqlalchemy import text

from core.memory import retention
from core.storage.db import Tx
from core.types import Json

DAYS: Final = 30
"""Window of growth, recalls and model calls before now, and of fading after it."""

WEAKEST: Final = 10
"""Number of memories listed that fade next."""

QUANTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

FIGURES: Final = ("mean_importance", "mean_age_days", "mean_uses", "never_used")


@dataclass(slots=True)
class Counts:
    """Result of one pass over all memories. `crossed`: number per category and status."""

    total: int = 0
    active: int = 0
    fading: int = 0
    figures: Json = field(default_factory=lambda: dict.fromkeys(FIGURES))
    by: dict[str, dict[str, int]] = field(
        default_factory=lambda: {name: {} for name in ("kind", "category", "status", "trust")}
    )
    crossed: list[Json] = field(default_factory=list)
    grown: dict[date, int] = field(default_factory=dict)


def counts(tx: Tx, user_id: str | None, now: datetime) -> Counts:
    """Return counts and means in one pass over the memories of the tenant, or of one user."""
    totals = Counts()
    for row in tx.execute(_COUNTS, {"user": user_id, "now": now, "days": DAYS}):
        _take(totals, row)
    return totals


def of(tx: Tx, user_id: str | None, now: datetime, counted: Counts) -> Json:
    """Return all memory statistics in the database; `counted` is passed in."""
    values = {"user": user_id, "now": now, "days": DAYS}
    weakest = tx.execute(_WEAKEST, values | {"limit": WEAKEST}).all()
    verdicts = tx.execute(_VERDICTS, values).all()
    calls = tx.execute(_CALLS if user_id is None else _CALLS_FOR, values).mappings().all()
    return {
        "days": DAYS,
        "total": counted.total,
        "active": counted.active,
        **{f"by_{name}": dict(sorted(several.items())) for name, several in counted.by.items()},
        **counted.figures,
        "growth": growth(counted.grown, now),
        "fading": {"count": counted.fading, "weakest": [_weak(row, now) for row in weakest]},
        "verdicts": {row.kind: {"count": row.count, "undone": row.undone} for row in verdicts},
        "model": _model([dict(row) for row in calls]),
    }


def growth(grown: Mapping[date, int], now: datetime) -> list[Json]:
    """Return the number of memories recorded on each of the last days, today last, in UTC."""
    today = now.astimezone(UTC).date()
    days = [today - timedelta(days=back) for back in reversed(range(DAYS))]
    return [{"day": day.isoformat(), "added": grown.get(day, 0)} for day in days]


def percentiles(seconds: Sequence[float]) -> Json:
    """Return percentiles of these times, in milliseconds; None where there are none."""
    ordered = sorted(seconds)
    return {name: _milliseconds(quantile(ordered, share)) for name, share in QUANTILES.items()}


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """Return a quantile of an ordered list by linear interpolation; None: it is empty."""
    if not ordered:
        return None
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)


def _take(totals: Counts, row: Any) -> None:
    """Read one group of the pass over all memories; `grouped` names the columns."""
    match row.grouped:
        case "all":
            totals.total, totals.active, totals.fading = row.count, row.active, row.fading
            totals.figures = {name: _round(getattr(row, name)) for name in FIGURES}
        case "category":
            if row.active:
                totals.by["category"][row.category] = totals.by["category"].get(row.category, 0) + row.active
            totals.crossed.append({"category": row.category, "status": row.status, "count": row.count})
        case "day":
            if row.day is not None:
                totals.grown[row.day] = row.count
        case "status":
            totals.by["status"][row.status] = row.count
        case name:
            if row.active:
                totals.by[name][getattr(row, name)] = row.active


def _round(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


def _weak(row: Any, now: datetime) -> Json:
    names = ("id", "user_id", "content", "category", "importance", "uses", "fade_at")
    return {name: getattr(row, name) for name in names} | {"strength": round(retention.strength(row, now), 4)}


def _model(by_model: Sequence[Json]) -> Json:
    names = ("calls", "input_tokens", "output_tokens", "cost")
    return {**{name: sum(row[name] for row in by_model) for name in names}, "by_model": by_model}


_COUNTS = text("""
    SELECT CASE WHEN grouping(kind) = 0 THEN 'kind' WHEN grouping(category) = 0 THEN 'category'
                WHEN grouping(status) = 0 THEN 'status' WHEN grouping(trust) = 0 THEN 'trust'
                WHEN grouping(day) = 0 THEN 'day' ELSE 'all' END AS grouped,
           kind, category, status, trust, day,
           count(*) AS count,
           count(*) FILTER (WHERE alive) AS active,
           count(*) FILTER (WHERE alive AND trust NOT IN ('rejected', 'quarantined')
                            AND fade_at <= cast(:now AS timestamptz) + make_interval(days => :days)) AS fading,
           avg(importance) FILTER (WHERE alive) AS mean_importance,
           avg(age) FILTER (WHERE alive) AS mean_age_days,
           avg(uses) FILTER (WHERE alive) AS mean_uses,
           avg(unused) FILTER (WHERE alive) AS never_used
    FROM (
        SELECT kind, category, status, trust, importance, fade_at, status = 'active' AS alive,
               cast(uses AS float8) AS uses, CASE WHEN uses = 0 THEN cast(1 AS float8) ELSE 0 END AS unused,
               cast(extract(epoch FROM cast(:now AS timestamptz) - recorded_at) AS float8) / 86400 AS age,
               CASE WHEN recorded_at > cast(:now AS timestamptz) - make_interval(days => :days)
                    THEN cast(recorded_at AT TIME ZONE 'UTC' AS date) END AS day
        FROM memories WHERE status <> 'erased' AND (cast(:user AS text) IS NULL OR user_id = :user)
    ) AS m
    GROUP BY GROUPING SETS ((), (kind), (category, status), (status), (trust), (day))
""")
"""One pass over all memories. Means, and all counts except by status, cover active memories."""

_WEAKEST = text("""
    SELECT * FROM memories
    WHERE status = 'active' AND fade_at <= cast(:now AS timestamptz) + make_interval(days => :days)
      AND trust NOT IN ('rejected', 'quarantined') AND (cast(:user AS text) IS NULL OR user_id = :user)
    ORDER BY fade_at LIMIT :limit
""")
"""Memories that fade next, by the index on that time."""

_VERDICTS = text("""
    SELECT kind, count(*) AS count, count(undone_by) AS undone FROM verdicts
    WHERE cast(:user AS text) IS NULL OR user_id = :user
    GROUP BY kind ORDER BY kind
""")

_SUMS = """
    SELECT c.model, count(*) AS calls, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
           sum(c.cost) AS cost, count(*) FILTER (WHERE split_part(c.outcome, '+', 1) <> 'ok') AS failed
    FROM model_calls c
"""

_CALLS = text(f"""
    {_SUMS} WHERE c.at > cast(:now AS timestamptz) - make_interval(days => :days) GROUP BY c.model ORDER BY c.model
""")

_CALLS_FOR = text(f"""
    {_SUMS} JOIN dispatches d ON d.id = c.dispatch_id JOIN events e ON e.seq = d.event_seq
    WHERE c.at > cast(:now AS timestamptz) - make_interval(days => :days) AND e.user_id = :user
    GROUP BY c.model ORDER BY c.model
""")
"""Calls caused by a user's events."""
