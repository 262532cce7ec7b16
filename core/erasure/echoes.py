"""Erases echoes of a user: sentences of the assistant in conversations with other people.

A sentence is an echo if it names the user, or if it belongs to the reply to a message of theirs and shares a word with
that message. What other people said stays, as their own words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import text

from core.erasure import passages
from core.erasure.passages import Place
from core.language.common_words import PLAIN
from core.language.sentences import split
from core.language.terms import STOPWORDS, terms
from core.statements.redaction import Spot
from core.storage.db import Tx

SHORTEST_NAME: Final = 2
"""Characters of a name that is looked for."""


def erase(tx: Tx, tenant_id: str, user_id: str, shared: Sequence[str], owners: Sequence[str]) -> Counter[str]:
    """Erase the echoes of a user from conversations with others, before their own messages go.

    `shared`: these sessions; `owners`: the users whose memories may cite them.
    """
    names = _names(tx, user_id, shared)
    spots: dict[Place, list[Spot]] = {}
    contents: dict[Place, str] = {}
    for reply in tx.execute(_REPLIES, {"user": user_id, "shared": list(shared), "names": names}):
        message = reply.session_id, reply.id
        spots[message], contents[message] = list(_echoes(reply.content, names, reply.answered or "")), reply.content
    pieces = {contents[message][start:end] for message, echoes in spots.items() for start, end in echoes}
    counts, _ = passages.erase(tx, tenant_id, spots, contents, sorted(pieces, key=len, reverse=True), owners)
    return counts


def _names(tx: Tx, user_id: str, shared: Sequence[str]) -> list[str]:
    """Return how others call a user: by their id, by the names under which they spoke, and by the first of these."""
    spoken = tx.execute(_SPEAKERS, {"user": user_id, "shared": list(shared)}).scalars().all()
    names = {user_id, *(name for speaker in spoken for name in (speaker.strip(), *speaker.split()[:1]))}
    return sorted(name.lower() for name in names if len(name) >= SHORTEST_NAME)


def _echoes(reply: str, names: Sequence[str], answered: str) -> Iterator[Spot]:
    """Yield the places of the sentences that name the user or repeat a word of what was answered."""
    words = frozenset(term for term in terms(answered) if term not in STOPWORDS and term not in PLAIN)
    called = {term for name in names for term in terms(name)}
    at = 0
    for sentence in split(reply):
        start = reply.find(sentence, at)
        if start < 0:
            continue
        at = start + len(sentence)
        own = terms(sentence)
        if words.intersection(own) or (called.intersection(own) and any(name in sentence.lower() for name in names)):
            yield start, at


_SPEAKERS = text("""
    SELECT DISTINCT speaker FROM messages
    WHERE session_id = ANY(:shared) AND user_id = :user AND coalesce(speaker, '') <> ''
""")

_REPLIES = text("""
    SELECT m.session_id, m.id, m.content, answered.content AS answered
    FROM messages m LEFT JOIN messages answered
      ON answered.session_id = m.session_id AND answered.position = m.position - 1 AND answered.user_id = :user
    WHERE m.session_id = ANY(:shared) AND m.user_id <> :user AND m.role <> 'user' AND m.content NOT IN ('', '[erased]')
      AND (answered.id IS NOT NULL
           OR EXISTS (SELECT FROM unnest(cast(:names AS text[])) AS name WHERE strpos(lower(m.content), name) > 0))
    ORDER BY m.session_id, m.position
""")
"""Messages of no person that follow a message of the user or may name them, and the message that each follows."""
