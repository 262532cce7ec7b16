"""The sweep: what is new of a user's memories against its neighbours, never all pairs; judged as for writing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core import changes, judge, memories, types
from core.changes import Author, Merge, Owner, Vector
from core.db import Database, Tx
from core.errors import Conflict
from core.judge import Kind, Known, Thresholds
from core.types import Candidate, Category, Json, Topic

BATCH = 200
"""New memories that one run compares; the rest follows at once."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a sweep has come: memories are in the order in which they were recorded."""

    recorded_at: datetime
    memory_id: UUID


BEGINNING = Mark(datetime(1900, 1, 1, tzinfo=UTC), UUID(int=0))
"""Before the first memory of anyone."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory that the sweep has not seen yet, as a candidate, with its vector and the older ones near it."""

    known: Known
    candidate: Candidate
    vector: Vector | None
    near: Sequence[Known]


@dataclass(frozen=True, slots=True)
class Swept:
    """What one run has found, ready to be written if the user's mark has not moved."""

    tenant_id: str
    user_id: str
    old: Mark
    new: Mark
    compared: int
    merges: Sequence[Merge]

    @property
    def more(self) -> bool:
        """Whether there may be more that is new."""
        return self.compared == BATCH

    def write(self, tx: Tx, author: Author) -> Json:
        """Move the mark and merge. Conflict: another run or writer came between."""
        if not self.compared:
            return {"compared": 0}
        counts = changes.apply(tx, self.tenant_id, Owner(self.user_id), self.merges, author)
        _move(tx, self)
        return {"compared": self.compared, **counts}


def sweep(db: Database, tenant_id: str, user_id: str, thresholds: Thresholds) -> Swept:
    """Compare what is new of a user, a batch at the most, with the memories near it; nothing is written yet."""
    with db.tenant(tenant_id) as tx:
        old = _mark(tx, user_id)
        rows = _unseen(tx, user_id, old)
        near = _neighbours(tx, user_id, [row.id for row in rows])
    stored = [_stored(row, near.get(row.id, ())) for row in rows]
    new = Mark(rows[-1].recorded_at, rows[-1].id) if rows else old
    return Swept(tenant_id, user_id, old, new, len(rows), merges(stored, thresholds))


def merges(stored: Sequence[Stored], thresholds: Thresholds = judge.USUAL) -> list[Merge]:
    """Which of the new memories, oldest first, say what an older one says. Each is compared with older ones only."""
    found: list[Merge] = []
    worded: dict[UUID, tuple[Known, Vector | None]] = {}
    gone: set[UUID] = set()
    for one in stored:
        near = [_as_worded(n, one.vector, worded) for n in one.near if n.id not in gone]
        verdict = judge.judge(one.candidate, near, thresholds)
        if verdict.known is None or verdict.kind not in {Kind.CONFIRM, Kind.MERGE}:
            continue
        richer = one.vector if verdict.kind is Kind.MERGE else None
        found.append(Merge(verdict.known, one.candidate, verdict.reason, richer, absorbs=one.known))
        gone.add(one.known.id)
        if richer is not None:
            worded[verdict.known.id] = (replace(verdict.known, content=one.known.content), richer)
    return found


def _as_worded(known: Known, vector: Vector | None, worded: Mapping[UUID, tuple[Known, Vector | None]]) -> Known:
    """An older memory with the wording that this run has given it, and the cosine with that."""
    if known.id not in worded:
        return known
    again, other = worded[known.id]
    return replace(again, similarity=None if vector is None or other is None else float(vector @ other))


def _mark(tx: Tx, user_id: str) -> Mark:
    row = tx.execute(_MARK, {"user": user_id}).one_or_none()
    return Mark(row.recorded_at, row.memory_id) if row else BEGINNING


def _unseen(tx: Tx, user_id: str, mark: Mark) -> list[Any]:
    values = {"user": user_id, "at": mark.recorded_at, "id": mark.memory_id, "limit": BATCH}
    return list(tx.execute(_UNSEEN, values))


