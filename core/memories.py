"""Reading memories: by id, near a candidate, with their evidence. Nothing here writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from core import judge
from core.db import Tx
from core.errors import NotFound
from core.search.index import vector_literal
from core.types import Candidate, Category, Evidence, Json

NEIGHBOURS = 5
"""Nearest memories by vector that a candidate is judged against; a sixth has never changed a verdict's kind."""


@dataclass(frozen=True, slots=True)
class Version:
    """One step of a memory's history: what changed, why, by whom."""

    version: int
    change: str
    reason: str
    author: Json
    snapshot: Json
    dispatch_id: UUID | None
    at: datetime


def get(tx: Tx, memory_id: UUID) -> Any:
    """The row of one memory; NotFound if there is none in this tenant."""
    row = tx.execute(text("SELECT * FROM memories WHERE id = :id"), {"id": memory_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no memory {memory_id} in this tenant.")
    return row


def of_ids(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, Any]:
    """Rows by id; ids that are not there are left out."""
    rows = tx.execute(text("SELECT * FROM memories WHERE id = ANY(:ids)"), {"ids": list(ids)})
    return {row.id: row for row in rows}


def evidence(tx: Tx, ids: Sequence[UUID]) -> dict[UUID, list[Evidence]]:
    """What each memory rests on, oldest first."""
    found: defaultdict[UUID, list[Evidence]] = defaultdict(list)
    for row in tx.execute(_EVIDENCE, {"ids": list(ids)}):
        found[row.memory_id].append(Evidence(row.session_id, row.message_id, row.event_id, row.quote))
    return found


def history(tx: Tx, memory_id: UUID) -> list[Version]:
    """Every version, oldest first."""
    rows = tx.execute(_HISTORY, {"id": memory_id})
    return [Version(r.version, r.change, r.reason, r.author, r.snapshot, r.dispatch_id, r.at) for r in rows]


def made_by(tx: Tx, dispatch_ids: Sequence[UUID]) -> list[Any]:
    """Versions that these dispatches wrote, with the statement of each."""
    return list(tx.execute(_MADE_BY, {"ids": list(dispatch_ids)}))


def count(tx: Tx, user_id: str) -> int:
    """Active memories of a user."""
    return int(tx.execute(_COUNT, {"user": user_id}).scalar_one())


def neighbours(
    tx: Tx, user_id: str, candidates: Sequence[Candidate], vectors: NDArray[np.float32]
) -> list[list[judge.Known]]:
    """For each candidate the active memories it must be judged against: same statement, same slot, nearest vectors."""
    found: list[dict[UUID, judge.Known]] = [{} for _ in candidates]
    same = {
        "user": user_id,
        "keys": [judge.statement_key(c.subject, c.content) for c in candidates],
        "subjects": [c.subject for c in candidates],
        "attributes": [c.attribute for c in candidates],
    }
    near = {"user": user_id, "vectors": [vector_literal(v) for v in vectors], "limit": NEIGHBOURS}
    for query, values in ((_NEAR, near), (_SAME, same)):
        for row in tx.execute(query, values):
            found[row.place - 1].setdefault(row.id, known(row))
    return [list(by_id.values()) for by_id in found]


def snapshot(row: Any) -> Json:
    """A memory's row as JSON, for its history; without how it fades, which follows from the rest."""
    return {name: _plain(value) for name, value in row._mapping.items() if not name.startswith("fade_")}


def _plain(value: object) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value) if isinstance(value, UUID) else value


def known(row: Any) -> judge.Known:
    """A row with its `similarity`, as the judge sees it."""
    return judge.Known(
        row.id,
        row.version,
        row.content,
        row.subject,
        row.attribute,
        row.value,
        row.occurred_at,
        row.similarity,
        Category(row.category),
    )


_EVIDENCE = text("SELECT * FROM evidence WHERE memory_id = ANY(:ids) ORDER BY memory_id, at, event_id")

_HISTORY = text("SELECT * FROM memory_versions WHERE memory_id = :id ORDER BY version")

_MADE_BY = text("""
    SELECT v.*, m.content, m.user_id FROM memory_versions v
    JOIN memories m ON m.tenant_id = v.tenant_id AND m.id = v.memory_id
    WHERE v.dispatch_id = ANY(:ids) ORDER BY v.at
""")

_COUNT = text("""
    SELECT count(*) FROM memories
    WHERE user_id = :user AND status = 'active' AND (expires_at IS NULL OR expires_at > now())
""")

_SAME = text("""
    SELECT c.place, m.*, cast(NULL AS float8) AS similarity
    FROM unnest(cast(:keys AS text[]), cast(:subjects AS text[]), cast(:attributes AS text[]))
         WITH ORDINALITY AS c (key, subject, attribute, place)
    JOIN memories m ON m.user_id = :user AND m.status = 'active' AND (m.expires_at IS NULL OR m.expires_at > now())
         AND (m.statement_key = c.key OR (m.subject = c.subject AND m.attribute = c.attribute))
""")
"""Active memories that say the same, or fill the same slot, as each candidate."""

_NEAR = text("""
    WITH asked AS MATERIALIZED (
        SELECT place, cast(vector AS halfvec) AS vector
        FROM unnest(cast(:vectors AS text[])) WITH ORDINALITY AS v (vector, place)
    ), near AS MATERIALIZED (
        SELECT asked.place, nearest.id, nearest.similarity FROM asked CROSS JOIN LATERAL (
            SELECT cast(i.ref AS uuid) AS id, 1 - (i.embedding <=> asked.vector) AS similarity
            FROM search_index i
            WHERE i.user_id = :user AND i.type = 'memory' AND i.embedding IS NOT NULL
            ORDER BY i.embedding <=> asked.vector LIMIT :limit
        ) AS nearest
    )
    SELECT near.place, m.*, near.similarity FROM near
    JOIN memories m ON m.id = near.id AND m.status = 'active' AND (m.expires_at IS NULL OR m.expires_at > now())
""")
"""The nearest memories of the user to each candidate's vector, by an exact scan over that user's rows.

Materialized, for on a table without statistics the planner would scan anew for each memory, and parse each vector
anew for each row.
"""
