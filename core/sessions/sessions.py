"""Sessions and messages: rows, cursors, projection from the log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from operator import attrgetter
from typing import Any, Final, cast

from sqlalchemy import text

from core.errors import NotFound
from core.events.parsing import Incoming
from core.sessions import state as sessions_state
from core.sessions import working_memory
from core.sessions.message_rows import ENDED, SESSION_EVENTS, SPOKEN, TOOL, TOOL_RESULT, Draft, Drafts
from core.storage.db import Tx, message_places, recordset, required_row, run_together
from core.storage.multiquery import BoundStatement
from core.types import Json, Message


@dataclass(frozen=True, slots=True)
class Session:
    """A session: its length, and how far it has been extracted and indexed (positions).

    `ended_at`: None while it is open; a message after the end opens it again. `state`: see `core.sessions.state`.
    `keep_days`: days after its end for which the conversation is kept; None: as long as its tenant keeps any.
    """

    id: str
    user_id: str | None
    group_id: str | None
    message_count: int
    token_count: int
    extracted_to: int
    indexed_to: int
    started_at: datetime
    last_at: datetime
    ended_at: datetime | None
    state: Json
    keep_days: int | None


@dataclass(slots=True)
class LockedSession:
    """A locked session while a batch is added to it."""

    messages: int
    tokens: int
    ended_at: datetime | None
    is_new: bool
    more_tokens: int = 0
    is_heard: bool = False

    def grow(self, tokens: int) -> None:
        """Count a further message."""
        self.messages += 1
        self.tokens += tokens
        self.more_tokens += tokens

    def end(self, moment: datetime) -> None:
        self.ended_at = moment if self.ended_at is None else max(self.ended_at, moment)

    def go_on(self, moment: datetime) -> None:
        """Reopen an ended session, unless this was said before the end and only arrives late."""
        if self.ended_at is not None and moment >= self.ended_at:
            self.ended_at = None


def opening(tenant_id: str, batch: Sequence[Incoming]) -> BoundStatement | None:
    """Return the statement that creates or locks every session of a batch; None: it has none."""
    spans: dict[str, dict[str, Any]] = {}
    for event in batch:
        if event.event_type in SESSION_EVENTS:
            _extend_span(spans, event)
    # In the order of their ids, so that two batches with common sessions wait for each other instead of deadlocking.
    rows = [spans[name] for name in sorted(spans)]
    return (_OPEN, {"tenant": tenant_id, "rows": recordset(rows)}) if rows else None


def opened(rows: Iterable[Any]) -> dict[str, LockedSession]:
    """Return the locked sessions by id, from the rows of `opening`."""
    return {row.id: LockedSession(row.message_count, row.token_count, row.ended_at, row.is_new) for row in rows}


def project(
    tx: Tx, events: Sequence[tuple[int, Incoming]], opened: Mapping[str, LockedSession], drafts: Drafts
) -> None:
    """Update sessions by new events: messages, each with the next position, state and end; commit the transaction.

    `drafts`: of the batch that these events are from.

    A `session.ended` without `message_count` gets that of its session, in the log, with `filled_in` saying so.
    """
    session_events = [(seq, e) for seq, e in events if e.event_type in SESSION_EVENTS]
    known_ids = _known_ids(tx, [e for _, e in session_events if e.event_type in SPOKEN])
    rows: list[Draft] = []
    counts: list[Json] = []
    for seq, event in session_events:
        session = opened[event.payload["session_id"]]
        session.is_heard = True
        if event.event_type == ENDED:
            session.end(event.time)
            if lacks_count(event):
                counts.append({"seq": seq, "count": session.messages})
        elif event.event_type == "session.started":
            session.go_on(event.time)
        elif _is_new(event, known_ids):
            draft = drafts.of(event)
            session.grow(draft["token_count"])
            session.go_on(event.time)
            rows.append(drafts.placed(draft, seq, session.messages, session.tokens))
    _apply_starts_and_ends(tx, [e for _, e in session_events])
    run_together(
        tx,
        drafts.inserting(rows) if rows else None,
        (_FILL_IN, {"rows": recordset(counts)}) if counts else None,
        *_updates(opened),
        drafts.noting([e for _, e in session_events]),
        last=True,
    )


def lacks_count(event: Incoming) -> bool:
    """Return whether this is a `session.ended` without a number of messages."""
    return event.event_type == ENDED and event.payload.get("message_count") is None


def with_count(tx: Tx, event: Incoming) -> Incoming:
    """Return the event as it would be accepted now: a `session.ended` gets the count of its session."""
    if not lacks_count(event):
        return event
    count = tx.execute(_COUNT, {"id": event.payload["session_id"]}).scalar_one_or_none() or 0
    return replace(event, payload={**event.payload, "message_count": count, "filled_in": ["message_count"]})


def get(tx: Tx, session_id: str) -> Session:
    """Return one session; NotFound if it has no event."""
    missing = f"There is no session {session_id!r} in this tenant."
    row = required_row(tx, text("SELECT * FROM sessions WHERE id = :id"), {"id": session_id}, missing)
    return session_of(row)


def owners(tx: Tx, session_ids: Sequence[str]) -> dict[str, Json]:
    """Return the user of each of these sessions, and its group, as an event names them."""
    rows = tx.execute(_OWNERS, {"ids": list(session_ids)})
    return {row.id: {"user_id": row.user_id} | ({"group_id": row.group_id} if row.group_id else {}) for row in rows}


def keep(tx: Tx, session_id: str, days: int | None) -> None:
    """Set how many days after its end a conversation is kept; None: as long as its tenant keeps any. NotFound."""
    if tx.execute(_KEEP, {"id": session_id, "days": days}).rowcount == 0:
        raise NotFound(f"There is no session {session_id!r} in this tenant.")


def find_unindexed(tx: Tx, session_ids: Sequence[str]) -> list[Session]:
    """Return the sessions among these with messages that are not indexed yet."""
    rows = tx.execute(_UNINDEXED, {"ids": list(session_ids)})
    return [session_of(row) for row in rows]


def transcript(tx: Tx, session_id: str, *, after: int = 0, limit: int = 100) -> list[Message]:
    """Return messages in order, after the position `after`."""
    rows = tx.execute(TRANSCRIPT, {"session": session_id, "after": after, "limit": limit})
    return [message_of(row) for row in rows]


def message(tx: Tx, session_id: str, message_id: str) -> Message:
    """Return one message of a session; NotFound if there is none with that id."""
    missing = f"There is no message {message_id!r} in a session {session_id!r} of this tenant."
    row = required_row(tx, _MESSAGE, {"session": session_id, "message": message_id}, missing)
    return message_of(row)


def move_extraction_cursor(tx: Tx, session_id: str, *, old: int, new: int) -> bool:
    """Move the extraction cursor by compare-and-set; return False if it was moved in the meantime."""
    return tx.execute(_EXTRACTED, {"session": session_id, "old": old, "new": new}).rowcount == 1


def move_index_cursors(tx: Tx, moves: Sequence[tuple[str, int, int]]) -> set[str]:
    """Move index cursors by compare-and-set: session, old, new position; return those that moved.

    The others were moved in the meantime. The sessions are locked in one order, whoever moves them.
    """
    if not moves:
        return set()
    ids, old, new = zip(*moves, strict=True)
    return set(tx.execute(_INDEXED, {"ids": list(ids), "old": list(old), "new": list(new)}).scalars())


_FIELDS_OF_MESSAGE: Final = attrgetter(*Message.__slots__)


def message_of(row: Any) -> Message:
    """Convert a row of `messages`, with the time on the speaker's clock."""
    message = Message(*_FIELDS_OF_MESSAGE(row))
    return message if row.utc_offset is None else replace(message, occurred_at=_offset(row))