def _neighbours(tx: Tx, user_id: str, ids: Sequence[UUID]) -> dict[UUID, list[Known]]:
    found: dict[UUID, dict[UUID, Known]] = {one: {} for one in ids}
    values = {"user": user_id, "ids": list(ids), "refs": [str(one) for one in ids], "limit": memories.NEIGHBOURS + 1}
    for query in (_NEAR, _SAME):
        for row in tx.execute(query, values):
            found[row.asked].setdefault(row.id, memories.known(row))
    return {asked: list(by_id.values()) for asked, by_id in found.items()}


def _stored(row: Any, near: Sequence[Known]) -> Stored:
    candidate = Candidate(
        row.content,
        Category(row.category),
        Topic(row.topic),
        row.subject,
        (),
        row.occurred_at,
        kind=types.Kind(row.kind),
        importance=row.importance,
        confidence=row.confidence,
        attribute=row.attribute,
        value=row.value,
        tags=tuple(row.tags),
        structured=row.structured,
    )
    vector = None if row.vector is None else np.array(row.vector[1:-1].split(","), dtype=np.float32)
    return Stored(memories.known(row), candidate, vector, near)


def _move(tx: Tx, swept: Swept) -> None:
    values = {
        "tenant": swept.tenant_id,
        "user": swept.user_id,
        "old_at": swept.old.recorded_at,
        "old_id": swept.old.memory_id,
        "at": swept.new.recorded_at,
        "id": swept.new.memory_id,
    }
    if tx.execute(_MOVE, values).one_or_none() is None:
        raise Conflict("Another worker has compared this user's memories meanwhile.")


_MARK = text("SELECT recorded_at, memory_id FROM sweeps WHERE user_id = :user")

_UNSEEN = text("""
    SELECT m.*, cast(NULL AS float8) AS similarity, i.embedding::text AS vector FROM memories m
    LEFT JOIN search_index i ON i.type = 'memory' AND i.session_id = '' AND i.ref = m.id::text
    WHERE m.user_id = :user AND m.status = 'active' AND (m.recorded_at, m.id) > (:at, :id)
    ORDER BY m.recorded_at, m.id LIMIT :limit
""")
"""Of one owner, one writer at a time records and commits: what is committed later was recorded later."""

_NEAR = text("""
    WITH asked AS MATERIALIZED (
        SELECT cast(ref AS uuid) AS id, embedding FROM search_index
        WHERE type = 'memory' AND session_id = '' AND ref = ANY(:refs) AND embedding IS NOT NULL
    ), near AS MATERIALIZED (
        SELECT asked.id AS asked, nearest.id, nearest.similarity FROM asked CROSS JOIN LATERAL (
            SELECT cast(i.ref AS uuid) AS id, 1 - (i.embedding <=> asked.embedding) AS similarity
            FROM search_index i
            WHERE i.user_id = :user AND i.type = 'memory' AND i.embedding IS NOT NULL
            ORDER BY i.embedding <=> asked.embedding LIMIT :limit
        ) AS nearest
    )
    SELECT near.asked, m.*, near.similarity FROM near
    JOIN memories a ON a.id = near.asked
    JOIN memories m ON m.id = near.id AND m.status = 'active' AND (m.recorded_at, m.id) < (a.recorded_at, a.id)
""")
"""The nearest older memories of the user by the vectors that are stored. Each is its own nearest: one more is asked."""

_SAME = text("""
    SELECT a.id AS asked, m.*, cast(NULL AS float8) AS similarity FROM memories a
    JOIN memories m ON m.user_id = :user AND m.status = 'active' AND (m.recorded_at, m.id) < (a.recorded_at, a.id)
         AND (m.statement_key = a.statement_key OR (m.subject = a.subject AND m.attribute = a.attribute))
    WHERE a.id = ANY(:ids)
""")

_MOVE = text("""
    INSERT INTO sweeps AS s (tenant_id, user_id, recorded_at, memory_id) VALUES (:tenant, :user, :at, :id)
    ON CONFLICT (tenant_id, user_id) DO UPDATE SET recorded_at = excluded.recorded_at, memory_id = excluded.memory_id
    WHERE s.recorded_at = :old_at AND s.memory_id = :old_id
    RETURNING recorded_at
""")
