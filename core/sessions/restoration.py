"""Restores sessions and messages from an archive.

A restored message is in the log as `message.imported`, which the router passes by: erasing, reading as of a time and
evidence find it there as they find any other, and nothing is learnt from it again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from sqlalchemy import text
from uuid_utils import uuid7

from core.events import log
from core.events.log import Cause
from core.events.parsing import Incoming, offset_minutes
from core.events.reserved import SERVICE
from core.language.terms import token_estimate
from core.sessions import known_owners, message_rows
from core.storage.db import Tx, recordset, run_together
from core.types import Json

IMPORTED: Final = "message.imported"

Fate = Literal["restored", "known", "of another"]
"""Outcome of a line: it is stored, was there already, or would stand in what belongs to another user."""


@dataclass(frozen=True, slots=True)
class RestoredSession:
    """A session of an archive."""

    id: str
    group_id: str | None
    started_at: datetime
    ended_at: datetime | None
    state: Json


@dataclass(frozen=True, slots=True)
class RestoredMessage:
    """A message of an archive, in the order of its session."""

    session_id: str
    id: str
    group_id: str | None
    agent_id: str | None
    role: str
    speaker: str | None
    content: str
    occurred_at: datetime
    importance: float | None
    extras: Json | None
    audience_labels: Sequence[str]
    hidden: bool


@dataclass(slots=True)
class _Growing:
    """A locked session while messages are added to it."""

    messages: int
    tokens: int
    is_extracted: bool
    first: datetime
    last: datetime

    def add(self, message: RestoredMessage) -> None:
        self.messages += 1
        self.tokens += token_estimate(message.content)
        self.first, self.last = min(self.first, message.occurred_at), max(self.last, message.occurred_at)


def restore_sessions(tx: Tx, tenant_id: str, user_id: str, sessions: Sequence[RestoredSession]) -> list[Fate]:
    """Store the sessions that are not there; one that is there stays as it is. Returns the fate of each."""
    if not sessions:
        return []
    rows = [
        {"id": s.id, "group_id": s.group_id, "started_at": s.started_at, "ended_at": s.ended_at, "state": s.state}
        for s in sorted(sessions, key=lambda session: session.id)
    ]
    created = set(tx.execute(_CREATE, {"tenant": tenant_id, "user": user_id, "rows": recordset(rows)}).scalars())
    known_owners.note(
        tx, tenant_id, (o for s in sessions for o in known_owners.of(user_id, s.group_id, s.ended_at or s.started_at))
    )
    open_to_user = _open_to(tx, user_id, [s.id for s in sessions if s.id not in created])
    return ["restored" if s.id in created else "known" if s.id in open_to_user else "of another" for s in sessions]


def restore_messages(
    tx: Tx, tenant_id: str, user_id: str, messages: Sequence[RestoredMessage], cause: Cause
) -> list[Fate]:
    """Append the messages that are not there to their sessions, as extracted already; return the fate of each.

    A message whose session, or whose id within it, belongs to another user is left out.
    """
    standing = _open_to(tx, user_id, sorted({m.session_id for m in messages}))
    owners = _stored_users(tx, messages)
    fates: list[Fate] = []
    fresh: list[RestoredMessage] = []
    for message in messages:
        owner = owners.get((message.session_id, message.id))
        if message.session_id not in standing or owner not in {None, user_id}:
            fates.append("of another")
        elif owner is not None:
            fates.append("known")
        else:
            fates.append("restored")
            fresh.append(message)
            owners[message.session_id, message.id] = user_id
    if fresh:
        _append(tx, tenant_id, user_id, fresh, standing, cause)
    return fates


def _append(
    tx: Tx,
    tenant_id: str,
    user_id: str,
    fresh: Sequence[RestoredMessage],
    standing: Mapping[str, _Growing],
    cause: Cause,
) -> None:
    events = [_event(user_id, message, cause) for message in fresh]
    seqs = log.record(tx, tenant_id, cause, events)
    rows = []
    for message, event in zip(fresh, events, strict=True):
        session = standing[message.session_id]
        session.add(message)
        rows.append(_row(user_id, message, session, event.id, seqs[event.id]))
    run_together(tx, message_rows.inserting(tenant_id, rows))
    known_owners.note(tx, tenant_id, (o for m in fresh for o in known_owners.of(user_id, m.group_id, m.occurred_at)))
    grown = [
        {"id": name, "count": session.messages, "tokens": session.tokens, "extracted": session.is_extracted,
         "first": session.first, "last": session.last}
        for name, session in standing.items()
    ]  # fmt: skip
    tx.execute(_GROW, {"rows": recordset(grown)})
    hidden = [{"session_id": m.session_id, "message_id": m.id} for m in fresh if m.hidden]
    if hidden:
        author = json.dumps({"name": "import"})
        tx.execute(_HIDE, {"tenant": tenant_id, "rows": recordset(hidden), "author": author})


def _open_to(tx: Tx, user_id: str, session_ids: Sequence[str]) -> dict[str, _Growing]:
    """Lock those of the sessions in which the user may speak: their own, those of groups, those of nobody."""
    rows: Sequence[Any] = tx.execute(_LOCK, {"ids": list(session_ids), "user": user_id}).all() if session_ids else []
    return {
        row.id: _Growing(
            row.message_count, row.token_count, row.extracted_to == row.message_count, row.started_at, row.last_at
        )
        for row in rows
    }


def _stored_users(tx: Tx, messages: Sequence[RestoredMessage]) -> dict[tuple[str, str], str]:
    values = {"sessions": [m.session_id for m in messages], "ids": [m.id for m in messages]}
    return {(row.session_id, row.id): row.user_id for row in tx.execute(_KNOWN, values)}


def _event(user_id: str, message: RestoredMessage, cause: Cause) -> Incoming:
    fields = {
        "group_id": message.group_id,
        "agent_id": message.agent_id,
        "speaker": message.speaker,
        "importance": message.importance,
        "audience_labels": list(message.audience_labels) or None,
        **(message.extras or {}),
    }
    payload: Json = {name: value for name, value in fields.items() if value is not None}
    payload |= {
        "session_id": message.session_id,
        "user_id": user_id,
        "message_id": message.id,
        "role": message.role,
        "content": message.content,
    }
    return Incoming(
        id=str(uuid7()),
        source=SERVICE,
        event_type=IMPORTED,
        subject=f"session:{message.session_id}",
        time=message.occurred_at,
        payload=payload,
        correlation_id=cause.event.correlation_id,
        causation_id=cause.event.id,
    )


def _row(user_id: str, message: RestoredMessage, session: _Growing, event_id: str, seq: int) -> Json:
    names = "session_id id group_id agent_id role speaker content occurred_at importance extras".split()
    return {
        **{name: getattr(message, name) for name in names},
        "position": session.messages,
        "event_seq": seq,
        "event_id": event_id,
        "user_id": user_id,
        "utc_offset": offset_minutes(message.occurred_at) or None,
        "token_count": session.tokens,
        "audience_labels": sorted(set(message.audience_labels)),
    }


_CREATE = text("""
    INSERT INTO sessions (tenant_id, id, user_id, group_id, started_at, last_at, ended_at, state)
    SELECT :tenant, id, :user, group_id, started_at, greatest(started_at, ended_at), ended_at, state
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        id text, group_id text, started_at timestamptz, ended_at timestamptz, state jsonb)
    ON CONFLICT DO NOTHING RETURNING id
