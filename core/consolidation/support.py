"""Support between memories of different sources that make the same statement.

A statement that is made again in its group, or likewise in private, adds evidence to its memory. Made elsewhere, or by
another member of the group, it is a memory of its own; that one supports the memories which stated it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.memory import identity, memories
from core.memory.changes import Add, Change, Confirm, Link, Owner
from core.storage.db import Tx
from core.types import Candidate, Relation, Trust

MOST: Final = 200
"""Relations of one batch."""


def links(tx: Tx, owner: Owner, decided: Sequence[Change]) -> list[Link]:
    """Relate the memories that these changes add or confirm to those that make the same statement elsewhere."""
    stated = {
        memory_id: change
        for change in decided
        if isinstance(change, Add | Confirm)
        and (memory_id := _stating(change)) is not None
        and change.candidate.trust is not Trust.QUARANTINED
    }
    if not stated:
        return []
    values = {
        "user": owner.user_id,
        "group": owner.group_id,
        "ids": list(stated),
        "keys": [identity.statement_key(c.candidate.subject, c.candidate.content) for c in stated.values()],
        "most": MOST,
    }
    return [
        Link(row.id, Relation.SUPPORTS, row.other, stated[row.id].change_id, _strength(stated[row.id].candidate))
        for row in tx.execute(_ELSEWHERE, values)
    ]


def _stating(change: Add | Confirm) -> UUID | None:
    """Return the memory that a change states or confirms; None: what it states is over."""
    if isinstance(change, Confirm):
        return change.known.id
    return None if change.past else change.id


def _strength(candidate: Candidate) -> float:
    """Return the confidence in a statement as a strength: above 0."""
    return min(1.0, max(0.05, round(candidate.confidence, 4)))


_ELSEWHERE = text(f"""
    SELECT s.id, m.id AS other
    FROM unnest(cast(:ids AS uuid[]), cast(:keys AS text[])) AS s (id, key)
    CROSS JOIN LATERAL (
        SELECT m.id FROM memories m
        WHERE m.user_id = :user AND m.statement_key = s.key AND m.group_id IS DISTINCT FROM cast(:group AS text)
          AND {memories.ACTIVE_SQL}
        UNION
        SELECT m.id FROM memories m
        WHERE m.group_id = :group AND m.statement_key = s.key AND m.user_id <> :user AND {memories.ACTIVE_SQL}
    ) AS m
    WHERE m.id <> s.id
      AND NOT EXISTS (SELECT FROM relations r WHERE r.from_id = s.id AND r.to_id = m.id AND r.relation = 'supports')
    ORDER BY s.id, m.id LIMIT :most
""")
