"""A tenant's decay policy and the curve stored per memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import text

from core.memory import decay
from core.memory.decay import Curve, Facts, Formula
from core.memory.rows import MemoryRow
from core.storage.db import Tx, recordset, run_together
from core.storage.multiquery import BoundStatement
from core.types import Json


@dataclass(frozen=True, slots=True)
class FadingPolicy:
    """A tenant's fading: formula, the strength below which a memory has faded, and the database's time."""

    formula: Formula
    under: float
    now: datetime


def policy(tx: Tx, tenant_id: str) -> FadingPolicy:
    """Return the tenant's policy as `align` has stored it, so that all rows are computed by one formula."""
    (answer,) = run_together(tx, asking_policy(tenant_id))
    return policy_of(answer)


def asking_policy(tenant_id: str) -> BoundStatement:
    """Return the statement that `policy_of` reads the answer of, to be run together with others."""
    return _POLICY, {"tenant": tenant_id}


def policy_of(answer: Sequence[Any]) -> FadingPolicy:
    """Return the policy from its row."""
    (row,) = answer
    return FadingPolicy(decay.FORMULAS[row.formula], row.under, row.now)


def columns(facts: Facts, since: datetime, policy: FadingPolicy) -> Json:
    """Return a row's stored curve, and when it will have faded if nobody uses it after `since`."""
    curve = policy.formula(facts)
    return {
        "fade_height": curve.height,
        "fade_floor": curve.floor,
        "fade_half_life": curve.half_life_days,
        "fade_at": curve.fade_at(since, policy.under),
    }


class UsedRow(Protocol):
    """Columns of a memory that say when it was last of use."""

    last_used_at: datetime | None
    recorded_at: datetime


class CountedRow(UsedRow, Protocol):
    """Columns of a memory that its strength follows from, with the numbers of its evidence and relations."""

    id: UUID
    importance: float
    category: str
    uses: int
    evidence: int
    relations: int
    pinned: bool
    half_life_days: float | None


def since(row: UsedRow) -> datetime:
    """Return when a memory begins to fade: its last use, or its recording."""
    return row.last_used_at or row.recorded_at


def strength(row: MemoryRow, now: datetime) -> float:
    """Return a memory's strength at a moment."""
    return Curve(row.fade_height, row.fade_half_life, row.fade_floor).strength(since(row), now)


def strength_sql(row: str, now: str) -> str:
    """Return SQL for the strength of a row of `memories` at a moment, which is also an expression of SQL.

    The exponent is bounded, because PostgreSQL refuses a power that is too small to be stored.
    """
    used = f"coalesce({row}.last_used_at, {row}.recorded_at)"
    days = f"greatest(0, cast(extract(epoch FROM cast({now} AS timestamptz) - {used}) AS float8) / {decay.DAY_SECONDS})"
    halved = f"power(cast(0.5 AS float8), least(1000, {days} / {row}.fade_half_life))"
    return f"({row}.fade_floor + {row}.fade_height * CASE WHEN {row}.fade_half_life IS NULL THEN 1 ELSE {halved} END)"


def plan(tx: Tx, tenant_id: str, ids: Iterable[UUID]) -> None:
    """Recompute the curves of active memories after something that strengthens or weakens them has changed."""
    if statement := asking_facts(ids):
        facts, policies = run_together(tx, statement, asking_policy(tenant_id))
        run_together(tx, drawing(policy_of(policies), facts))


def asking_facts(ids: Iterable[UUID]) -> BoundStatement | None:
    """Return the statement that reads what the curves of memories follow from, for `drawing`; None: no memory."""
    unique_ids = sorted(set(ids))
    return (_FACTS, {"ids": unique_ids}) if unique_ids else None


def align(tx: Tx, tenant_id: str, formula: str, under: float) -> bool:
    """Store settings as the tenant's policy; return True if they are new, so that all its rows must be recomputed."""
    values = {"tenant": tenant_id, "formula": formula, "under": under}
    return tx.execute(_ALIGN, values).rowcount == 1


def redraw(tx: Tx, tenant_id: str, after: UUID | None, page: int) -> UUID | None:
    """Recompute the next page of a tenant's active memories; return the last id, or None after the last page."""
    rows = tx.execute(_NEXT, {"after": after, "page": page}).all()
    run_together(tx, drawing(policy(tx, tenant_id), rows))
    return rows[-1].id if len(rows) == page else None


def drawing(policy: FadingPolicy, rows: Sequence[CountedRow]) -> BoundStatement | None:
    """Return the statement that stores the curves of memories, by the answer to `asking_facts`; None: no memory."""
    drawn = [{"id": row.id, **columns(_facts(row), since(row), policy)} for row in rows]
    return (_DRAW, {"rows": recordset(drawn)}) if drawn else None


def _facts(row: CountedRow) -> Facts:
    return Facts(row.importance, row.category, row.uses, row.evidence, row.relations, row.pinned, row.half_life_days)


_POLICY = text(f"""
    SELECT coalesce(t.fade_formula, 'fading') AS formula, coalesce(t.fade_under, {decay.UNDER}) AS under,
           clock_timestamp() AS now
    FROM (VALUES (1)) AS always LEFT JOIN tenants t ON t.id = :tenant
""")

_ALIGN = text("""
    UPDATE tenants SET fade_formula = :formula, fade_under = :under
    WHERE id = :tenant AND (fade_formula, fade_under) IS DISTINCT FROM (:formula, cast(:under AS float8))
""")

_REPLACING = "('contradicts', 'supersedes', 'supersedes_part', 'may_supersede')"

_COUNTED = f"""
    SELECT m.id, m.importance, m.category, m.uses, m.pinned, m.half_life_days, m.last_used_at, m.recorded_at,
           (SELECT count(*) FROM evidence e WHERE e.memory_id = m.id) AS evidence,
           (SELECT count(*) FROM relations r WHERE r.from_id = m.id AND r.relation NOT IN {_REPLACING})
           + (SELECT count(*) FROM relations r WHERE r.to_id = m.id AND r.relation NOT IN {_REPLACING}) AS relations
    FROM memories m
"""
"""Inputs of the strength; relations of contradiction and (possible) replacement do not count."""

_FACTS = text(f"{_COUNTED} WHERE m.id = ANY(:ids) AND m.status = 'active' ORDER BY m.id")

_NEXT = text(f"""
    {_COUNTED} WHERE m.status = 'active' AND (cast(:after AS uuid) IS NULL OR m.id > :after)
    ORDER BY m.id LIMIT :page
""")

_DRAW = text("""
    UPDATE memories m SET fade_height = f.fade_height, fade_floor = f.fade_floor, fade_half_life = f.fade_half_life,
                          fade_at = f.fade_at
    FROM json_to_recordset(cast(:rows AS json)) AS f (
        id uuid, fade_height float8, fade_floor float8, fade_half_life float8, fade_at timestamptz)
    WHERE m.id = f.id AND (m.fade_height, m.fade_floor, m.fade_half_life, m.fade_at)
                          IS DISTINCT FROM (f.fade_height, f.fade_floor, f.fade_half_life, f.fade_at)
""")