""")

_LOCK = text("""
    SELECT id, message_count, token_count, extracted_to, started_at, last_at FROM sessions
    WHERE id = ANY(:ids) AND (user_id = :user OR user_id IS NULL OR group_id IS NOT NULL)
    ORDER BY id COLLATE "C" FOR UPDATE
""")

_KNOWN = text("""
    SELECT session_id, id, user_id FROM messages
    WHERE (session_id, id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:ids AS text[])))
""")

_GROW = text("""
    UPDATE sessions s SET message_count = g.count, token_count = g.tokens,
        extracted_to = CASE WHEN g.extracted THEN g.count ELSE s.extracted_to END,
        started_at = least(s.started_at, g.first), last_at = greatest(s.last_at, g.last)
    FROM json_to_recordset(cast(:rows AS json)) AS g (
        id text, count int, tokens int, extracted bool, first timestamptz, last timestamptz)
    WHERE s.id = g.id
""")
"""A session with messages that nothing was learnt from yet keeps its cursor: these would be lost behind it."""

_HIDE = text("""
    INSERT INTO hidden_messages (tenant_id, session_id, message_id, author)
    SELECT :tenant, session_id, message_id, cast(:author AS jsonb)
    FROM json_to_recordset(cast(:rows AS json)) AS h (session_id text, message_id text)
    ON CONFLICT DO NOTHING
""")
