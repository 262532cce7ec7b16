"""Lineage of a memory: the memories that it replaced, absorbed or was derived from, and those that did so to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text

from core.memory import memories
from core.storage.db import Tx
from core.types import Json, Relation

MOST: Final = 200
"""Relatives of a memory that are listed, the latest ones."""

Role = Literal[
    "supersedes",
    "superseded_by",
    "may_supersede",
    "may_be_superseded_by",
    "merged_from",
    "merged_into",
    "derived_from",
    "source_of",
]

_ROLES: Final[dict[tuple[str, bool, bool], Role]] = {
    (Relation.SUPERSEDES, True, False): "supersedes",
    (Relation.SUPERSEDES, False, False): "superseded_by",
    (Relation.MAY_SUPERSEDE, True, False): "may_supersede",
    (Relation.MAY_SUPERSEDE, False, False): "may_be_superseded_by",
    (Relation.DERIVED_FROM, True, True): "merged_from",
    (Relation.DERIVED_FROM, False, True): "merged_into",
    (Relation.DERIVED_FROM, True, False): "derived_from",
    (Relation.DERIVED_FROM, False, False): "source_of",
}
"""Role of the other memory by relation, whether the relation begins at this memory, and whether a merge made it."""


@dataclass(frozen=True, slots=True)
class MemoryRelative:
    """Another memory, what it is to this one, and the change that made it so."""

    role: Role
    row: Any
    at: datetime
    change_id: UUID | None
    change: str | None
    reason: str | None
    author: Json | None


def of_memory(tx: Tx, memory_id: UUID) -> Sequence[MemoryRelative]:
    """Return the relatives of a memory, latest first. NotFound: there is no such memory."""
    memories.get(tx, memory_id)
    values = {"id": memory_id, "relations": sorted({relation for relation, *_ in _ROLES}), "most": MOST}
    relatives = tx.execute(_RELATIVES, values).all()
    rows = memories.of_ids(tx, [row.other_id for row in relatives])
    return [
        MemoryRelative(
            role=_ROLES[row.relation, row.begins_here, row.relation == Relation.DERIVED_FROM and row.change == "merge"],
            row=rows[row.other_id],
            at=row.at,
            change_id=row.change_id,
            change=row.change,
            reason=row.reason,
            author=row.author,
        )
        for row in relatives
        if row.other_id in rows  # Others are not for this reader.
    ]


_RELATIVES = text("""
    SELECT r.*, v.change, v.reason, v.author FROM (
        (SELECT relation, to_id AS other_id, to_id AS older_id, true AS begins_here, at, change_id FROM relations
         WHERE from_id = :id AND relation = ANY(:relations) ORDER BY at DESC LIMIT :most)
        UNION ALL
        (SELECT relation, from_id, to_id, false, at, change_id FROM relations
         WHERE to_id = :id AND relation = ANY(:relations) ORDER BY at DESC LIMIT :most)
    ) AS r
    LEFT JOIN LATERAL (
        SELECT v.change, v.reason, v.author FROM memory_versions v
        WHERE v.change_id = r.change_id AND v.memory_id IN (r.older_id, r.other_id, :id)
        ORDER BY v.memory_id = r.older_id DESC, v.version DESC LIMIT 1
    ) AS v ON true
    ORDER BY r.at DESC, r.other_id LIMIT :most
""")
"""With the version of the older memory that the change made: it says what was done to it, and why."""
