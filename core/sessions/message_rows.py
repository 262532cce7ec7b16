"""Rows of new messages: made from events while the database appends these, placed in their sessions, inserted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any, Final

from sqlalchemy import text
from uuid_utils import uuid7

from core.events.parsing import Incoming, offset_minutes
from core.language.terms import token_estimate
from core.screening import names
from core.sessions import known_owners
from core.sessions.known_owners import Seen
from core.storage.db import json_texts, text_array
from core.storage.multiquery import BoundStatement
from core.types import Json

MESSAGE_ADDED = "message.added"

TOOL_RESULT = "tool.result.added"

TOOL = "tool"
"""The role of tools' results."""

SPOKEN = frozenset({MESSAGE_ADDED, TOOL_RESULT})
"""Events that add a message to the transcript."""

ENDED = "session.ended"

SESSION_EVENTS = SPOKEN | {"session.started", ENDED}

EXTRAS = ("participants", "tool_calls", "tool_name", "tool_call_id", "tags", "metadata")

Draft = dict[str, Any]
"""A row of `messages`, with the tokens of this message alone until it has its place."""


@dataclass(slots=True)
class Drafts:
    """The rows of a batch's messages, without their places: those depend on what the log knew already."""

    tenant_id: str
    batch: Sequence[Incoming]
    _rows: dict[int, Draft] = field(default_factory=dict)
    _arrays: dict[str, str | None] = field(default_factory=dict)
    _heard: Sequence[Incoming] = ()
    _noting: BoundStatement | None = None

    def make(self) -> None:
        """Make them, and the statement that notes whose the batch is. Nothing is read; it may run twice."""
        self._rows = {id(event): _draft(event) for event in self.batch if event.event_type in SPOKEN}
        self._arrays = _arrays_of(list(self._rows.values()), _OWN)
        self._heard = [event for event in self.batch if event.event_type in SESSION_EVENTS]
        self._noting = known_owners.noting(self.tenant_id, _owners(self._heard))

    def of(self, event: Incoming) -> Draft:
        """Return the row of an event of the batch."""
        return self._rows[id(event)]

    def noting(self, events: Sequence[Incoming]) -> BoundStatement | None:
        """Return the statement that notes whose some session events of the batch are; None: there are none."""
        are_all = len(events) == len(self._heard)
        return self._noting if are_all else known_owners.noting(self.tenant_id, _owners(events))

    @staticmethod
    def placed(draft: Draft, seq: int, position: int, tokens: int) -> Draft:
        """Put a row into its place: the event's in the log, its own in the session, whose tokens it is to count."""
        draft["event_seq"], draft["position"], draft["token_count"] = seq, position, tokens
        return draft

    def inserting(self, rows: Sequence[Draft]) -> BoundStatement:
        """Return the statement that inserts some of the rows, in this order."""
        are_all = len(rows) == len(self._rows) and all(map(is_, rows, self._rows.values()))
        own = self._arrays if are_all else _arrays_of(rows, _OWN)
        return _INSERT, {"tenant": self.tenant_id, **own, **_arrays_of(rows, _PLACES)}


def inserting(tenant_id: str, rows: Sequence[Json]) -> BoundStatement:
    """Return the statement that inserts messages, such as those of an archive, and who spoke."""
    return _INSERT, {"tenant": tenant_id, **_arrays_of(rows, _OWN), **_arrays_of(rows, _PLACES)}


def _owners(events: Iterable[Incoming]) -> Iterator[Seen]:
    for event in events:
        yield from known_owners.of(event.payload["user_id"], event.payload.get("group_id"), event.time)


def _name(speaker: str | None) -> str | None:
    """Return the name of a speaker; None where it is none: what follows it would be read as theirs, or as an order."""
    return speaker if speaker is not None and names.is_name(speaker) else None


def _draft(event: Incoming) -> Draft:
    payload = event.payload
    audience = payload.get("audience")
    extras: Json = {name: payload[name] for name in EXTRAS if payload.get(name)}
    if isinstance(audience, list):
        extras["participants"] = audience
    is_tool = event.event_type == TOOL_RESULT
    return {
        "session_id": payload["session_id"],
        "id": payload.get("message_id") or str(uuid7()),
        "event_id": event.id,
        "user_id": payload["user_id"],
        # A message for part of the group is not in the group's memory; only its audience has it.
        "group_id": payload.get("group_id") if audience in (None, "group") else None,
        "agent_id": payload.get("agent_id"),
        "role": TOOL if is_tool else payload["role"],
        "speaker": _name(payload.get("tool_name" if is_tool else "speaker")),
        "content": payload["content"],
        "token_count": token_estimate(payload["content"]),
        "occurred_at": event.time,
        "utc_offset": offset_minutes(event.time) or None,
        "importance": None if is_tool else payload.get("importance"),
        "extras": extras or None,
        "audience_labels": sorted(set(payload.get("audience_labels") or ())),
    }


def _arrays_of(rows: Sequence[Json], names: Sequence[str]) -> dict[str, str | None]:
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    if "extras" in columns:
        columns["extras"] = json_texts(columns["extras"])
    if "occurred_at" in columns:
        columns["occurred_at"] = [moment.isoformat() for moment in columns["occurred_at"]]
    if "audience_labels" in columns:
        columns["audience_labels"] = [text_array(labels) if labels else "{}" for labels in columns["audience_labels"]]
    return {name: text_array(values) for name, values in columns.items()}


_KINDS: Final = {
    "session_id": "text",
    "id": "text",
    "event_id": "text",
    "user_id": "text",
    "group_id": "text",
    "agent_id": "text",
    "role": "text",
    "speaker": "text",
    "content": "text",
    "occurred_at": "timestamptz",
    "utc_offset": "int",
    "importance": "float8",
    "extras": "jsonb",
    "audience_labels": "text",
    "position": "int",
    "event_seq": "bigint",
    "token_count": "int",
}
"""Columns of new messages, with the type of their arrays; labels are arrays themselves, and as such texts."""

_PLACES: Final = ("position", "event_seq", "token_count")
_OWN: Final = tuple(name for name in _KINDS if name not in _PLACES)

_INSERT: Final = text(f"""
    WITH said AS MATERIALIZED (
        SELECT * FROM unnest({", ".join(f"cast(:{name} AS {kind}[])" for name, kind in _KINDS.items())})
        AS m ({", ".join(_KINDS)})
    ), stored AS (
        INSERT INTO messages (tenant_id, {", ".join(_KINDS)})
        SELECT :tenant, {", ".join(_KINDS).replace("audience_labels", "cast(audience_labels AS text[])")} FROM said
    )
    INSERT INTO participants (tenant_id, session_id, user_id)
    SELECT DISTINCT :tenant, session_id, user_id FROM said ON CONFLICT DO NOTHING
""")
"""Insert messages and who spoke. Their sessions are locked.

Not by what the insert returns: of messages with labels this transaction may read nothing.
"""
