"""Background deduplication of new memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core.consolidation import judge
from core.consolidation.judge import Kind, Thresholds
from core.errors import Conflict
from core.events.publishing import Author
from core.index.vector_notation import vector_of
from core.memoize import memo_scope
from core.memory import memories, nearest_vectors, writer
from core.memory.changes import Merge, Owner, Vector
from core.memory.identity import KnownMemory
from core.storage.db import Database, Tx, recordset
from core.types import Candidate, Json

BATCH = 200
"""New memories that one run compares; the rest follow at once."""


@dataclass(frozen=True, slots=True)
class SweepMark:
    """Position of a sweep; memories are in the order in which they were recorded."""

    recorded_at: datetime
    memory_id: UUID


BEGINNING = SweepMark(datetime(1900, 1, 1, tzinfo=UTC), UUID(int=0))
"""Before any memory."""


@dataclass(frozen=True, slots=True)
class UnseenMemory:
    """A memory that the sweep has not seen yet, as a candidate, with its vector and the older ones near it."""

    known: KnownMemory
    candidate: Candidate
    vector: Vector | None
    near: Sequence[KnownMemory]


@dataclass(frozen=True, slots=True)
class PendingMerges:
    """Merges that one run has found; they may be written if the user's mark has not moved."""

    tenant_id: str
    user_id: str
    old: SweepMark
    new: SweepMark
    compared: int
    merges: Sequence[Merge]

    @property
    def more(self) -> bool:
        """True if there may be more new memories."""
        return self.compared == BATCH

    def write(self, tx: Tx, author: Author) -> Json:
        """Move the mark and merge. Conflict: another run or writer came between."""
        if not self.compared:
            return {"compared": 0}
        counts = writer.apply(tx, self.tenant_id, Owner(self.user_id), self.merges, author)
        _move(tx, self)
        return {"compared": self.compared, **counts}


def sweep(db: Database, tenant_id: str, user_id: str, thresholds: Thresholds) -> PendingMerges:
    """Compare a batch of a user's new memories with the older ones near each; nothing is written yet."""
    with db.tenant(tenant_id) as tx:
        old = _mark(tx, user_id)
        rows = _unseen(tx, user_id, old)
        near = _neighbours(tx, user_id, rows)
    stored = [_unseen_memory(row, near.get(row.id, ())) for row in rows]
    new = SweepMark(rows[-1].recorded_at, rows[-1].id) if rows else old
    return PendingMerges(tenant_id, user_id, old, new, len(rows), find_merges(stored, thresholds))


@memo_scope()
def find_merges(stored: Sequence[UnseenMemory], thresholds: Thresholds = judge.USUAL) -> list[Merge]:
    """Return merges of new memories, oldest first, into older ones that say the same."""
    merges: list[Merge] = []
    worded: dict[UUID, tuple[KnownMemory, Vector | None]] = {}
    merged_ids: set[UUID] = set()
    for memory in stored:
        near = [_as_worded(n, memory.vector, worded) for n in memory.near if n.id not in merged_ids]
        verdict = judge.judge(memory.candidate, near, thresholds)
        if verdict.known is None or verdict.kind not in {Kind.CONFIRM, Kind.MERGE}:
            continue
        richer = memory.vector if verdict.kind is Kind.MERGE else None
        merges.append(Merge(verdict.known, memory.candidate, verdict.reason, richer, absorbs=memory.known))
        merged_ids.add(memory.known.id)
        if richer is not None:
            worded[verdict.known.id] = (replace(verdict.known, content=memory.known.content), richer)
    return merges


def _as_worded(
    memory: KnownMemory, vector: Vector | None, worded: Mapping[UUID, tuple[KnownMemory, Vector | None]]
) -> KnownMemory:
    """Return an older memory with the wording that this run has given it, and its cosine with that."""
    if memory.id not in worded:
        return memory
    again, other = worded[memory.id]
    return replace(again, similarity=None if vector is None or other is None else float(vector @ other))


def _mark(tx: Tx, user_id: str) -> SweepMark:
    row = tx.execute(_MARK, {"user": user_id}).one_or_none()
    return SweepMark(row.recorded_at, row.memory_id) if row else BEGINNING


def _unseen(tx: Tx, user_id: str, mark: SweepMark) -> list[Any]:
    values = {"user": user_id, "at": mark.recorded_at, "id": mark.memory_id, "limit": BATCH}
    return list(tx.execute(_UNSEEN, values))


