"""Reads the messages and memories among which a request to forget finds what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.erasure.passages import Place
from core.errors import NotFound
from core.forgetting.talk import MEMORY, Turn
from core.sessions import sessions
from core.storage.db import Tx, like_pattern, message_places
from core.types import Message

LATEST: Final = 1_000
"""Messages of the request's session, and memories of the asker, that are read: the latest."""

ELSEWHERE: Final = 1_000
"""Messages of other sessions that are read for one request."""

PAGE: Final = 2_000
"""Messages, and memories, that one run erases of everything that a person said."""

DOCUMENTS: Final = 20
"""Documents that the result of a request names."""


@dataclass(frozen=True, slots=True)
class Scene:
    """The message that asks, and everything among which it may mean something, in order."""

    asking: Turn
    turns: Sequence[Turn]
    group_id: str | None
    message: Message

    @property
    def owner(self) -> str:
        """The name under which values of this talk are kept from coming back."""
        return f"group:{self.group_id}" if self.group_id else f"user:{self.asking.user_id}"


def read(tx: Tx, session_id: str, message_id: str, *, also: Sequence[Place] = (), values: Sequence[str] = ()) -> Scene:
    """Read a request and what it may mean: its session, messages named or holding the values elsewhere, memories.

    NotFound: there is no such message.
    """
    asking_row = tx.execute(_MESSAGE, {"session": session_id, "message": message_id}).one_or_none()
    if asking_row is None:
        raise NotFound(f"There is no message {message_id!r} in a session {session_id!r} of this tenant.")
    parameters = {
        "session": session_id,
        "user": asking_row.user_id,
        "group": asking_row.group_id,
        "message": message_id,
        "latest": LATEST,
        "most": ELSEWHERE,
        **message_places(also),
        "likes": [like_pattern(value) for value in values],
    }
    rows = [*tx.execute(_ELSEWHERE, parameters), *reversed(tx.execute(_TALK, parameters).all())]
    alone = set(tx.execute(_ALONE, {"sessions": sorted({row.session_id for row in rows})}).scalars())
    turns = [_turn(row, position, alone=row.session_id in alone) for position, row in enumerate(rows)]
    memories = [_memory(row) for row in tx.execute(_MEMORIES, parameters)]
    asking = next((turn for turn in turns if turn.key == (session_id, message_id)), None)
    if asking is None:
        raise NotFound(f"The message {message_id!r} is too old to be answered now.")
    message = Message(**{name: getattr(asking_row, name) for name in Message.__slots__})
    return Scene(asking, [*memories, *turns], asking_row.group_id, message)


def alone(tx: Tx, session_id: str, message_id: str) -> Scene:
    """Read a message without anything around it. NotFound: there is none."""
    message = sessions.message(tx, session_id, message_id)
    key = (session_id, message_id)
    asking = Turn(key, 0, message.user_id, message.speaker, message.role, message.content, group_id=message.group_id)
    return Scene(asking, [asking], message.group_id, message)


def everything(tx: Tx, user_id: str, session_id: str, message_id: str) -> tuple[list[Turn], list[UUID]]:
    """Return a page of all that a person said, but the request itself, and a page of their memories."""
    values = {"user": user_id, "session": session_id, "message": message_id, "page": PAGE}
    rows = tx.execute(_ALL_SAID, values).all()
    turns = [_turn(row, position, alone=True) for position, row in enumerate(rows)]
    return turns, list(tx.execute(_ALL_MEMORIES, values).scalars())


def message_of_event(tx: Tx, session_id: str, event_id: str) -> str | None:
    """Return the id of the message that an event brought; None if it brought none."""
    message_id: str | None = tx.execute(_OF_EVENT, {"session": session_id, "event": event_id}).scalar_one_or_none()
    return message_id


def citing(tx: Tx, places: Sequence[Place]) -> list[Any]:
    """Return the memories of anyone that cite these messages: id, owner, content, and the quote with its place."""
    return list(tx.execute(_CITING, message_places(places)))


def repeating(tx: Tx, session_ids: Sequence[str], user_id: str, passages: Sequence[str]) -> list[UUID]:
    """Return the memories of these conversations' users, of anyone, whose text repeats one of the passages."""
    if not passages:
        return []
    values = {"sessions": list(session_ids), "user": user_id, "likes": [like_pattern(passage) for passage in passages]}
    return list(tx.execute(_REPEATING, values).scalars())


