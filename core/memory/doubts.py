"""Memories that a later one may have ended, and messages whose statements it may have ended, or a part of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx, message_places
from core.storage.multiquery import BoundStatement
from core.types import Relation, Status, Trust


@dataclass(frozen=True, slots=True)
class Doubts:
    """Doubted memories by id, and the messages that they rest on as (session, message)."""

    memories: Collection[UUID] = frozenset()
    messages: Collection[tuple[str, str]] = frozenset()


NONE = Doubts()


def of_memories(tx: Tx, ids: Sequence[UUID]) -> Collection[UUID]:
    """Return those of some memories that are doubted."""
    return of(tx.execute(*statement(ids))).memories if ids else NONE.memories


def statement(ids: Sequence[UUID], messages: Sequence[tuple[str, str]] = ()) -> BoundStatement:
    """Return the statement that finds what is doubted of memories and messages, for `of`."""
    return _DOUBTED, {"ids": list(ids), **message_places(messages)}


def of(rows: Iterable[Any]) -> Doubts:
    doubted = list(rows)
    return Doubts(
        frozenset(row.memory_id for row in doubted if row.session_id is None),
        frozenset((row.session_id, row.message_id) for row in doubted if row.session_id is not None),
    )


_LATER = f"""
    JOIN memories n ON n.id = r.from_id AND n.status = '{Status.ACTIVE}'
         AND n.trust NOT IN ('{Trust.REJECTED}', '{Trust.QUARANTINED}')
         AND coalesce(n.said_at, n.occurred_at) >= coalesce(m.said_at, m.occurred_at)
"""
"""Said again after the memory that doubts it, a memory is doubted no more."""

_DOUBTED = text(f"""
    SELECT m.id AS memory_id, NULL AS session_id, NULL AS message_id
    FROM memories m JOIN relations r ON r.to_id = m.id AND r.relation = '{Relation.MAY_SUPERSEDE}' {_LATER}
    WHERE m.id = ANY(:ids) AND m.status = '{Status.ACTIVE}'
    UNION
    SELECT m.id, e.session_id, e.message_id
    FROM evidence e JOIN memories m ON m.id = e.memory_id AND m.status = '{Status.ACTIVE}'
    JOIN relations r ON r.to_id = m.id
         AND r.relation IN ('{Relation.MAY_SUPERSEDE}', '{Relation.SUPERSEDES_PART}') {_LATER}
    WHERE (e.session_id, e.message_id) IN (
        SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")
"""A memory of which a part was superseded says what remains; the messages that it rests on say the whole."""