def _neighbours(tx: Tx, user_id: str, rows: Sequence[Any]) -> dict[UUID, list[KnownMemory]]:
    """Return for each new memory the older ones to compare it with."""
    neighbours: dict[UUID, dict[UUID, KnownMemory]] = {row.id: {} for row in rows}
    cosines = {
        (memory_id, other): cosine for memory_id, near in _nearest(tx, user_id, rows).items() for other, cosine in near
    }
    pairs = [{"id": memory_id, "other": other} for memory_id, other in cosines]
    for row in tx.execute(_OLDER, {"pairs": recordset(pairs)}):
        neighbours[row.asked][row.id] = memories.known_of(row, cosines[row.asked, row.id])
    for row in tx.execute(_SAME, {"user": user_id, "ids": list(neighbours)}):
        neighbours[row.asked].setdefault(row.id, memories.known_of(row))
    return {memory_id: list(by_id.values()) for memory_id, by_id in neighbours.items()}


def _nearest(tx: Tx, user_id: str, rows: Sequence[Any]) -> dict[UUID, nearest_vectors.Near]:
    """Return the nearest memories of each row with a vector. A row is its own nearest, so one more is asked for."""
    with_vectors = [row for row in rows if row.vector is not None]
    if not with_vectors:
        return {}
    vectors = np.array([vector_of(row.vector) for row in with_vectors])
    near, _ = memories.nearest_active(tx, user_id, vectors, memories.NEIGHBOURS + 1)
    return {row.id: ones for row, ones in zip(with_vectors, near, strict=True)}


def _unseen_memory(row: Any, near: Sequence[KnownMemory]) -> UnseenMemory:
    vector = None if row.vector is None else vector_of(row.vector)
    return UnseenMemory(memories.known_of(row), memories.candidate_of(row), vector, near)


def _move(tx: Tx, swept: PendingMerges) -> None:
    values = {
        "tenant": swept.tenant_id,
        "user": swept.user_id,
        "old_at": swept.old.recorded_at,
        "old_id": swept.old.memory_id,
        "at": swept.new.recorded_at,
        "id": swept.new.memory_id,
    }
    if tx.execute(_MOVE, values).one_or_none() is None:
        raise Conflict("Another worker has compared this user's memories in the meantime.")


_APART = """
    EXISTS (SELECT FROM verdicts v WHERE v.memory_id IN (a.id, m.id) AND v.kind = 'undo' AND v.undone_by IS NULL
            AND v.candidate -> 'apart' @> to_jsonb(cast(CASE v.memory_id WHEN a.id THEN m.id ELSE a.id END AS text)))
"""
"""Someone has undone a merge of the two, so they are not merged again."""

_MARK = text("SELECT recorded_at, memory_id FROM sweeps WHERE user_id = :user")

_UNSEEN = text(f"""
    WITH page AS MATERIALIZED (
        SELECT m.* FROM memories m
        WHERE m.user_id = :user AND {memories.ACTIVE_SQL} AND (m.recorded_at, m.id) > (:at, :id)
        ORDER BY m.recorded_at, m.id LIMIT :limit
    )
    SELECT page.*, i.embedding::text AS vector FROM page
    LEFT JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = page.id::text
    ORDER BY page.recorded_at, page.id
""")
"""One writer per owner records and commits at a time, so a later commit has a later recording time."""

_OLDER = text(f"""
    SELECT p.id AS asked, {memories.KNOWN} FROM json_to_recordset(cast(:pairs AS json)) AS p (id uuid, other uuid)
    JOIN memories a ON a.id = p.id
    JOIN memories m ON m.id = p.other AND {memories.ACTIVE_SQL} AND (m.recorded_at, m.id) < (a.recorded_at, a.id)
         AND m.group_id IS NOT DISTINCT FROM a.group_id AND m.audience_labels = a.audience_labels
    WHERE NOT {_APART}
""")
"""Older memories among the nearest of each."""

_SAME = text(f"""
    SELECT a.id AS asked, {memories.KNOWN} FROM memories a CROSS JOIN LATERAL (
        SELECT k.* FROM memories k WHERE k.user_id = :user AND k.statement_key = a.statement_key
        UNION ALL
        SELECT s.* FROM memories s WHERE s.user_id = :user AND s.subject = a.subject AND s.attribute = a.attribute
    ) AS m
    WHERE a.id = ANY(:ids) AND {memories.ACTIVE_SQL} AND (m.recorded_at, m.id) < (a.recorded_at, a.id)
      AND m.group_id IS NOT DISTINCT FROM a.group_id AND m.audience_labels = a.audience_labels AND NOT {_APART}
""")
"""Older memories that say the same, or fill the same slot; each of the two by its own index."""

_MOVE = text("""
    INSERT INTO sweeps AS s (tenant_id, user_id, recorded_at, memory_id) VALUES (:tenant, :user, :at, :id)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET recorded_at = excluded.recorded_at, memory_id = excluded.memory_id
    WHERE s.recorded_at = :old_at AND s.memory_id = :old_id
    RETURNING recorded_at
""")
