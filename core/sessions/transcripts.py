"""Listing sessions and messages for the API."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text

from core.events.message_shapes import DESCRIBED
from core.sessions import sessions
from core.sessions.sessions import Session
from core.storage import bounded_rows
from core.storage.db import Tx, recordset
from core.types import Json, Message


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """Filter of sessions: user, group, open or ended; None: any. `after`: the last session of the previous page."""

    user_id: str | None = None
    group_id: str | None = None
    is_open: bool | None = None
    after: tuple[datetime, str] | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class RepeatedMessage:
    """An event that repeated a message."""

    event_id: str
    source: str
    differs: bool


def find(tx: Tx, filters: SessionFilter) -> list[Session]:
    """Return sessions, the latest active first."""
    last_at, name = filters.after or (None, None)
    values = {"user": filters.user_id, "group": filters.group_id, "at": last_at, "name": name, "limit": filters.limit}
    statement = _FIND if filters.is_open is None else _ONE_STATE[filters.is_open]
    return [sessions.session_of(row) for row in tx.execute(statement, values)]


def page(
    tx: Tx, session_id: str, *, after: int, limit: int, time: tuple[datetime | None, datetime | None] = (None, None)
) -> tuple[list[Message], int | None]:
    """Return a page of messages in order, after the position `after`, and the position that the next begins after.

    `time`: messages said then or later, and before.
    """
    values = {"session": session_id, "after": after, "limit": limit}
    if any(time):
        rows, is_cut = bounded_rows.read(tx, sessions.SAID_WITHIN, values | {"since": time[0], "until": time[1]})
    else:
        rows, is_cut = bounded_rows.read(tx, sessions.TRANSCRIPT, values)
    messages = [sessions.message_of(row) for row in rows]
    return messages, messages[-1].position if is_cut or len(messages) == limit else None


def latest(tx: Tx, session_id: str, count: int) -> list[Message]:
    """Return the newest messages of a session, oldest first; fewer if they are large."""
    rows, _ = bounded_rows.read(tx, _LATEST, {"session": session_id, "count": count})
    return [sessions.message_of(row) for row in reversed(rows)]


def extras(tx: Tx, session_id: str, message_id: str) -> Json:
    """Return the fields of a message other than its text, under their original names: tool calls, tags, metadata."""
    fields = tx.execute(_EXTRAS, {"session": session_id, "message": message_id}).scalar_one_or_none()
    return fields or {}


def metadata_of(tx: Tx, cited: Collection[tuple[str, str]]) -> dict[tuple[str, str], Json]:
    """Return the metadata of messages, by session and id; messages without any are left out."""
    rows = [{"session_id": session, "id": message} for session, message in sorted(cited)]
    stored = tx.execute(_METADATA, {"rows": recordset(rows)}) if rows else ()
    return {(row.session_id, row.id): row.metadata for row in stored}


def attachments(metadata: Json) -> list[str]:
    """Return the names of the files that came with a message."""
    files, parts = metadata.get("files"), metadata.get(DESCRIBED)
    names = [*(files if isinstance(files, list) else ())]
    names += [part.get("name") for part in (parts if isinstance(parts, list) else ()) if isinstance(part, dict)]
    return list(dict.fromkeys(name for name in names if isinstance(name, str)))


def speakers(tx: Tx, session_id: str) -> list[str]:
    """Return the users who have spoken in a session, at most `SPEAKERS`."""
    return list(tx.execute(_SPEAKERS, {"session": session_id, "most": SPEAKERS}).scalars())


def repeats(tx: Tx, message: Message) -> list[RepeatedMessage]:
    """Return later events with the same message id, oldest first."""
    values = {"session": message.session_id, "message": message.id, "content": message.content}
    return [RepeatedMessage(row.id, row.source, row.differs) for row in tx.execute(_REPEATS, values)]


SPEAKERS: Final = 20
"""Users of a session that are named."""

_STATES: Final = {True: "ended_at IS NULL", False: "ended_at IS NOT NULL"}

_LIST: Final = """
    (SELECT * FROM sessions
     WHERE {state} AND (cast(:user AS text) IS NULL OR user_id = :user)
       AND (cast(:group AS text) IS NULL OR group_id = :group)
       AND (cast(:at AS timestamptz) IS NULL
            OR last_at <= :at AND (last_at, id COLLATE "C") < (cast(:at AS timestamptz), :name))
     ORDER BY last_at DESC, id COLLATE "C" DESC LIMIT :limit)
"""

_ONE_STATE: Final = {is_open: text(_LIST.format(state=state)) for is_open, state in _STATES.items()}

_FIND: Final = text(f"""
    SELECT * FROM ({" UNION ALL ".join(_LIST.format(state=state) for state in _STATES.values())}) AS s
    ORDER BY last_at DESC, id COLLATE "C" DESC LIMIT :limit
""")
"""Open and ended sessions have an index each by the time of their last message."""

_LATEST = text("""
    SELECT * FROM messages WHERE session_id = :session ORDER BY position DESC LIMIT :count
""")

_EXTRAS = text("SELECT extras FROM messages WHERE session_id = :session AND id = :message")

_SPEAKERS = text("SELECT user_id FROM participants WHERE session_id = :session ORDER BY user_id LIMIT :most")

_METADATA = text("""
    SELECT m.session_id, m.id, m.extras -> 'metadata' AS metadata FROM messages m
    JOIN json_to_recordset(cast(:rows AS json)) AS asked (session_id text, id text)
         ON asked.session_id = m.session_id AND asked.id = m.id
    WHERE jsonb_typeof(m.extras -> 'metadata') = 'object'
""")

_REPEATS = text("""
    SELECT e.id, e.source, e.payload ->> 'content' IS DISTINCT FROM :content AS differs
    FROM events e JOIN messages m ON m.session_id = :session AND m.id = :message
    WHERE e.session_id = :session AND e.seq > m.event_seq AND e.payload ->> 'message_id' = :message
      AND e.event_type IN ('message.added', 'tool.result.added')
    ORDER BY e.seq
""")
"""Scans the session's log; needed only when one message is requested by itself."""
