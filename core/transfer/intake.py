"""Events and documents that records become. Pure; ids follow from the content, so a second import changes nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from core.events import identifiers
from core.events.parsing import NAME_CHARACTERS
from core.language import unnamed_user
from core.remembering.requests import UNREVIEWED
from core.transfer.records import Conversation, Note, Statement, Turn
from core.types import Json

SOURCE: Final = "import"

TEXT: Final = 60_000
"""Characters of one message; a longer one becomes several, each within the limit of an event."""

STATEMENT: Final = 10_000
"""Characters of a statement; a longer one is a document."""

FIELDS: Final = frozenset(
    "kind category topic subject attribute value importance structured pinned valid_from valid_to expires_at "
    "half_life_days".split()
)
"""Fields of `memory.requested` that an archive of Imprint knows."""


@dataclass(frozen=True, slots=True)
class ImportOwner:
    """Owner of the memories that the records become."""

    user_id: str
    group_id: str | None = None

    def fields(self) -> Json:
        return {"user_id": self.user_id} | ({"group_id": self.group_id} if self.group_id else {})


def events(records: Iterable[Conversation | Statement], owner: ImportOwner) -> Iterator[Json]:
    """Yield the events of conversations and statements; a session ends behind its last message."""
    last: tuple[Conversation, Turn] | None = None
    for record in records:
        if isinstance(record, Statement):
            yield _requested(record, owner)
            continue
        if last is not None and last[0].id != record.id:
            yield _ended(*last, owner)
        for turn in record.turns:
            yield from _messages(record, turn, owner)
        last = record, record.turns[-1]
    if last is not None:
        yield _ended(*last, owner)


def document(note: Note, owner: ImportOwner) -> Json:
    """Return the document of a note, named by where it was."""
    return {**owner.fields(), "title": note.title[:200], "uri": f"import:{note.id}"[:1_000], "content": note.text}


def is_long(statement: Statement) -> bool:
    """Return whether a statement is too long to be one."""
    return len(statement.content) > STATEMENT


def as_note(record: Statement | Note) -> Note:
    """Return a note as it is, and a statement that is too long to be one as a note."""
    if isinstance(record, Note):
        return record
    return Note(record.id, record.content[:80], record.content, record.at)


def session_id(conversation: str) -> str:
    """Return the id of a conversation as one of a session, or its digest if it cannot be one."""
    is_short = len(conversation) <= NAME_CHARACTERS
    if is_short and conversation.isprintable() and identifiers.fault_of_place(conversation) is None:
        return conversation
    return f"import/{_digest(conversation)}"


def _messages(conversation: Conversation, turn: Turn, owner: ImportOwner) -> Iterator[Json]:
    pieces = [turn.text[start : start + TEXT] for start in range(0, len(turn.text), TEXT)]
    for number, content in enumerate(pieces):
        identity = _digest(owner.user_id, conversation.id, turn.id, content, str(number))
        payload = {
            **_fields(owner, conversation.group),
            "session_id": session_id(conversation.id),
            "message_id": identity,
            "role": turn.role,
            "content": content,
            "tags": ["imported"],
        }
        if speaker := " ".join((turn.speaker or "").split())[:NAME_CHARACTERS].strip():
            payload["speaker"] = speaker
        if turn.metadata:
            payload["metadata"] = dict(turn.metadata)
        yield _event("message.added", identity, turn.at, payload)


def _ended(conversation: Conversation, last: Turn, owner: ImportOwner) -> Json:
    identity = _digest(owner.user_id, conversation.id, last.id, "ended")
    fields = _fields(owner, conversation.group)
    payload = {**fields, "session_id": session_id(conversation.id), "reason": "imported"}
    return _event("session.ended", identity, last.at, payload)


def _fields(owner: ImportOwner, group: str | None) -> Json:
    """Return the owner of a conversation: its own group counts where the import names none."""
    return owner.fields() if owner.group_id or group is None else {**owner.fields(), "group_id": group}


def _requested(statement: Statement, owner: ImportOwner) -> Json:
    kept = {name: value for name, value in statement.metadata.items() if name in FIELDS}
    other = {name: value for name, value in statement.metadata.items() if name not in FIELDS}
    content = statement.content if "subject" in kept else unnamed_user.about(statement.content, owner.user_id)
    payload = {**owner.fields(), **kept, "content": content, "tags": ["imported", UNREVIEWED]}
    if other:
        payload["structured"] = {**kept.get("structured", {}), "imported": other}
    if statement.at is not None:
        payload["occurred_at"] = statement.at.isoformat()
    identity = _digest(owner.user_id, statement.id, statement.content)
    return _event("memory.requested", identity, statement.at, payload)


def _event(kind: str, identity: str, at: datetime | None, payload: Json) -> Json:
    # A message without a time is of now, and its event must be the same at a second import: identity is its id alone.
    time = {} if at is None else {"time": min(at, datetime.now(UTC)).isoformat()}
    return {"id": identity, "event_type": kind, "source": SOURCE, "payload": payload, **time}


def _digest(*parts: str) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]
