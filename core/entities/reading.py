"""The entities of a user, as far as a reader may see what tells of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

from sqlalchemy import text

from core.entities import mentions, resolution
from core.entities.resolution import Decision, Directory, Introduction
from core.memoize import memo_scope
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement

READ: Final = 1_000
"""Texts that introduce somebody, the latest, from which entities are made."""

SPOKEN: Final = 50
"""Messages of a user, any, that tell by which names they speak."""


def directory(tx: Tx, user_id: str) -> Directory:
    """Return the entities of a user."""
    return of_answers(user_id, run_together(tx, *asking(user_id)))


def asking(user_id: str) -> list[BoundStatement]:
    """Return the statements that read what `of_answers` needs, to be run together with others."""
    return [
        (_INTRODUCTIONS, {"user": user_id, "most": READ}),
        (_DECISIONS, {"user": user_id}),
        (_SPEAKERS, {"user": user_id, "most": SPOKEN}),
    ]


def names_somebody(answers: Sequence[Sequence[Any]], text: str) -> bool:
    """Return whether a text may mention any of the entities, which are to be made only then."""
    introduced, decided, _ = answers
    introductions = (form for row in introduced for forms in row.naming for form in forms)
    decisions = (form for row in decided for form in (row.form, row.other))
    return mentions.may_be_in(text, chain(introductions, decisions))


def of_answers(user_id: str, answers: Sequence[Sequence[Any]]) -> Directory:
    introduced, decided, spoken = answers
    introductions = [Introduction(forms, row.at) for row in introduced for forms in row.naming]
    decisions = [Decision(row.form, row.other, row.same, row.at) for row in decided]
    # Where several people speak as one user, nobody knows whose "my" it is.
    speakers = [row.speaker for row in spoken]
    own = {user_id, *(speakers if len(speakers) == 1 else ())}
    with memo_scope():
        return resolution.resolve(introductions, decisions, frozenset(own))


_INTRODUCTIONS = text("""
    SELECT i.naming, coalesce(told.at, i.occurred_at) AS at FROM search_index i
    CROSS JOIN LATERAL (
        SELECT coalesce(m.said_at, m.recorded_at) AS at FROM memories m
        WHERE m.id = CASE WHEN i.type = 'memory' THEN cast(i.ref AS uuid) END
          AND m.status <> 'erased' AND m.trust NOT IN ('quarantined', 'rejected')
        UNION ALL
        SELECT NULL FROM messages s
        WHERE i.type = 'message' AND s.session_id = i.session_id AND s.id = i.ref
          AND NOT EXISTS (SELECT FROM hidden_messages h WHERE h.session_id = s.session_id AND h.message_id = s.id)
    ) AS told
    WHERE i.user_id = :user AND i.naming IS NOT NULL
    ORDER BY i.occurred_at DESC LIMIT :most
""")

_DECISIONS = text("""
    SELECT form, other, same, at FROM naming_decisions
    WHERE user_id = :user ORDER BY at, form, other
""")

_SPEAKERS = text("""
    SELECT DISTINCT speaker FROM (
        SELECT s.speaker FROM participants p JOIN messages s ON s.session_id = p.session_id
        WHERE p.user_id = :user AND s.user_id = :user AND s.role = 'user'
        ORDER BY p.session_id, s.position LIMIT :most) AS spoken
    WHERE speaker IS NOT NULL
""")
