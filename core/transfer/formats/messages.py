"""Conversations as plain messages: LoCoMo, native events, and lines with a role and a content."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final, Literal, cast

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, Record, Turn

ROLES: Final = frozenset({"user", "assistant", "system", "tool"})

SESSION: Final = re.compile(r"session_(\d+)")


def is_locomo(one: Object) -> bool:
    return isinstance(one.get("conversation"), dict) and "session_1" in one["conversation"]


def is_event(one: Object) -> bool:
    return one.get("event_type") in {"message.added", "session.ended", "session.started"} and "payload" in one


def is_message(one: Object) -> bool:
    return one.get("role") in ROLES and isinstance(one.get("content"), str)


def locomo(one: Object, where: str) -> Iterator[Record]:
    """Yield the sessions of a LoCoMo conversation; both speakers are people."""
    told = fields.mapping(one.get("conversation"))
    name = fields.text(one.get("sample_id")) or hashlib.sha256(where.encode()).hexdigest()[:12]
    numbers = sorted(int(found[1]) for key in told if (found := SESSION.fullmatch(key)))
    for number in numbers:
        at = _day(fields.text(told.get(f"session_{number}_date_time")))
        turns = [
            Turn(
                fields.text(said.get("dia_id")) or f"{number}:{place}",
                "user",
                fields.text(said.get("text")),
                at,
                fields.text(said.get("speaker")) or None,
            )
            for place, said in enumerate(fields.objects(told.get(f"session_{number}")))
            if fields.text(said.get("text")).strip()
        ]
        if turns:
            yield Conversation(f"locomo/{name}/{number}", turns)


def _day(written: str) -> datetime | None:
    """Parse LoCoMo's form, such as `1:56 pm on 8 May, 2023`."""
    try:
        return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def session_of(one: Object, where: str) -> str:
    """Return the session of a message: the one that it names, else that of its file."""
    told = fields.mapping(one.get("payload")) if is_event(one) else one
    named = next((fields.text(told.get(key)) for key in ("session_id", "conversation_id", "thread_id")), "")
    return named or f"file/{hashlib.sha256(where.encode()).hexdigest()[:16]}"


def turn(one: Object, number: int) -> Turn | None:
    """Return the message in an event or line; None: it is none, or has no text."""
    told = fields.mapping(one.get("payload")) if is_event(one) else one
    content, role = fields.text(told.get("content")).strip(), told.get("role")
    if role not in ROLES or not content:
        return None
    identity = next(
        (fields.text(value) for value in (told.get("message_id"), told.get("id"), one.get("id")) if fields.text(value)),
        hashlib.sha256(f"{number}\n{role}\n{content}".encode()).hexdigest()[:32],
    )
    times = (one.get("time"), *(told.get(key) for key in ("time", "timestamp", "created_at", "occurred_at")))
    at = next((found for value in times if (found := fields.moment(value))), None)
    speaker = fields.text(told.get("speaker")) or fields.text(told.get("name")) or None
    return Turn(identity, cast("Literal['user', 'assistant', 'system', 'tool']", role), content, at, speaker)