def _offset(row: Any) -> datetime:
    return cast(datetime, row.occurred_at).astimezone(timezone(timedelta(minutes=row.utc_offset)))


def session_of(row: Any) -> Session:
    """Convert a row of `sessions`."""
    return Session(**{name: getattr(row, name) for name in Session.__slots__})


def _extend_span(spans: dict[str, dict[str, Any]], event: Incoming) -> None:
    payload = event.payload
    span = spans.setdefault(
        payload["session_id"],
        {
            "id": payload["session_id"],
            "user_id": payload["user_id"],
            "group_id": payload.get("group_id"),
            "started_at": event.time,
            "last_at": event.time,
            "tool_at": None,
        },
    )
    span["started_at"] = min(span["started_at"], event.time)
    span["last_at"] = max(span["last_at"], event.time)
    if event.event_type == TOOL_RESULT or payload.get("role") == TOOL:
        span["tool_at"] = min(span["tool_at"] or event.time, event.time)


def _known_ids(tx: Tx, added: Sequence[Incoming]) -> set[tuple[str, str]]:
    message_keys = [(e.payload["session_id"], e.payload["message_id"]) for e in added if e.payload.get("message_id")]
    if not message_keys:
        return set()
    return {(row.session_id, row.id) for row in tx.execute(_KNOWN, message_places(message_keys))}


def _is_new(event: Incoming, known_ids: set[tuple[str, str]]) -> bool:
    """Return False for a message that the transcript contains already, under another event id."""
    message_id = event.payload.get("message_id")
    if message_id is None:
        return True
    message_key = (event.payload["session_id"], message_id)
    if message_key in known_ids:
        return False
    known_ids.add(message_key)
    return True


