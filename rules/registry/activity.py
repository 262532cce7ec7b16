"""Decisions of each rule over time: counts of fired, gathered and held decisions in equal steps of a time span.

A page draws this every few seconds, so that the rows read do not depend on how many decisions there are. Each step of
each rule reads at most so many of its first and last decisions, by the index on rule and time; what lies between them
is counted at the rate at which these came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import text

from core.storage.db import Tx

ROWS: Final = 25_000
"""Decisions that one chart reads at each end of its steps, at most; 1,000 take a millisecond."""

LEAST_ROWS: Final = 10
"""Decisions of one step that are read in any case."""

DELETED: Final = 1_000
"""Deleted rules that are looked at: those in force are limited, and these are not."""

LOOKED_BACK: Final = 50
"""Dispatches of a rule in which its last action is looked for: those of a rule in shadow mode are none."""

VERDICTS: Final = ("fired", "gathered", "held")

Counts = Annotated[list[int], Field(description="One number for each bucket, the oldest first")]


@dataclass(frozen=True, slots=True)
class Steps:
    """A time span in equal steps; `until` is excluded."""

    since: datetime
    until: datetime
    count: int

    @property
    def seconds(self) -> float:
        return (self.until - self.since).total_seconds() / self.count


@dataclass(slots=True)
class RuleLane:
    """Decisions of one rule. `estimated`: buckets, from 0, that had too many to count and hold estimates."""

    rule: str
    enabled: bool
    deleted: bool
    last_met_at: datetime | None
    last_acted_at: datetime | None
    fired: Counts
    gathered: Counts
    held: Counts
    estimated: list[int]


def of(tx: Tx, steps: Steps, limit: int, names: Sequence[str] | None = None) -> tuple[list[RuleLane], int]:
    """Return the activity of the rules that met an event last, of all or of these, and how many others there are."""
    chosen = {"names": None if names is None else list(names), "limit": limit, "deleted": DELETED}
    rows = tx.execute(_RULES, {**chosen, "since": steps.since, "back": LOOKED_BACK}).all()
    activity_by_name = {row.name: _nothing(row, steps.count) for row in rows}
    met = [row.name for row in rows if row.met_at is not None and row.met_at >= steps.since]
    cap = max(LEAST_ROWS, ROWS // max(1, len(met) * steps.count))
    values = {"rules": met, "since": steps.since, "seconds": steps.seconds, "steps": steps.count, "cap": cap}
    for cell in tx.execute(_CELLS, values):
        _take(activity_by_name[cell.rule], cell, steps.seconds, cap)
    return list(activity_by_name.values()), (rows[0].several if rows else 0) - len(rows)


def _nothing(row: Any, count: int) -> RuleLane:
    fired, gathered, held = ([0] * count for _ in VERDICTS)
    return RuleLane(row.name, row.enabled, row.deleted, row.met_at, row.acted_at, fired, gathered, held, [])


def _take(rule: RuleLane, cell: Any, seconds: float, cap: int) -> None:
    """Add the counts of one step, or, if decisions between those that were read are left, an estimate of them."""
    factor = 1.0
    if cell.late == cap:
        rule.estimated.append(cell.step)
        factor = max(1.0, seconds / max(cell.covered, 1e-6))
    for name in VERDICTS:
        getattr(rule, name)[cell.step] = round(getattr(cell, name) * factor)


_RULES = text("""
    WITH known AS (
        (SELECT tenant_id, name, false AS deleted, document FROM rules WHERE deleted_at IS NULL)
        UNION ALL
        (SELECT tenant_id, name, true, document FROM rules WHERE deleted_at IS NOT NULL
         ORDER BY deleted_at DESC LIMIT :deleted)
    ), met AS MATERIALIZED (
        SELECT k.*, (SELECT d.at FROM decisions d WHERE d.tenant_id = k.tenant_id AND d.rule = k.name
                     ORDER BY d.at DESC LIMIT 1) AS met_at
        FROM known k WHERE cast(:names AS text[]) IS NULL OR k.name = ANY (cast(:names AS text[]))
    ), shown AS (
        SELECT *, count(*) OVER () AS several FROM met WHERE NOT deleted OR met_at >= :since
        ORDER BY met_at DESC NULLS LAST, name LIMIT :limit
    )
    SELECT s.name, s.deleted, NOT s.deleted AND coalesce(cast(s.document ->> 'enabled' AS boolean), true) AS enabled,
           s.met_at, s.several, (
        SELECT max(l.created_at) FILTER (WHERE l.status NOT IN ('shadow', 'cancelled')) FROM (
            SELECT created_at, status FROM dispatches d WHERE d.tenant_id = s.tenant_id AND d.rule = s.name
            ORDER BY d.id DESC LIMIT :back
        ) AS l) AS acted_at
    FROM shown s ORDER BY s.met_at DESC NULLS LAST, s.name
""")
"""Rules in force, and deleted ones that still met events in this time; those that met one last come first."""

_BY_VERDICT: Final = ", ".join(f"count(*) FILTER (WHERE verdict = '{name}') AS {name}" for name in VERDICTS)

_CELLS = text(f"""
    WITH cells AS (
        SELECT rule, step, cast(:since AS timestamptz) + make_interval(secs => step * :seconds) AS since,
               cast(:since AS timestamptz) + make_interval(secs => (step + 1) * :seconds) AS until
        FROM unnest(cast(:rules AS text[])) AS r (rule), generate_series(0, :steps - 1) AS s (step)
    )
    SELECT c.rule, c.step, coalesce(late.seen, 0) AS late,
           head.fired + coalesce(late.fired, 0) AS fired, head.gathered + coalesce(late.gathered, 0) AS gathered,
           head.held + coalesce(late.held, 0) AS held,
           cast(extract(epoch FROM head.last - c.since + (c.until - late.first)) AS float8) AS covered
    FROM cells c
    CROSS JOIN LATERAL (
        SELECT count(*) AS seen, max(at) AS last, {_BY_VERDICT}
        FROM (SELECT at, verdict FROM decisions d WHERE d.rule = c.rule AND d.at >= c.since AND d.at < c.until
              ORDER BY d.at LIMIT :cap) AS h
    ) AS head
    LEFT JOIN LATERAL (
        SELECT count(*) AS seen, min(at) AS first, {_BY_VERDICT}
        FROM (SELECT at, verdict FROM decisions d WHERE d.rule = c.rule AND d.at > head.last AND d.at < c.until
              ORDER BY d.at DESC LIMIT :cap) AS l
    ) AS late ON head.seen = :cap
    WHERE head.seen > 0
""")
"""Up to :cap decisions from the beginning of each step, and, only where that is not all, as many from its end."""
