"""Sentences of earlier messages that were not worth keeping, near to new statements that may end them.

A sentence that says what one does on Thursdays seems to matter little, until a later one says that it is Mondays now.
As tentative candidates such sentences are judged with the new statements, and stored only if these end them: as what
was true, so that their messages count as outdated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlalchemy import text

from core.consolidation import endings
from core.consolidation.pipeline import Consolidation
from core.extraction import rule_extractor
from core.memory.changes import Owner
from core.sessions import sessions, speaker_clocks
from core.statements import redaction
from core.storage.db import message_places
from core.types import Candidate, Json, Message

NEAREST: Final = 4
"""Earlier messages of the user that are read for each message that may end anything."""

AROUND: Final = 12
"""Nearest messages of the conversations, also of assistants, among which those are."""

SCANNED: Final = 5_000
"""Messages of an owner, the newest, among which they are looked for."""

MOST: Final = 40
"""Tentative candidates of an owner for one reading of a session."""


def near(
    consolidation: Consolidation,
    tenant_id: str,
    owner: Owner,
    candidates: Sequence[Candidate],
    fresh: Sequence[Message],
) -> list[Candidate]:
    """Return the tentative candidates for those candidates that may end something, oldest first.

    They were said before these messages, in the same group and to the same audience. No transaction is open while the
    reader runs.
    """
    unrelated = [candidate for candidate in candidates if candidate.relations is None and candidate.evidence]
    if consolidation.reader is None or not unrelated:
        return []
    ending = endings.may_end(consolidation.reader, list(dict.fromkeys(c.content for c in unrelated)))
    places = {(e.session_id, e.message_id) for c in unrelated if c.content in ending for e in c.evidence}
    if not places:
        return []
    with consolidation.db.tenant(tenant_id) as tx:
        values: Json = {"user": owner.user_id, "group": owner.group_id, "session": fresh[0].session_id}
        values |= {"scanned": SCANNED, "around": AROUND, "most": NEAREST, "fresh": [message.id for message in fresh]}
        rows = tx.execute(_NEAR, {**values, **message_places(sorted(places))}).all()
        messages = speaker_clocks.of_messages(tx, [sessions.message_of(row) for row in rows])
    quoted = {(row.session_id, row.id): row.quotes for row in rows}
    tentative = [
        candidate for message in messages for candidate in _of_message(message, quoted[message.session_id, message.id])
    ]
    return sorted(tentative, key=lambda candidate: candidate.told_at)[-MOST:]


def _of_message(message: Message, quotes: Sequence[str]) -> Iterator[Candidate]:
    """Yield the sentences of a message that no memory quotes."""
    message = replace(message, content=redaction.without_marks(message.content))
    for candidate in rule_extractor.undecided(message):
        sentence = candidate.evidence[0].quote or ""
        if not any(sentence in quote or quote in sentence for quote in quotes if quote):
            labels = tuple(sorted(message.audience_labels))
            yield replace(candidate, said_at=message.occurred_at, audience_labels=labels, tentative=True)


_NEAR: Final = text("""
    WITH told AS (
        SELECT i.session_id, i.ref, i.occurred_at, i.embedding, m.audience_labels
        FROM search_index i JOIN messages m ON m.session_id = i.session_id AND m.id = i.ref
        WHERE i.type = 'message' AND i.embedding IS NOT NULL AND (i.session_id, i.ref) IN (
            SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
    ), earlier AS MATERIALIZED (
        SELECT session_id, ref, occurred_at, embedding FROM search_index
        WHERE type = 'message' AND user_id = :user AND group_id IS NOT DISTINCT FROM :group AND embedding IS NOT NULL
        ORDER BY occurred_at DESC LIMIT :scanned
    ), beside AS (
        SELECT told.session_id AS of_session, told.ref AS of_message, m.session_id, m.id, row_number() OVER (
            PARTITION BY told.session_id, told.ref ORDER BY near.distance) AS rank
        FROM told CROSS JOIN LATERAL (
            SELECT e.session_id, e.ref, e.embedding <=> told.embedding AS distance FROM earlier e
            WHERE e.occurred_at < told.occurred_at ORDER BY distance LIMIT :around
        ) AS near
        JOIN messages m ON m.session_id = near.session_id AND m.id = near.ref
             AND m.role = 'user' AND m.audience_labels = told.audience_labels
        WHERE NOT (m.session_id = :session AND m.id = ANY(:fresh)) AND NOT EXISTS (
            SELECT FROM hidden_messages h WHERE h.session_id = m.session_id AND h.message_id = m.id)
    )
    SELECT m.*, ARRAY(
        SELECT e.quote FROM evidence e JOIN memories s ON s.id = e.memory_id AND s.level = 0 AND s.category <> 'episode'
        WHERE e.session_id = m.session_id AND e.message_id = m.id) AS quotes
    FROM messages m
    WHERE (m.session_id, m.id) IN (SELECT session_id, id FROM beside WHERE rank <= :most)
""")
"""An episode quotes whole messages, and its sentences are no less unkept for that."""
