"""Sessions and their messages: short-term memory, projected from the log in the transaction that accepts it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import text
from uuid_utils import uuid7

from core.db import Tx, recordset
from core.errors import NotFound
from core.intake import Incoming
from core.text import token_estimate
from core.types import Json, Message

SESSION_EVENTS = frozenset({"session.started", "message.added", "session.ended"})
EXTRAS = ("participants", "tool_calls", "tags", "metadata")


@dataclass(frozen=True, slots=True)
class Session:
    """Where a session stands: how long it is, and how far it was extracted and indexed (positions)."""

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


@dataclass(slots=True)
class Length:
    """How long a session is while a batch is added to it."""

    messages: int
    tokens: int
    more_tokens: int = 0

    def grow(self, content: str) -> None:
        tokens = token_estimate(content)
        self.messages += 1
        self.tokens += tokens
        self.more_tokens += tokens


def open_all(tx: Tx, tenant_id: str, batch: Sequence[Incoming]) -> dict[str, Length]:
    """Create or lock every session the batch speaks of; answers how long each is."""
    spans: dict[str, dict[str, Any]] = {}
    for event in batch:
        if event.event_type in SESSION_EVENTS:
            _stretch(spans, event)
    # Locked in the order of their names: two batches that share sessions wait for each other instead of deadlocking.
    rows = [spans[name] for name in sorted(spans)]
    if not rows:
        return {}
    opened = tx.execute(_OPEN, {"tenant": tenant_id, "rows": recordset(rows)})
    return {row.id: Length(row.message_count, row.token_count) for row in opened}


def project(tx: Tx, tenant_id: str, events: Sequence[tuple[int, Incoming]], lengths: Mapping[str, Length]) -> None:
    """Write the messages among newly accepted events, each with the next position of its session."""
    added = [(seq, e) for seq, e in events if e.event_type == "message.added"]
    if not added:
        return
    known = _known_ids(tx, added)
    rows = []
    for seq, event in added:
        session_id, message_id = event.payload["session_id"], event.payload.get("message_id")
        if message_id is not None and (session_id, message_id) in known:
            continue  # The same message under another event id: it is in the transcript already.
        known.add((session_id, message_id))
        lengths[session_id].grow(event.payload["content"])
        rows.append(_row(seq, event, lengths[session_id]))
    if rows:
        tx.execute(_INSERT, {"tenant": tenant_id, "rows": recordset(rows)})
        spoken = sorted({row["session_id"] for row in rows})
        grown = [{"id": s, "count": lengths[s].messages, "tokens": lengths[s].more_tokens} for s in spoken]
        tx.execute(_GROW, {"rows": recordset(grown)})


def get(tx: Tx, session_id: str) -> Session:
    """One session; NotFound if nobody ever spoke in it."""
    row = tx.execute(text("SELECT * FROM sessions WHERE id = :id"), {"id": session_id}).one_or_none()
    if row is None:
        raise NotFound(f"There is no session {session_id!r} in this tenant.")
    return _session(row)


def unindexed(tx: Tx, session_ids: Sequence[str]) -> list[Session]:
    """Those of the sessions that have messages the search index does not know yet."""
    rows = tx.execute(_UNINDEXED, {"ids": list(session_ids)})
    return [_session(row) for row in rows]


def transcript(tx: Tx, session_id: str, *, after: int = 0, limit: int = 100) -> list[Message]:
    """Messages in order, beginning behind the position `after`."""
    rows = tx.execute(_TRANSCRIPT, {"session": session_id, "after": after, "limit": limit})
    return [message_of(row) for row in rows]


def extracted(tx: Tx, session_id: str, *, old: int, new: int) -> bool:
    """Move the extraction cursor by compare-and-set; False: someone else has moved it meanwhile."""
    return tx.execute(_EXTRACTED, {"session": session_id, "old": old, "new": new}).rowcount == 1


def indexed(tx: Tx, session_id: str, *, old: int, new: int) -> bool:
    """Move the index cursor by compare-and-set; False: someone else has moved it meanwhile."""
    return tx.execute(_INDEXED, {"session": session_id, "old": old, "new": new}).rowcount == 1


def message_of(row: Any) -> Message:
    """A row of `messages` as a Message."""
    return Message(
        session_id=row.session_id,
        id=row.id,
        position=row.position,
        event_id=row.event_id,
        user_id=row.user_id,
        role=row.role,
        content=row.content,
        occurred_at=row.occurred_at,
        speaker=row.speaker,
        group_id=row.group_id,
        importance=row.importance,
    )


def _session(row: Any) -> Session:
    return Session(**{name: getattr(row, name) for name in Session.__slots__})


def _stretch(spans: dict[str, dict[str, Any]], event: Incoming) -> None:
    """Widen what the batch knows of a session by one event."""
    payload = event.payload
    span = spans.setdefault(
        payload["session_id"],
        {
            "id": payload["session_id"],
            "user_id": payload["user_id"],
            "group_id": payload.get("group_id"),
            "started_at": event.time,
            "last_at": event.time,
            "ended_at": None,
        },
    )
    span["started_at"] = min(span["started_at"], event.time)
    span["last_at"] = max(span["last_at"], event.time)
    if event.event_type == "session.ended":
        span["ended_at"] = event.time


def _known_ids(tx: Tx, added: Sequence[tuple[int, Incoming]]) -> set[tuple[str, str | None]]:
    named = [(e.payload["session_id"], e.payload["message_id"]) for _, e in added if e.payload.get("message_id")]
    if not named:
        return set()
    rows = tx.execute(_KNOWN, {"sessions": [s for s, _ in named], "ids": [m for _, m in named]})
    return {(row.session_id, row.id) for row in rows}


def _row(seq: int, event: Incoming, length: Length) -> dict[str, Any]:
    payload = event.payload
    extras: Json = {name: payload[name] for name in EXTRAS if payload.get(name)}
    return {
        "session_id": payload["session_id"],
        "position": length.messages,
        "id": payload.get("message_id") or str(uuid7()),
        "event_seq": seq,
        "event_id": event.id,
        "user_id": payload["user_id"],
        "group_id": payload.get("group_id"),
        "agent_id": payload.get("agent_id"),
        "role": payload["role"],
        "speaker": payload.get("speaker"),
        "content": payload["content"],
        "token_count": length.tokens,
        "occurred_at": event.time.isoformat(),
        "importance": payload.get("importance"),
        "extras": extras or None,
    }


_OPEN = text("""
    INSERT INTO sessions AS s (tenant_id, id, user_id, group_id, started_at, last_at, ended_at)
    SELECT :tenant, * FROM json_to_recordset(cast(:rows AS json)) AS r (
        id text, user_id text, group_id text, started_at timestamptz, last_at timestamptz, ended_at timestamptz)
    ON CONFLICT (tenant_id, id) DO UPDATE SET
        started_at = least(s.started_at, excluded.started_at),
        last_at = greatest(s.last_at, excluded.last_at),
        ended_at = coalesce(greatest(s.ended_at, excluded.ended_at), s.ended_at)
    RETURNING id, message_count, token_count
