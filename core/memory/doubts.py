"""Memories that a later one may have ended, and messages whose statements it may have ended, or a part of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx, message_places
from core.storage.multiquery import BoundStatement
from core.types import Relation, Status, Trust


@dataclass(frozen=True, slots=True)
class Doubts:
    """Doubted memories by id, and the messages that they rest on as (session, message).

    `superseded`: characters of each message that superseded memories quote.
    """

    memories: Collection[UUID] = frozenset()
    messages: Collection[tuple[str, str]] = frozenset()
    superseded: Mapping[tuple[str, str], int] = field(default_factory=dict)


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
        frozenset((row.session_id, row.message_id) for row in doubted if row.session_id and row.quoted is None),
        {(row.session_id, row.message_id): row.quoted for row in doubted if row.quoted is not None},
    )


_IS_DOUBTED = f"""EXISTS (
    SELECT FROM relations r WHERE r.to_id = m.id AND r.relation = '{Relation.MAY_SUPERSEDE}' AND EXISTS (
        SELECT FROM memories n WHERE n.id = r.from_id AND n.trust NOT IN ('{Trust.REJECTED}', '{Trust.QUARANTINED}')
        AND coalesce(n.said_at, n.occurred_at) >= coalesce(m.said_at, m.occurred_at) OFFSET 0)
    {{}} OFFSET 0)
"""
"""Whether the later memory holds still does not matter: what it may have ended has not begun again.

Said again after it, a memory is doubted no more.
"""

_ELSEWHERE = """AND NOT EXISTS (
    SELECT FROM evidence o WHERE o.memory_id = r.from_id AND o.session_id = m.session_id
    AND o.message_id = m.message_id OFFSET 0)
"""

_DOUBTED = text(f"""
    WITH spoken AS MATERIALIZED (
        SELECT w.session_id, w.message_id, e.quote, m.id, m.status, m.said_at, m.occurred_at,
               m.level = 0 AND m.category <> 'episode' AS is_told
        FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS w (session_id, message_id)
        CROSS JOIN LATERAL (
            SELECT memory_id, quote FROM evidence
            WHERE session_id = w.session_id AND message_id = w.message_id OFFSET 0
        ) AS e
        CROSS JOIN LATERAL (SELECT * FROM memories WHERE id = e.memory_id OFFSET 0) AS m
    )
    SELECT m.id AS memory_id, NULL AS session_id, NULL AS message_id, cast(NULL AS bigint) AS quoted
    FROM memories m WHERE m.id = ANY(:ids) AND m.status = '{Status.ACTIVE}' AND {_IS_DOUBTED.format("")}
    UNION
    SELECT m.id, m.session_id, m.message_id, NULL FROM spoken m
    WHERE m.status = '{Status.ACTIVE}' AND ({_IS_DOUBTED.format(_ELSEWHERE)} OR EXISTS (
        SELECT FROM relations r WHERE r.to_id = m.id AND r.relation = '{Relation.SUPERSEDES_PART}' OFFSET 0))
    UNION
    SELECT NULL, session_id, message_id, cast(sum(length(quote)) AS bigint) FROM (
        SELECT DISTINCT session_id, message_id, quote FROM spoken WHERE status = '{Status.SUPERSEDED}' AND is_told
    ) AS quoted GROUP BY session_id, message_id
""")
"""A memory of which a part was superseded says what remains; the messages that it rests on say the whole.

`OFFSET 0` keeps each look-up by key: a plan that knows no values would read all memories instead.
"""
