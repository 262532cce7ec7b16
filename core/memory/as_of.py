"""Bitemporal reads: valid time and recorded time.

The two times are independent. "I moved to Porto in May", said in July, is valid since May and recorded since July:
as of June it is true, but not known at that time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.errors import NotFound
from core.memory import memories
from core.memory.rows import MemoryRow
from core.storage.db import Tx
from core.storage.multiquery import BoundStatement
from core.types import Evidence, Status

TRUE = """
    (cast(:as_of AS timestamptz) IS NULL OR (coalesce(m.valid_from, m.occurred_at) <= :as_of
                                             AND (m.valid_to IS NULL OR m.valid_to > :as_of)))
"""
"""Condition that a row `m` of `memories` is true at `:as_of`; without `valid_from` it is true since it happened or was
said.
"""

UNEXPIRED = "(m.expires_at IS NULL OR m.expires_at > coalesce(cast(:known_at AS timestamptz), now()))"
"""Condition that a row `m` has not expired, at `:known_at` or now."""

KNOWN = """
    LATERAL (
        SELECT was.* FROM (
            SELECT v.snapshot FROM memory_versions v
            WHERE v.memory_id = s.id AND v.at <= :known_at ORDER BY v.version DESC LIMIT 1
        ) AS last, jsonb_populate_record(s, last.snapshot) AS was
    )
"""
"""Row `s` of `memories` as recorded at `:known_at`, or none. The curve, which snapshots do not contain, is the current
one.
"""


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment to read at. `as_of`: valid then, whether or not superseded since. `known_at`: recorded by then."""

    as_of: datetime | None = None
    known_at: datetime | None = None

    def statuses(self, *, archived: bool) -> list[str]:
        """Return the statuses that are allowed: a superseded memory may have been true at an earlier time."""
        past = [Status.SUPERSEDED] if self.as_of else []
        return [Status.ACTIVE, *past, *([Status.ARCHIVED] if archived else [])]


NOW: Final = Moment()

EARLIEST_CLOCK: Final = timedelta(hours=14)
"""How far the earliest clock is ahead of UTC: a day is stored as its midnight in UTC, and begins there before that."""

EARLIEST_CLOCK_SQL: Final = f"interval '{EARLIEST_CLOCK}'"


def get(tx: Tx, memory_id: UUID, moment: Moment) -> MemoryRow:
    """Return the row of one memory at a moment. NotFound: there is none, or it was not recorded or not true yet."""
    if moment == NOW:
        return memories.get(tx, memory_id)
    memories.get(tx, memory_id)
    row = of_ids(tx, [memory_id], moment.known_at).get(memory_id)
    if row is None:
        raise NotFound(f"Memory {memory_id} was not recorded yet at {_date_text(moment.known_at)}.")
    if moment.as_of is not None and not _true(row, moment.as_of):
        since, until = row.valid_from or row.occurred_at, row.valid_to
        raise NotFound(
            f"Memory {memory_id} was not true at {_date_text(moment.as_of)}; it is since {_date_text(since)}"
            + (f" and until {_date_text(until)}." if until else ".")
        )
    return row


def of_ids(tx: Tx, ids: Sequence[UUID], known_at: datetime | None) -> dict[UUID, MemoryRow]:
    """Return rows by id as recorded at a time; those recorded later are left out."""
    return {row.id: row for row in tx.execute(*row_statement(ids, known_at))}


def at_moment(tx: Tx, ids: Sequence[UUID], moment: Moment) -> dict[UUID, MemoryRow]:
    """Return rows by id at a moment; those not recorded or not true then, and erased ones, are left out."""
    rows = of_ids(tx, ids, moment.known_at)
    return {memory_id: row for memory_id, row in rows.items() if moment.as_of is None or _true(row, moment.as_of)}


def row_statement(ids: Sequence[UUID], known_at: datetime | None) -> BoundStatement:
    """Return the statement for rows of memories as recorded at a time."""
    return (
        (memories.OF_IDS, {"ids": list(ids)})
        if known_at is None
        else (_OF_IDS, {"ids": list(ids), "known_at": known_at})
    )


def evidence(tx: Tx, ids: Sequence[UUID], known_at: datetime | None) -> dict[UUID, list[Evidence]]:
    """Return the evidence of each memory at a time, oldest first."""
    return memories.evidence_by_memory(tx.execute(*evidence_statement(ids, known_at)))


def evidence_statement(ids: Sequence[UUID], known_at: datetime | None) -> BoundStatement:
    """Return the statement for the evidence of memories at a time; for `memories.cited`."""
    return (memories.EVIDENCE if known_at is None else _EVIDENCE), {"ids": list(ids), "known_at": known_at}


def _true(row: MemoryRow, as_of: datetime) -> bool:
    since = row.valid_from or row.occurred_at
    return bool(since <= as_of and (row.valid_to is None or as_of < row.valid_to))


def _date_text(time: datetime | None) -> str:
    return time.isoformat(timespec="seconds") if time else "any time"


_OF_IDS = text(f"SELECT m.* FROM memories s CROSS JOIN {KNOWN} m WHERE s.id = ANY(:ids)")

_EVIDENCE = text("""
    SELECT * FROM evidence WHERE memory_id = ANY(:ids) AND at <= :known_at ORDER BY memory_id, at, event_id
""")
