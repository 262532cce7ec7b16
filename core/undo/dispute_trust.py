"""Trust after an undone dispute.

Disputing a memory that is disputed already leaves its trust unchanged, so the versions of one change do not tell which
trust to revert to: the remaining contradictions do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from core.memory.rows import MemoryRow
from core.storage.db import Tx
from core.types import Json, Relation, Trust
from core.undo.provenance import Provenance

OPEN = frozenset({Trust.CANDIDATE.value, Trust.CONFIRMED.value})
"""Trust that a contradiction takes away, and that comes back with its end."""


@dataclass(frozen=True, slots=True)
class Contradictions:
    """Memories that another one still contradicts, and the earlier trust of those whose dispute has ended."""

    standing: frozenset[UUID]
    settled: Mapping[UUID, str]


def read_contradictions(tx: Tx, ids: Sequence[UUID], chain: Sequence[UUID]) -> Contradictions:
    """Read the contradictions of these memories, except those made by the changes of `chain`."""
    values = {"ids": list(ids), "chain": list(chain)}
    rows = tx.execute(_CONTRADICTED, values).all()
    standing = frozenset(row.id for row in rows if row.others)
    ended = [row.id for row in rows if row.mine and not row.others]
    return Contradictions(standing, {row.memory_id: row.trust for row in tx.execute(_BEFORE, {"ids": ended})})


def with_trust(row: MemoryRow, fields: Json, contradictions: Contradictions, given: Provenance) -> Json:
    """Return the reverted fields with the trust that remaining contradictions leave.

    `given`: relations restored by the undo.
    """
    comes_back = any(
        relation["relation"] == Relation.CONTRADICTS and str(row.id) in (relation["from_id"], relation["to_id"])
        for relation in given.relations
    )
    then = fields.get("trust", row.trust)
    if then in OPEN and (comes_back or (row.trust == Trust.DISPUTED and row.id in contradictions.standing)):
        return fields | {"trust": Trust.DISPUTED.value}
    if then == Trust.DISPUTED and not comes_back and row.id in contradictions.settled:
        return fields | {"trust": contradictions.settled[row.id]}
    return fields


_CONTRADICTED = text("""
    SELECT ends.id, bool_or(r.change_id = ANY(:chain)) AS mine,
           bool_or(r.change_id IS NULL OR r.change_id <> ALL(:chain)) AS others
    FROM unnest(cast(:ids AS uuid[])) AS ends (id)
    JOIN relations r ON r.relation = 'contradicts' AND (r.from_id = ends.id OR r.to_id = ends.id)
    GROUP BY ends.id
""")

_BEFORE = text("""
    SELECT last.memory_id, last.trust FROM (
        SELECT DISTINCT ON (v.memory_id) v.memory_id, v.change_id, p.snapshot ->> 'trust' AS trust
        FROM memory_versions v JOIN memory_versions p ON p.memory_id = v.memory_id AND p.version = v.version - 1
        WHERE v.memory_id = ANY(:ids) AND v.snapshot ->> 'trust' = 'disputed' AND p.snapshot ->> 'trust' <> 'disputed'
        ORDER BY v.memory_id, v.version DESC
    ) AS last
    JOIN verdicts d ON d.id = last.change_id AND d.kind = 'contradict' AND d.undone_by IS NOT NULL
""")
"""Trust of each memory before its last dispute, if that dispute has been undone."""