def documents(tx: Tx, user_id: str, passages: Sequence[str]) -> list[UUID]:
    """Return the user's documents that hold one of the passages, the newest first, `DOCUMENTS` at most."""
    if not passages:
        return []
    values = {"user": user_id, "likes": [like_pattern(passage) for passage in passages], "most": DOCUMENTS}
    return list(tx.execute(_DOCUMENTS, values).scalars())


def _turn(row: Any, position: int, *, alone: bool) -> Turn:
    key = (row.session_id, row.id)
    return Turn(key, position, row.user_id, row.speaker, row.role, row.content, alone, row.group_id)


def _memory(row: Any) -> Turn:
    cites = frozenset((session_id, message_id) for session_id, message_id in row.cites or ())
    return Turn(row.id, -1, row.user_id, None, MEMORY, row.content, cites=cites)


_MESSAGE = text("SELECT * FROM messages WHERE session_id = :session AND id = :message")

_TALK = text("""
    SELECT session_id, id, user_id, group_id, speaker, role, content FROM messages
    WHERE session_id = :session ORDER BY position DESC LIMIT :latest
""")

_ELSEWHERE = text("""
    SELECT session_id, id, user_id, group_id, speaker, role, content FROM messages m
    WHERE m.session_id <> :session AND (
        (m.session_id, m.id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
        OR (cardinality(cast(:likes AS text[])) > 0 AND m.content ILIKE ANY(cast(:likes AS text[]))
            AND m.session_id = ANY(ARRAY(SELECT s.id FROM sessions s WHERE s.user_id = :user OR s.group_id = :group))))
    ORDER BY m.occurred_at, m.session_id, m.position LIMIT :most
""")
"""Messages named by the event, and those of the asker's sessions and group that hold one of the values."""

_MEMORIES = text("""
    SELECT id, user_id, content, (
        SELECT json_agg(json_build_array(e.session_id, e.message_id)) FROM evidence e WHERE e.memory_id = memories.id
    ) AS cites FROM memories
    WHERE user_id = :user AND category NOT IN ('episode', 'pattern', 'knowledge') AND content <> ''
      AND NOT EXISTS (SELECT FROM evidence e WHERE e.memory_id = memories.id AND e.session_id = :session
                                               AND e.message_id = :message)
    ORDER BY recorded_at DESC, id DESC LIMIT :latest
""")

_ALONE = text("""
    SELECT session_id FROM messages WHERE session_id = ANY(:sessions) AND role = 'user'
    GROUP BY session_id HAVING count(DISTINCT user_id) = 1
""")

_ALL_SAID = text("""
    SELECT m.session_id, m.id, m.user_id, m.group_id, m.speaker, m.role, m.content FROM messages m
    WHERE m.session_id = ANY(ARRAY(
            SELECT DISTINCT session_id FROM search_index WHERE user_id = :user AND type = 'message'
            UNION SELECT :session UNION SELECT id FROM sessions WHERE user_id = :user))
      AND m.user_id = :user AND m.content NOT IN ('', '[erased]')
      AND (m.role = 'user' OR NOT EXISTS (SELECT FROM messages o WHERE o.session_id = m.session_id AND o.role = 'user'
                                                                  AND o.user_id <> :user))
      AND (m.session_id, m.id) <> (:session, :message)
    ORDER BY m.session_id, m.position LIMIT :page
""")

_ALL_MEMORIES = text("SELECT id FROM memories WHERE user_id = :user ORDER BY id LIMIT :page")

_DOCUMENTS = text("""
    SELECT id FROM documents WHERE user_id = :user AND content ILIKE ANY(cast(:likes AS text[]))
    ORDER BY id DESC LIMIT :most
""")

_OF_EVENT = text("SELECT id FROM messages WHERE session_id = :session AND event_id = :event")

_CITING = text("""
    SELECT m.id, m.user_id, m.content, e.session_id, e.message_id, e.quote FROM evidence e
    JOIN memories m ON m.id = e.memory_id
    WHERE (e.session_id, e.message_id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
      AND m.category <> 'episode'
    ORDER BY m.id
""")

_REPEATING = text("""
    SELECT id FROM memories
    WHERE content ILIKE ANY(cast(:likes AS text[])) AND user_id = ANY(ARRAY(
        SELECT cast(:user AS text) UNION SELECT user_id FROM messages WHERE session_id = ANY(:sessions)
        UNION SELECT m.user_id FROM evidence e JOIN memories m ON m.id = e.memory_id
        WHERE e.session_id = ANY(:sessions)))
    ORDER BY id
""")
