"""Memories of an owner over time: when each was true, or when the service held it to be true, and what replaced it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import TextClause, text

from core.storage.db import Tx, first_id
from core.types import Relation

LOOKED_AT: Final = 5_000
"""Latest memories of the owner that began before the end of the span, among which the shown ones are chosen."""

Axis = Literal["true", "known"]
"""`true`: from when to when a statement is true. `known`: from when it was recorded until it was no longer held."""

SUCCESSIONS: Final = (Relation.SUPERSEDES, Relation.DERIVED_FROM)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Owner of the memories to show, the axis and the span; None: no bound."""

    user_id: str | None
    group_id: str | None
    axis: Axis
    statuses: Sequence[str]
    trusts: Sequence[str]
    category: str | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Succession:
    """A memory that took the place of another (`supersedes`), or into which it went (`derived_from`)."""

    before: UUID
    after: UUID
    relation: str
    change_id: UUID | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Rows of memories with `begins` and `ends` (None: it has not ended), oldest first, and what replaced which.

    `left_out`: number of those in the span that are not shown; `more`: there may be others that were not looked at.
    """

    rows: Sequence[Any]
    successions: Sequence[Succession]
    left_out: int
    more: bool


def of_owner(tx: Tx, query: Wanted, limit: int) -> Timeline:
    """Return the memories that begin last of those that overlap the span."""
    values = asdict(query) | {
        "statuses": list(query.statuses),
        "trusts": list(query.trusts),
        "until": query.until or _NEVER,
        "id_end": first_id(min(query.until or _NEVER, _NEVER) + _SLACK),
        "most": LOOKED_AT,
    }
    overlapping = tx.execute(SPANS[query.axis], values).all()
    displayed = overlapping[:limit]
    ids = [row.id for row in displayed]
    rows = {row.id: row for row in tx.execute(_ROWS, {"ids": ids})}
    spans = [(row, rows[row.id]) for row in reversed(displayed) if row.id in rows]
    successions = [
        Succession(row.to_id, row.from_id, row.relation, row.change_id)
        for row in tx.execute(_SUCCESSIONS, {"ids": ids, "relations": list(SUCCESSIONS)})
    ]
    return Timeline(
        rows=[(span.begins, span.ends, row) for span, row in spans],
        successions=successions,
        left_out=len(overlapping) - len(displayed),
        more=bool(overlapping) and overlapping[0].looked_at == LOOKED_AT,
    )


_NEVER: Final = datetime(9999, 1, 1, tzinfo=UTC)

_SLACK: Final = timedelta(hours=1)
"""An id is at most this much younger than the time of recording."""


_OWNED: Final = """
    (cast(:user_id AS text) IS NULL OR m.user_id = :user_id)
    AND (cast(:group_id AS text) IS NULL OR m.group_id = :group_id)
"""

_ENDED: Final = """
    CASE WHEN m.status <> 'active' THEN (
        SELECT min(v.at) FROM memory_versions v WHERE v.memory_id = m.id AND v.version > coalesce(
            (SELECT max(w.version) FROM memory_versions w
             WHERE w.memory_id = m.id AND w.snapshot ->> 'status' = 'active'), 0)) END
"""
"""Time when a memory ceased to be active for the last time."""


def _spans(begins: str, ends: str, bound: str, order: str) -> TextClause:
    """Return the statement for the spans that overlap one; the newest rows are found by index, and judged then."""
    return text(f"""
        SELECT m.id, m.begins, m.ends, m.looked_at FROM (
            SELECT m.*, {ends} AS ends, count(*) OVER () AS looked_at FROM (
                SELECT m.id, m.status, m.trust, m.category, m.valid_to, {begins} AS begins FROM memories m
                WHERE {_OWNED} AND {bound}
                ORDER BY {order} LIMIT :most
            ) AS m
        ) AS m
        WHERE m.status = ANY(:statuses) AND m.trust = ANY(:trusts)
          AND (cast(:category AS text) IS NULL OR m.category = :category)
          AND (cast(:since AS timestamptz) IS NULL OR m.ends IS NULL OR m.ends > :since)
        ORDER BY m.begins DESC, m.id DESC
    """)


_BEGINS: Final = "coalesce(m.valid_from, m.occurred_at)"

SPANS: Final = {
    "true": _spans(_BEGINS, "m.valid_to", f"{_BEGINS} < :until", f"{_BEGINS} DESC, m.id DESC"),
    "known": _spans("m.recorded_at", _ENDED, "m.id < :id_end AND m.recorded_at < :until", "m.id DESC"),
}
"""The statement for each axis."""

_ROWS = text("SELECT * FROM memories WHERE id = ANY(:ids)")

_SUCCESSIONS = text("""
    SELECT from_id, to_id, relation, change_id FROM relations
    WHERE to_id = ANY(:ids) AND from_id = ANY(:ids) AND relation = ANY(:relations) ORDER BY at, from_id, to_id
""")
