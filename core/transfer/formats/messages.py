"""Conversations as plain messages: native events, lines with a role and a content, lists of them, LoCoMo.

What a message of OpenAI, Anthropic, LangChain, ShareGPT or Gemini looks like is told by `core.events.message_shapes`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final

from core.events import message_shapes
from core.events.message_shapes import ClientMessage, UnreadableMessage
from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, FileEntry, Record, Skipped, SpokenLine, Turn

LISTS: Final = ("messages", "conversations", "conversation", "entries", "turns", "contents", "input", "items")
"""Fields of an object that hold the messages of a conversation, or several conversations."""

SESSIONS: Final = (
    *("session_id", "conversation_id", "thread_id", "chat_id"),
    *("sessionId", "conversationId", "threadId", "chatId"),
)
"""Fields of a message that name its conversation."""

TIMES: Final = ("time", "timestamp", "created_at", "occurred_at", "createdAt", "create_time", "date")

SAID: Final = frozenset(
    {"content", "parts", "text", "tool_calls", "value", "data", "kwargs", "output", "function_call"}
)
"""Fields of which a message has at least one."""

TYPES: Final = frozenset(
    "human ai system tool function chat message function_call function_call_output reasoning humanmessage aimessage "
    "systemmessage toolmessage humanmessagechunk aimessagechunk constructor".split()
)
"""Types of messages of LangChain, and of items of OpenAI's Responses."""

SESSION: Final = re.compile(r"session_(\d+)")

NO_WORDS: Final = "a message without words"
CALL: Final = "a tool's call"


def recognises(entry: Object) -> bool:
    return _is_event(entry) or _is_message(entry) or any(map(_is_talk, _inner(entry)))


def read(entries: Iterable[FileEntry]) -> Iterator[Record | SpokenLine]:
    """Yield a conversation for each list of messages, and the lines of those that stand by themselves."""
    for number, entry in enumerate(entries):
        if not _is_event(entry.value) and not _is_message(entry.value) and _inner(entry.value):
            yield from _conversations(entry)
        else:
            yield from _lines(entry, number)


def turns(message: Object, where: str, number: int, at: datetime | None = None) -> Iterator[Turn | Skipped]:
    """Yield what is said in a message, and each part that is left out. `at`: when, if the message does not say."""
    plain = _plain(message)
    try:
        several = message_shapes.read(plain)
    except UnreadableMessage as error:
        yield Skipped(where, f"a message of which {error}", odd=True)
        return
    for position, client_message in enumerate(several):
        yield from (Skipped(where, CALL) for _ in client_message.tool_calls)
        yield from (
            Skipped(where, f"a part of the type {part.get('type') or 'unknown'}") for part in client_message.parts
        )
        if not client_message.is_blank:
            yield _turn(plain, client_message, f"{number}" if position == 0 else f"{number}.{position}", at)
        elif not client_message.tool_calls and not client_message.parts:
            yield Skipped(where, NO_WORDS)


def _is_event(entry: Object) -> bool:
    kind = entry.get("event_type", entry.get("type"))
    return isinstance(kind, str) and "." in kind and isinstance(entry.get("payload", entry.get("data")), Mapping)


def _is_message(value: object) -> bool:
    if not isinstance(value, Mapping) or SAID.isdisjoint(value):
        return False
    return "role" in value or {"from", "value"} <= value.keys() or str(value.get("type")).lower() in TYPES


def _inner(entry: Object) -> list[object]:
    """Return the messages, or the conversations, of an object that holds a list of them."""
    return next((entry[name] for name in LISTS if isinstance(entry.get(name), list)), [])


def _is_talk(value: object) -> bool:
    """Return whether it is a message, or holds some."""
    return _is_message(value) or (isinstance(value, Mapping) and any(map(_is_message, _inner(value))))