""")
"""Create the sessions, or lock those that exist, and widen their span of time."""

_KNOWN = text("""
    SELECT session_id, id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")

_INSERT = text("""
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, group_id, agent_id,
                          role, speaker, content, token_count, occurred_at, importance, extras)
    SELECT :tenant, session_id, position, id, event_seq, event_id, user_id, group_id, agent_id,
           role, speaker, content, token_count, occurred_at, importance, extras
    FROM json_to_recordset(cast(:rows AS json)) AS m (
        session_id text, position int, id text, event_seq bigint, event_id text, user_id text, group_id text,
        agent_id text, role text, speaker text, content text, token_count int, occurred_at timestamptz,
        importance float8, extras jsonb)
""")

_GROW = text("""
    UPDATE sessions SET message_count = grown.count, token_count = token_count + grown.tokens
    FROM json_to_recordset(cast(:rows AS json)) AS grown (id text, count int, tokens int)
    WHERE sessions.id = grown.id
""")

_UNINDEXED = text('SELECT * FROM sessions WHERE id = ANY(:ids) AND indexed_to < message_count ORDER BY id COLLATE "C"')

_TRANSCRIPT = text("""
    SELECT * FROM messages WHERE session_id = :session AND position > :after ORDER BY position LIMIT :limit
""")

_EXTRACTED = text("UPDATE sessions SET extracted_to = :new WHERE id = :session AND extracted_to = :old")

_INDEXED = text("UPDATE sessions SET indexed_to = :new WHERE id = :session AND indexed_to = :old")