def _updates(opened: Mapping[str, LockedSession]) -> Iterator[BoundStatement]:
    """Yield what updates the rows of sessions.

    One that was deleted, and is named by repeats only, is not created again.
    """
    rows = [
        {"id": name, "count": session.messages, "tokens": session.more_tokens, "ended_at": session.ended_at}
        for name, session in sorted(opened.items())
        if session.is_heard
    ]
    if rows:
        yield _STAND, {"rows": recordset(rows)}
    unheard = [name for name, session in opened.items() if session.is_new and not session.is_heard]
    if unheard:
        yield _UNMAKE, {"ids": unheard}


def _apply_starts_and_ends(tx: Tx, events: Sequence[Incoming]) -> None:
    for event in events:
        if event.event_type != "session.started":
            continue
        if event.payload.get("state"):
            sessions_state.merge(tx, event.payload["session_id"], event.payload["state"], "/payload/state")
        if "keep_days" in event.payload:
            keep(tx, event.payload["session_id"], event.payload["keep_days"])
    ended = sorted({e.payload["session_id"] for e in events if e.event_type == ENDED})
    if ended:
        working_memory.clear(tx, ended)


_OPEN = text("""
    INSERT INTO sessions AS s (tenant_id, id, user_id, group_id, started_at, last_at, oldest_at, oldest_tool_at)
    SELECT :tenant, id, user_id, group_id, started_at, last_at, started_at, tool_at
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        id text, user_id text, group_id text, started_at timestamptz, last_at timestamptz, tool_at timestamptz)
    ON CONFLICT (tenant_id, id) DO UPDATE SET
        started_at = least(s.started_at, excluded.started_at),
        last_at = greatest(s.last_at, excluded.last_at),
        oldest_at = least(s.oldest_at, excluded.oldest_at),
        oldest_tool_at = least(s.oldest_tool_at, excluded.oldest_tool_at),
        is_remnant = false
    RETURNING id, message_count, token_count, ended_at, (xmax = 0) AS is_new
""")
"""Create or lock the sessions, and widen their span of time. A row without xmax was inserted."""

_KNOWN = text("""
    SELECT session_id, id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")

_STAND = text("""
    UPDATE sessions SET message_count = h.count, token_count = token_count + h.tokens, ended_at = h.ended_at
    FROM json_to_recordset(cast(:rows AS json)) AS h (id text, count int, tokens int, ended_at timestamptz)
    WHERE sessions.id = h.id
""")

_FILL_IN = text("""
    UPDATE events SET payload = payload || jsonb_build_object(
        'message_count', r.count, 'filled_in', jsonb_build_array('message_count'))
    FROM json_to_recordset(cast(:rows AS json)) AS r (seq bigint, count int)
    WHERE events.seq = r.seq
""")
"""After the insert, because a repeated message must not be counted."""

_OWNERS = text("""
    SELECT id, user_id, group_id FROM sessions WHERE id = ANY(:ids) AND user_id IS NOT NULL
""")
"""Of the first event that a session had."""

_COUNT = text("SELECT message_count FROM sessions WHERE id = :id")

_KEEP = text("UPDATE sessions SET keep_days = :days WHERE id = :id")

_UNMAKE = text("DELETE FROM sessions WHERE id = ANY(:ids)")

_UNINDEXED = text('SELECT * FROM sessions WHERE id = ANY(:ids) AND indexed_to < message_count ORDER BY id COLLATE "C"')

TRANSCRIPT = text("""
    SELECT * FROM messages WHERE session_id = :session AND position > :after ORDER BY position LIMIT :limit
""")

SAID_WITHIN = text("""
    SELECT * FROM messages
    WHERE session_id = :session AND position > :after
      AND (cast(:since AS timestamptz) IS NULL OR occurred_at >= :since)
      AND (cast(:until AS timestamptz) IS NULL OR occurred_at < :until)
    ORDER BY position LIMIT :limit
""")

_MESSAGE = text("SELECT * FROM messages WHERE session_id = :session AND id = :message")

_EXTRACTED = text("UPDATE sessions SET extracted_to = :new WHERE id = :session AND extracted_to = :old")

_INDEXED = text("""
    WITH unmoved AS MATERIALIZED (
        SELECT s.id, moved.new FROM unnest(cast(:ids AS text[]), cast(:old AS int[]), cast(:new AS int[]))
                                    AS moved (id, old, new)
        JOIN sessions s ON s.id = moved.id AND s.indexed_to = moved.old
        ORDER BY s.id COLLATE "C" FOR NO KEY UPDATE OF s
    )
    UPDATE sessions s SET indexed_to = unmoved.new FROM unmoved WHERE s.id = unmoved.id RETURNING s.id
""")