def _conversations(entry: FileEntry) -> Iterator[Record]:
    """Yield the conversation in an object, or each of several."""
    inner = _inner(entry.value)
    name = next(name for name in LISTS if entry.value.get(name) is inner)
    at, own = fields.first_moment(entry.value, *TIMES), list[Turn]()
    for number, value in enumerate(inner):
        where = f"{entry.where}/{name}/{number}"
        if isinstance(value, Mapping) and not _is_message(value) and _inner(value):
            yield from _conversations(FileEntry(where, value))
        elif not isinstance(value, Mapping):
            yield Skipped(where, "a message that is no object", odd=True)
        else:
            for record in turns(value, where, number, at):
                if isinstance(record, Skipped):
                    yield record
                else:
                    own.append(record)
    if own:
        identity = fields.first_text(entry.value, *SESSIONS, "id", "uuid")
        contents = (part for turn in own for part in (turn.role, turn.text))
        yield Conversation(identity or f"talk/{fields.digest(*contents)}", own)
    elif not any(isinstance(value, Mapping) for value in inner):
        yield Skipped(entry.where, "a conversation without messages", odd=True)


def _lines(entry: FileEntry, number: int) -> Iterator[Record | SpokenLine]:
    message, at = entry.value, None
    if _is_event(entry.value):
        kind = entry.value.get("event_type", entry.value.get("type"))
        if kind != "message.added":
            yield Skipped(entry.where, f"an event of the type {kind}")
            return
        at = fields.moment(entry.value.get("time"))
        message = {"id": entry.value.get("id")} | entry.value.get("payload", entry.value.get("data"))
    for record in turns(message, entry.where, number, at):
        yield record if isinstance(record, Skipped) else SpokenLine(_session(message, entry.where), record)


def _session(message: Object, where: str) -> str:
    """Return the session of a message: the one that it names, else that of its file."""
    return fields.first_text(message, *SESSIONS) or f"file/{fields.digest(where.partition('#')[0], length=16)}"


def _plain(message: Object) -> Object:
    """Return a message with role and content where ShareGPT and Gemini name them otherwise."""
    if "role" not in message and {"from", "value"} <= message.keys():
        return {**message, "role": message["from"], "content": message["value"]}
    return {**message, "content": message["text"]} if "text" in message and "content" not in message else message


def _turn(message: Object, client_message: ClientMessage, number: str, at: datetime | None) -> Turn:
    text = fields.text(client_message.text).strip()
    named = fields.first_text(message, "message_id", "id")
    identity = f"{named}{number[number.index('.') :]}" if named and "." in number else named
    speaker = fields.first_text(message, "speaker") or fields.text(client_message.speaker)
    kept = {message_shapes.DESCRIBED: fields.storable(list(client_message.parts))} if client_message.parts else {}
    return Turn(
        identity or fields.digest(number, client_message.role, text),
        client_message.role,
        text,
        at or fields.first_moment(message, *TIMES),
        speaker or None,
        kept,
    )


def is_locomo(entry: Object) -> bool:
    return "session_1" in fields.mapping(entry.get("conversation"))


def locomo(entry: FileEntry) -> Iterator[Record]:
    """Yield the sessions of a LoCoMo conversation; both speakers are people."""
    talk = fields.mapping(entry.value.get("conversation"))
    name = fields.text(entry.value.get("sample_id")) or fields.digest(entry.where, length=12)
    numbers = sorted(int(match[1]) for key in talk if (match := SESSION.fullmatch(key)))
    for number in numbers:
        at = _day(fields.text(talk.get(f"session_{number}_date_time")))
        own = list[Turn]()
        for position, item in enumerate(fields.items(talk.get(f"session_{number}"))):
            message = fields.mapping(item)
            text, speaker = fields.text(message.get("text")), fields.text(message.get("speaker")) or None
            if text.strip():
                own.append(
                    Turn(fields.text(message.get("dia_id")) or f"{number}:{position}", "user", text, at, speaker)
                )
            else:
                yield Skipped(f"{entry.where}/conversation/session_{number}/{position}", NO_WORDS)
        if own:
            yield Conversation(f"locomo/{name}/{number}", own)


def _day(written: str) -> datetime | None:
    """Parse LoCoMo's form, such as `1:56 pm on 8 May, 2023`."""
    try:
        return datetime.strptime(written.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError:
        return None
