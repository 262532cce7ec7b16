"""Reads memories: by id, neighbours, evidence, history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from core.memory import identity, nearest_vectors, receipts
from core.memory.rows import KnownRow, MemoryRow
from core.statements import succession
from core.storage.db import Tx
from core.types import Candidate, Category, Evidence, Json, Kind, Topic, Trust

ACTIVE_SQL = """
    m.status = 'active' AND m.trust NOT IN ('rejected', 'quarantined')
    AND (m.expires_at IS NULL OR m.expires_at > now())
"""
"""Condition that a row `m` of `memories` is active, trusted and not expired."""

ANYWHERE: Final[Json] = {"group": None, "labels": [], "anywhere": True}
"""Memories of a user from any group or none, whatever their labels."""

NEIGHBOURS = 5
"""Nearest memories by vector that a candidate is compared with; a sixth has never changed a verdict's kind."""

CROWD = 64
"""Factor by which the search is widened, at most, while too few of the nearest memories are of the place asked for."""


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """One version of a memory: what changed, why, by whom."""

    version: int
    change: str
    reason: str
    author: Json
    snapshot: Json
    dispatch_id: UUID | None
    at: datetime
    change_id: UUID | None = None


def get(tx: Tx, memory_id: UUID) -> MemoryRow:
    """Return the row of one memory. NotFound: there is none in this tenant, or it was erased."""
    row = tx.execute(text("SELECT * FROM memories WHERE id = :id"), {"id": memory_id}).one_or_none()
    if row is None:
        raise receipts.absent(tx, memory_id)
    return row


def of_ids(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, MemoryRow]:
    """Return rows by id; ids without a row are left out."""
    return {row.id: row for row in tx.execute(OF_IDS, {"ids": list(ids)})}


