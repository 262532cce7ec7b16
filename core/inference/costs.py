"""Spend on model calls by rule, agent, user, model, prompt, day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.config import Settings
from core.inference.client import Call
from core.storage.db import Tx
from core.storage.multiquery import BoundStatement
from core.types import Json, SpendKey


@dataclass(frozen=True, slots=True)
class DaySpending:
    """Tokens and cost (in the prices' currency) that a tenant has used on this day (UTC), which ends at `ends_at`.

    Same day and sums as `budget.tokens_today` and `budget.cost_today` in rule conditions.
    """

    tokens: int
    cost: float
    ends_at: datetime


def spent_today(tx: Tx) -> DaySpending:
    """Sum up today's calls of the tenant of this transaction, over all its dispatches."""
    return DaySpending(*tx.execute(_TODAY).one())


def used_up(tx: Tx, tokens_per_day: int | None, cost_per_day: float | None) -> tuple[str, datetime] | None:
    """Return which budget of the day the tenant has used up, in words, and when the next day begins; None: none."""
    if tokens_per_day is None and cost_per_day is None:
        return None
    spent = spent_today(tx)
    if tokens_per_day is not None and spent.tokens >= tokens_per_day:
        what = f"tokens for today ({spent.tokens:,} of IMPRINT_LLM_TOKENS_PER_DAY={tokens_per_day:,})"
    elif cost_per_day is not None and spent.cost >= cost_per_day:
        what = f"money for today ({spent.cost:,.2f} of IMPRINT_LLM_COST_PER_DAY={cost_per_day:,.2f})"
    else:
        return None
    return what, spent.ends_at


def record(
    tx: Tx, settings: Settings, tenant_id: str, dispatch_id: UUID, call: Call, lease: UUID | None = None
) -> None:
    """Record a call of a model with its cost. `dispatch_id`: an id of its own if no dispatch asked.

    The answer is stored for the holder of the dispatch's lease alone.
    """
    prices = settings.llm_input_price, settings.llm_output_price
    cost = (call.input_tokens * prices[0] + call.output_tokens * prices[1]) / TOKENS_PRICED
    values: Json = {name: getattr(call, name) for name in Call.__slots__}
    tx.execute(_CALL, values | {"tenant": tenant_id, "dispatch": dispatch_id, "lease": lease, "cost": cost})


def of(
    tx: Tx, by: SpendKey, since: datetime | None, until: datetime | None, limit: int, most: int | None = None
) -> Json:
    """Return model calls with tokens and cost, most expensive first, and their total; `until` is excluded.

    `most`: the period begins later if more calls are in it; `from` is when it began.

    `key` is None for a call that belongs to no rule, or to an event without a user. `latency_ms_p95`: 95th percentile.
    `total` includes calls beyond `limit`.
    """
    since = _beginning(tx, since, until, most)
    rows = tx.execute(_COSTS, {"by": by, "since": since, "until": until, "limit": limit}).mappings().all()
    figures = [{name: row[name] for name in FIGURES} for row in rows]
    items = [{"key": row["key"], **item} for row, item in zip(rows, figures, strict=True) if not row["is_total"]]
    total = next(item for row, item in zip(rows, figures, strict=True) if row["is_total"])
    return {"from": since, "items": items, "total": total}


def by_day(tx: Tx, by: SpendKey, since: datetime, until: datetime, limit: int, most: int | None = None) -> Json:
    """Return what each day (UTC) of a period has used; `until` is excluded.

    `most`: the period begins later if more calls are in it; `from` is when it began.
    `series`: the most expensive groups, each with a number for each day; `rest`: all others together.
    """
    since = _beginning(tx, since, until, most) or since
    days = _days(since, until)
    rows = tx.execute(_BY_DAY, {"by": by, "since": since, "until": until, "limit": limit}).all()
    empty = {name: [0] * len(days) for name in DAY_FIGURES}
    groups: dict[int, Json] = {}
    for row in rows:
        group = groups.setdefault(row.place, {"key": row.key, **{name: [*zeros] for name, zeros in empty.items()}})
        for name in DAY_FIGURES:
            group[name][days.index(row.day)] = getattr(row, name)
    rest = groups.pop(limit + 1, {"key": None, **empty})
    return {
        "from": since,
        "days": days,
        "series": [groups[rank] for rank in sorted(groups)],
        "rest": {name: rest[name] for name in DAY_FIGURES},
    }


def _beginning(tx: Tx, since: datetime | None, until: datetime | None, most: int | None) -> datetime | None:
    """Return when a period begins that has at most so many calls."""
    if most is None:
        return since
    later: datetime | None = tx.execute(_LATER, {"since": since, "until": until, "most": most}).scalar()
    return later or since


def _days(since: datetime, until: datetime) -> list[date]:
    first, last = since.astimezone(UTC).date(), (until - timedelta(microseconds=1)).astimezone(UTC).date()
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


TOKENS_PRICED: Final = 1_000_000
"""Tokens that a price is for."""

_CALL = text("""
    INSERT INTO model_calls (tenant_id, dispatch_id, rule, target, model, prompt, input_tokens, output_tokens, cost,
                             latency_ms, outcome, answer)
    SELECT :tenant, :dispatch, d.rule, d.target, :model, :prompt, :input_tokens, :output_tokens, :cost, :latency_ms,
           :outcome, CASE WHEN d.status = 'running' AND d.lease = :lease THEN cast(:answer AS text) END
    FROM (VALUES (1)) AS c LEFT JOIN (SELECT * FROM dispatches WHERE id = :dispatch FOR SHARE) AS d ON true
""")
"""The answer is not stored if the dispatch was cancelled or began again meanwhile: an erasure does so, because what the
attempt had read may be erased. One that is not committed yet is waited for. Rule and agent are copied, so that costs by
either are summed up from the calls alone.
"""

FIGURES: Final = ("calls", "input_tokens", "output_tokens", "cost", "latency_ms_p95")

DAY_FIGURES: Final = ("calls", "input_tokens", "output_tokens", "cost")

_TODAY = text("""
    SELECT cast(coalesce(sum(cast(input_tokens AS bigint) + output_tokens), 0) AS bigint) AS tokens,
           coalesce(sum(cost), 0) AS cost,
           date_trunc('day', clock_timestamp(), 'UTC') + interval '1 day' AS ends_at
    FROM model_calls
    WHERE tenant_id = current_setting('imprint.tenant') AND at >= date_trunc('day', now(), 'UTC')
""")
"""Uses the index on tenant and time: only the calls of the day are read."""

MOST_OF_TENANTS: Final[BoundStatement] = (
    text("""
    SELECT coalesce(max(used.tokens), 0)::float8 AS tokens, coalesce(max(used.cost), 0)::float8 AS cost
    FROM tenants t, LATERAL (
        SELECT sum(cast(c.input_tokens AS bigint) + c.output_tokens) AS tokens, sum(c.cost) AS cost
        FROM model_calls c WHERE c.tenant_id = t.id AND c.at >= date_trunc('day', now(), 'UTC')
    ) AS used
"""),
    {},
)
"""Asks for the most tokens and the highest cost that any tenant has used today. For the router's role, which sees
all; tenant by tenant, as the index has them."""

_LATER = text("""
    SELECT at FROM model_calls
    WHERE (cast(:since AS timestamptz) IS NULL OR at >= :since) AND (cast(:until AS timestamptz) IS NULL OR at < :until)
    ORDER BY at DESC OFFSET :most LIMIT 1
""")
"""The time of the newest call beyond those that are counted."""

_CALLS: Final = """
        SELECT c.at, c.input_tokens, c.output_tokens, c.cost, c.latency_ms,
               CASE :by WHEN 'rule' THEN coalesce(c.rule, d.rule) WHEN 'agent' THEN coalesce(c.target, d.target)
                        WHEN 'user' THEN e.user_id WHEN 'prompt' THEN c.prompt ELSE c.model END AS key
        FROM model_calls c
        LEFT JOIN LATERAL (
            SELECT d.tenant_id, d.rule, d.target, d.event_seq FROM dispatches d
            WHERE (:by = 'user' OR :by IN ('rule', 'agent') AND c.target IS NULL)
              AND d.tenant_id = c.tenant_id AND d.id = c.dispatch_id OFFSET 0
        ) AS d ON true
        LEFT JOIN events e ON :by = 'user' AND e.tenant_id = d.tenant_id AND e.seq = d.event_seq
        WHERE (cast(:since AS timestamptz) IS NULL OR c.at >= :since)
          AND (cast(:until AS timestamptz) IS NULL OR c.at < :until)
"""
"""Calls that were recorded before rule and agent were copied have those of their dispatches, which are looked up one by
one: to join them would read all.
"""

_COSTS = text(f"""
    WITH calls AS ({_CALLS})
    SELECT key, grouping(key) = 1 AS is_total, count(*) AS calls,
           cast(coalesce(sum(input_tokens), 0) AS bigint) AS input_tokens,
           cast(coalesce(sum(output_tokens), 0) AS bigint) AS output_tokens,
           coalesce(sum(cost), 0) AS cost,
           round(cast(percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS numeric), 1)::float8
               AS latency_ms_p95
    FROM calls
    GROUP BY GROUPING SETS ((key), ())
    ORDER BY is_total DESC, cost DESC, input_tokens DESC, key NULLS LAST
    LIMIT :limit + 1
""")
"""The total, then the most expensive groups; the total includes groups beyond the limit."""

_BY_DAY = text(f"""
    WITH calls AS MATERIALIZED (
        SELECT key, cast(date_trunc('day', at, 'UTC') AT TIME ZONE 'UTC' AS date) AS day, count(*) AS calls,
               sum(cast(input_tokens AS bigint)) AS input_tokens, sum(cast(output_tokens AS bigint)) AS output_tokens,
               sum(cost) AS cost
        FROM ({_CALLS}) AS c GROUP BY 1, 2
    ), whole AS (
        SELECT *, sum(cost) OVER same AS dear, sum(input_tokens) OVER same AS large
        FROM calls WINDOW same AS (PARTITION BY key)
    ), ranked AS (
        SELECT *, dense_rank() OVER (ORDER BY dear DESC, large DESC, key NULLS LAST) AS place FROM whole
    )
    SELECT least(place, :limit + 1) AS place, CASE WHEN place <= :limit THEN key END AS key, day,
           cast(sum(calls) AS bigint) AS calls, cast(sum(input_tokens) AS bigint) AS input_tokens,
           cast(sum(output_tokens) AS bigint) AS output_tokens, sum(cost) AS cost
    FROM ranked
    GROUP BY 1, 2, 3
""")
"""Each of the most expensive groups by day, and all others as one group behind them."""
