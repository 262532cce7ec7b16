"""Sentences of earlier messages that were not worth keeping, near to new statements that may end them.

A sentence that says what one does on Thursdays seems to matter little, until a later one says that it is Mondays now.
As tentative candidates such sentences are judged with the new statements, and stored only if these end them: as what
was true, so that their messages count as outdated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import Final

from sqlalchemy import text

from core.consolidation import endings
from core.consolidation.pipeline import Consolidation, Unkept
from core.extraction import rule_extractor
from core.index.vector_notation import vector_of
from core.memory.changes import Owner
from core.sessions import sessions, speaker_clocks
from core.statements import redaction
from core.storage.db import message_places
from core.types import Candidate, Json, Message

LIKELY: Final = 0.0
"""Log-odds of ending anything from which what was not kept is looked for: it costs more than to read what is known."""

NEAREST: Final = 3
"""Earlier messages of the user that are read for each message that is so likely to end something."""

RECENT: Final = 300
SCANNED: Final = 2_000
"""Sessions and messages of an owner, the newest, among which they are looked for."""

MOST: Final = 12
"""Tentative candidates of an owner for one reading of a session, those said last."""

NOTHING: Final = Unkept()


def near(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    fresh: Sequence[Message],
) -> Unkept:
    """Return the tentative candidates for those candidates that may end something, oldest first.

    They were said before these messages, in the same group and to the same audience, and have the vectors of their
    messages. No transaction is open while the reader runs.
    """
    unrelated = [candidate for candidate in candidates if candidate.relations is None]
    if consolidation.reader is None or not unrelated:
        return NOTHING
    ending = endings.may_end(consolidation.reader, list(dict.fromkeys(c.content for c in unrelated)))
    likely = [candidate for candidate in unrelated if ending.get(candidate.content, -inf) >= LIKELY]
    places = {(evidence.session_id, evidence.message_id) for candidate in likely for evidence in candidate.evidence}
    if not places:
        return Unkept(ending=ending)
    values: Json = {"user": owner.user_id, "group": owner.group_id, "session": fresh[0].session_id}
    values |= {"recent": RECENT, "scanned": SCANNED, "most": NEAREST, "fresh": [message.id for message in fresh]}
    values |= {"dimension": consolidation.embedder.dimension, **message_places(sorted(places))}
    with consolidation.db.tenant(tenant_id) as tx:
        rows = tx.execute(_NEAR, values).all()
        messages = speaker_clocks.of_messages(tx, [sessions.message_of(row) for row in rows])
    tentative = [
        (candidate, row.vector)
        for row, message in zip(rows, messages, strict=True)
        for candidate in _of_message(message, row.quotes)
    ]
    chosen = sorted(tentative, key=lambda pair: pair[0].told_at)[-MOST:]
    return Unkept(
        [candidate for candidate, _ in chosen],
        {candidate.content: vector_of(vector) for candidate, vector in chosen},
        ending,
    )


def _of_message(message: Message, quotes: Sequence[str]) -> Iterator[Candidate]:
    """Yield the sentences of a message that no memory quotes; none if one cites it without a quote."""
    message = replace(message, content=redaction.without_marks(message.content))
    for candidate in rule_extractor.undecided(message):
        sentence = candidate.evidence[0].quote or ""
        if not any(sentence in quote or quote in sentence for quote in quotes):
            labels = tuple(sorted(message.audience_labels))
            yield replace(candidate, said_at=message.occurred_at, audience_labels=labels, tentative=True)


_NEAR: Final = text("""
    WITH told AS (
        SELECT i.session_id, i.ref, i.occurred_at, i.embedding, m.audience_labels
        FROM search_index i JOIN messages m ON m.session_id = i.session_id AND m.id = i.ref
        WHERE i.type = 'message' AND vector_dims(i.embedding) = :dimension AND (i.session_id, i.ref) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
    ), recent AS MATERIALIZED (
        SELECT id, extracted_to FROM sessions WHERE user_id = :user OR group_id = :group
        ORDER BY last_at DESC LIMIT :recent
    ), earlier AS MATERIALIZED (
        SELECT m.session_id, m.id, m.occurred_at, m.audience_labels, i.embedding
        FROM recent s JOIN messages m ON m.session_id = s.id AND m.position <= s.extracted_to
             AND m.role = 'user' AND m.user_id = :user AND m.group_id IS NOT DISTINCT FROM :group
        JOIN search_index i ON i.type = 'message' AND i.session_id = m.session_id AND i.ref = m.id
             AND vector_dims(i.embedding) = :dimension
        WHERE NOT (m.session_id = :session AND m.id = ANY(:fresh)) AND NOT EXISTS (
            SELECT FROM hidden_messages h WHERE h.session_id = m.session_id AND h.message_id = m.id)
        ORDER BY m.occurred_at DESC LIMIT :scanned
    ), beside AS (
        SELECT DISTINCT near.session_id, near.id, cast(near.embedding AS text) AS vector
        FROM told CROSS JOIN LATERAL (
            SELECT e.session_id, e.id, e.embedding FROM earlier e
            WHERE e.occurred_at < told.occurred_at AND e.audience_labels = told.audience_labels
            ORDER BY e.embedding <=> told.embedding LIMIT :most
        ) AS near
    )
    SELECT m.*, beside.vector, ARRAY(
        SELECT e.quote FROM evidence e JOIN memories s ON s.id = e.memory_id AND s.level = 0 AND s.category <> 'episode'
        WHERE e.session_id = m.session_id AND e.message_id = m.id) AS quotes
    FROM beside JOIN messages m ON m.session_id = beside.session_id AND m.id = beside.id
""")
"""An episode quotes whole messages, and its sentences are no less unkept for that."""
