"""Scores messages that are not indexed yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import TextClause, text

from core.index.answer_cues import count_names, count_stated_terms, has_question, tells_time
from core.index.bm25 import document_weights, message_terms
from core.index.resident.encoding import ROLES, message_key, seconds
from core.memoize import memoized
from core.memory import field_filters
from core.search.candidates import Hit
from core.sessions import sessions
from core.storage.multiquery import BoundStatement
from core.types import Message

TAIL = 300
"""Newest unindexed messages that a search reads, so that a message is found from its commit on."""

FRESH_CHARACTERS = 20_000
"""Characters of an unindexed message that are read: each search that finds it reads it again."""

READ_ONCE = 1_000
"""Messages whose features are cached for the next query: they wait for seconds."""


@dataclass(frozen=True, slots=True)
class _Features:
    """Features that the index would hold of a message."""

    weights: Mapping[int, float]
    told: int
    timed: bool
    asks: bool
    names: int


def unindexed_query(reader: Mapping[str, Any]) -> BoundStatement:
    """Return the statement that reads the newest of them; for `hits`."""
    narrowing = frozenset(name for name in _NARROWING if reader[name] is not None)
    tail = _tail(narrowing, in_session=reader["session"] is not None, in_group=reader["group"] is not None)
    return tail, {**reader, "tail": TAIL}


def hits(rows: Iterable[Any], query_terms: Mapping[int, float]) -> list[Hit]:
    """Return the messages read as hits, scored by their own words as the index would; those without words are none."""
    return [_hit(sessions.message_of(row), query_terms) for row in rows if row.content.strip()]


def lexical(query_terms: Mapping[int, float], weights: Mapping[int, float]) -> float:
    """Return the lexical score that the index would give a text."""
    return sum(weight * weights.get(term, 0.0) for term, weight in query_terms.items())


def _hit(message: Message, query_terms: Mapping[int, float]) -> Hit:
    features = _features(message.content[:FRESH_CHARACTERS], message.speaker)
    return Hit(
        key=message_key(message.session_id, message.id),
        type="message",
        lexical=lexical(query_terms, features.weights),
        cosine=None,
        session_id=message.session_id,
        position=message.position,
        told=features.told,
        timed=features.timed,
        asks=features.asks,
        names=features.names,
        at=seconds(message.occurred_at),
        role=message.role if message.role in ROLES else ROLES[1],
        speaker=message.speaker or "",
    )


@memoized(READ_ONCE)
def _features(content: str, speaker: str | None) -> _Features:
    weights = document_weights(message_terms(content, speaker))
    return _Features(
        weights, count_stated_terms(content), tells_time(content), has_question(content), count_names(content)
    )


_NARROWING: Mapping[str, str] = {
    "since": "m.occurred_at >= :since",
    "until": "m.occurred_at <= :until",
    "as_of": "m.occurred_at <= :as_of",
    "metadata": field_filters.condition("metadata", "(m.extras -> 'metadata')"),
    "structured": "false",
    "known_at": "EXISTS (SELECT FROM events e WHERE e.seq = m.event_seq AND e.received_at <= :known_at)",
}


@cache
def _tail(narrowing: frozenset[str], *, in_session: bool, in_group: bool) -> TextClause:
    """Leave out unused conditions, which would make the plan worse.

    Sessions are gathered first: of a condition on two columns the planner expects a third of all sessions, where hardly
    any is unindexed, and would read every message of the tenant. Of an array it expects ten elements. Sessions in which
    the user has said nothing are left out at once, unless messages to a group are wanted, too: of those only the
    message itself says to whom it was.
    """
    if in_session:
        condition = " AND id = :session"
    elif in_group:
        condition = ""
    else:
        condition = " AND EXISTS (SELECT FROM participants WHERE session_id = sessions.id AND user_id = :user OFFSET 0)"
    conditions = "".join(f" AND {_NARROWING[name]}" for name in sorted(narrowing))
    return text(f"""
        SELECT m.* FROM (
            SELECT array_agg(id) AS ids, array_agg(indexed_to) AS cursors FROM sessions
            WHERE indexed_to < message_count{condition}) AS a
        CROSS JOIN LATERAL unnest(a.ids, a.cursors) AS s (id, indexed_to)
        JOIN messages m ON m.session_id = s.id AND m.position > s.indexed_to
        WHERE (m.user_id = :user OR m.group_id = :group){conditions}
        ORDER BY m.event_seq DESC LIMIT :tail
    """)
