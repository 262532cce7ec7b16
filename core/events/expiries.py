"""Record of what a tenant's retention has removed: how much of each kind, when, and up to when the record has gaps."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Json

Kind = Literal["messages", "tool_results", "sessions", "events", "dispatches", "decisions", "queries"]


@dataclass(frozen=True, slots=True)
class Removed:
    """Rows of one kind that leave in a transaction: how many, and the time of the newest of them.

    `written_in` and `seq`: of events, the last place in the feed among them.
    """

    kind: Kind
    rows: int
    to_time: datetime
    written_in: int | None = None
    seq: int | None = None


def record(tx: Tx, tenant_id: str, removed: Removed) -> None:
    """Count rows that leave in this transaction; of queries also up to when there are none."""
    if removed.rows or removed.kind == "queries":
        values = {name: getattr(removed, name) for name in Removed.__slots__}
        tx.execute(_RECORD, {"tenant": tenant_id, **values})


def counts(tx: Tx) -> Json:
    """Return, by kind, when rows left last, how many left then and ever, and the time of the newest of them."""
    rows = tx.execute(_ALL).all()
    return {row.kind: {"at": row.at, "last": row.last_rows, "total": row.total, "newest": row.to_time} for row in rows}


def newest(tx: Tx, *kinds: Kind) -> datetime | None:
    """Return the time of the newest row of these kinds that ever left; None: all are there."""
    newest_at: datetime | None = tx.execute(_NEWEST, {"kinds": list(kinds)}).scalar_one()
    return newest_at


_RECORD = text("""
    INSERT INTO expiries AS x (tenant_id, kind, last_rows, total, to_time, written_in, seq)
    VALUES (:tenant, :kind, :rows, :rows, :to_time, :written_in, :seq)
    ON CONFLICT (tenant_id, kind) DO UPDATE SET
        at = clock_timestamp(), last_rows = excluded.last_rows, total = x.total + excluded.total,
        to_time = greatest(x.to_time, excluded.to_time),
        written_in = CASE WHEN (x.written_in, x.seq) > (excluded.written_in, excluded.seq)
                     THEN x.written_in ELSE excluded.written_in END,
        seq = CASE WHEN (x.written_in, x.seq) > (excluded.written_in, excluded.seq) THEN x.seq ELSE excluded.seq END
""")

_ALL = text("SELECT * FROM expiries WHERE total > 0 ORDER BY kind")

_NEWEST = text("SELECT max(to_time) FROM expiries WHERE kind = ANY(:kinds)")