def evidence(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
    """Return the evidence of each memory, oldest first."""
    return evidence_by_memory(tx.execute(EVIDENCE, {"ids": list(ids)}))


def expired_evidence(tx: Tx, memory_id: UUID) -> set[tuple[str, str]]:
    """Return the messages that a memory cites and that have left by retention: session and id."""
    return {(row.session_id, row.message_id) for row in tx.execute(_EXPIRED, {"id": memory_id})}


def evidence_by_memory(rows: Iterable[Any]) -> dict[UUID, list[Evidence]]:
    """Group rows of evidence by memory."""
    by_memory: defaultdict[UUID, list[Evidence]] = defaultdict(list)
    for row in rows:
        by_memory[row.memory_id].append(Evidence(row.session_id, row.message_id, row.event_id, row.quote))
    return by_memory


def history(tx: Tx, memory_id: UUID) -> list[MemoryVersion]:
    """Return every version of a memory, oldest first."""
    return [MemoryVersion(*row) for row in tx.execute(_HISTORY, {"id": memory_id})]


def versions_by_dispatch(tx: Tx, dispatch_ids: Sequence[UUID]) -> list[Any]:
    """Return the versions that these dispatches wrote, with the statement of each."""
    return list(tx.execute(_MADE_BY, {"ids": list(dispatch_ids)}))


def count(tx: Tx, user_id: str) -> int:
    """Count the active memories of a user."""
    return int(tx.execute(_COUNT, {"user": user_id}).scalar_one())


def nearest_active(
    tx: Tx, user_id: str, vectors: NDArray[np.float32], limit: int, audience: Json = ANYWHERE
) -> tuple[list[nearest_vectors.Near], dict[UUID, KnownRow]]:
    """Return the `limit` nearest active memories of each vector, and their rows for `known_of`.

    `audience`: the group in which they were said, and to whom. Those of others, and expired ones, may crowd out the
    ones asked for: if too few of the nearest remain, the search is widened.
    """
    near: list[nearest_vectors.Near] = [[] for _ in vectors]
    rows: dict[UUID, KnownRow] = {}
    pending, reach = list(range(len(vectors))), limit
    while pending:
        nearest = nearest_vectors.nearest(tx, user_id, vectors[pending], reach, active=True)
        by_index = dict(zip(pending, nearest, strict=True))
        ids = {memory_id for ones in by_index.values() for memory_id, _ in ones} - rows.keys()
        rows |= {row.id: row for row in tx.execute(_STANDING, {"ids": list(ids), **audience})}
        for at, ones in by_index.items():
            near[at] = [(memory_id, cosine) for memory_id, cosine in ones if memory_id in rows][:limit]
        crowded = [at for at, ones in by_index.items() if len(near[at]) < limit and len(ones) == reach]
        pending, reach = crowded if reach < limit * CROWD else [], reach * 4
    return near, rows


def now() -> datetime:
    """Return the current time, for rows that do not take the database's."""
    return datetime.now(UTC)


def snapshot(row: MemoryRow) -> Json:
    """Return a memory's row as JSON for its history, without what follows from the rest."""
    columns = row._asdict()  # noqa: SLF001 - public, in spite of its name
    return {name: plain(value) for name, value in columns.items() if not name.startswith(_FOLLOWING)}


def plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def known_of(row: KnownRow, similarity: float | None = None) -> identity.KnownMemory:
    """Convert a row for comparison, with its cosine to the candidate."""
    return identity.KnownMemory(
        row.id,
        row.version,
        row.content,
        row.subject,
        row.attribute,
        row.value,
        row.occurred_at,
        similarity,
        _CATEGORIES[row.category],
        row.said_at,
        row.valid_from,
        succession.gathered_list(row.structured) if row.structured else None,
    )


def candidate_of(row: MemoryRow, evidence: Sequence[Evidence] = ()) -> Candidate:
    """Convert a row and its evidence to a candidate."""
    return Candidate(
        row.content,
        Category(row.category),
        Topic(row.topic),
        row.subject,
        tuple(evidence),
        row.occurred_at,
        said_at=row.said_at,
        kind=Kind(row.kind),
        importance=row.importance,
        confidence=row.confidence,
        attribute=row.attribute,
        value=row.value,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        tags=tuple(row.tags),
        audience_labels=tuple(row.audience_labels),
        structured=row.structured,
        trust=Trust(row.trust),
        pinned=row.pinned,
        expires_at=row.expires_at,
        half_life_days=row.half_life_days,
    )


_FOLLOWING: Final = ("fade_", "id_tail", "features")
"""Beginnings of names of columns that follow from the others."""

_CATEGORIES = {str(category): category for category in Category}

OF_IDS = text("SELECT * FROM memories WHERE id = ANY(:ids)")

EVIDENCE = text("SELECT * FROM evidence WHERE memory_id = ANY(:ids) ORDER BY memory_id, at, event_id")

_EXPIRED = text("SELECT session_id, message_id FROM evidence WHERE memory_id = :id AND expired")

_HISTORY = text(f"""
    SELECT {", ".join(MemoryVersion.__slots__)} FROM memory_versions WHERE memory_id = :id ORDER BY version
""")

_MADE_BY = text("""
    SELECT v.*, m.content, m.user_id FROM memory_versions v
    JOIN memories m ON m.tenant_id = v.tenant_id AND m.id = v.memory_id
    WHERE v.dispatch_id = ANY(:ids) ORDER BY v.at
""")

_COUNT = text(f"SELECT count(*) FROM memories m WHERE m.user_id = :user AND {ACTIVE_SQL}")

KNOWN = (
    "m.id, m.version, m.content, m.subject, m.attribute, m.value, m.occurred_at, m.category, m.said_at, m.valid_from, "
    "nullif(m.structured, '{}') AS structured, m.features"
)
"""Columns of a row `m` of `memories` that `known_of` reads. NULL takes no time to parse."""

PLACE_SQL = """(:anywhere OR ((cast(:group AS text) IS NULL AND m.group_id IS NULL OR m.group_id = cast(:group AS text))
              AND m.audience_labels = cast(:labels AS text[])))"""
"""Condition that a row `m` was said in this group and to this audience, or `:anywhere`.

Not `IS NOT DISTINCT FROM`, of which PostgreSQL expects one row in 200, and sorts all memories of a user."""

_STANDING = text(f"""
    SELECT m.* FROM unnest(cast(:ids AS uuid[])) AS asked (id) CROSS JOIN LATERAL (
        SELECT {KNOWN} FROM memories m WHERE m.id = asked.id AND {ACTIVE_SQL} AND {PLACE_SQL} OFFSET 0) AS m
""")
"""By the primary key, one by one: with `ANY` of so many ids, planning takes twice as long as reading."""
