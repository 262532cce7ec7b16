"""ChatGPT's export: conversations as trees of messages, of which one branch was kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from core.transfer.formats import branches, fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, FileEntry, Record, Skipped, Statement, Turn

ROLES: Final = frozenset({"user", "assistant"})

READ: Final = frozenset({"text", "multimodal_text", "code"})
"""Types of content that people or the assistant have written."""

THOUGHTS: Final = frozenset({"thoughts", "reasoning_recap"})

DATED: Final = re.compile(r"^\[(\d{4}-\d{2}-\d{2})\]\.?\s*")
"""A saved memory as lists show it: the day, then the text."""

FORBIDDEN: Final = "the user told ChatGPT not to remember it (is_do_not_remember)"
NO_TURNS: Final = "a conversation without messages of the user or the assistant"


def recognises(entry: Object) -> bool:
    return _is_saved_list(entry) or ("mapping" in entry and bool({"current_node", "conversation_id"} & entry.keys()))


def read(entry: FileEntry) -> Iterator[Record]:
    """Yield a conversation with what ChatGPT saved as its memory in it, or the list of all that it has saved."""
    if _is_saved_list(entry.value):
        return _saved_list(entry)
    return _conversation(entry)


def _is_saved_list(entry: Object) -> bool:
    return isinstance(entry.get("memories"), list) and "memory_max_tokens" in entry


def _conversation(entry: FileEntry) -> Iterator[Record]:
    talk = entry.value
    conversation_id = fields.first_text(talk, "conversation_id", "id")
    if talk.get("is_do_not_remember") is True and not entry.include_forbidden:
        yield Skipped(entry.where, FORBIDDEN)
        return
    kept, left = _branch(talk)
    turns = []
    for node_id, message in kept:
        where = f"{entry.where}/mapping/{node_id}"
        if message.get("recipient") == "bio":
            yield from _saved(conversation_id, node_id, message)
        elif reason := _left_out(message):
            yield Skipped(where, reason)
        else:
            turn, parts = _turn(node_id, message)
            yield from (Skipped(where, part) for part in parts)
            turns += [turn] if turn else []
    yield from (Skipped(f"{entry.where}/mapping/{node_id}", branches.LEFT) for node_id in left)
    if turns:
        identity = conversation_id or fields.digest(*(turn.id for turn in turns))
        yield Conversation(f"chatgpt/{identity}", turns)
    else:
        yield Skipped(entry.where, NO_TURNS, odd=not isinstance(talk.get("mapping"), dict))


def _saved_list(entry: FileEntry) -> Iterator[Record]:
    for number, item in enumerate(fields.items(entry.value["memories"])):
        saved = fields.mapping(item)
        content = fields.text(saved.get("content")).strip()
        if content:
            at = fields.first_moment(saved, "created_timestamp", "updated_at")
            yield Statement(f"chatgpt/{saved.get('id') or content}", content, at)
        else:
            yield Skipped(f"{entry.where}/memories/{number}", "a memory without text", odd=True)


def _branch(talk: Object) -> tuple[list[tuple[str, Object]], list[str]]:
    """Return the messages of the branch that was kept, and the ids of messages of other branches."""
    nodes = {name: fields.mapping(node) for name, node in fields.mapping(talk.get("mapping")).items()}
    message = {name: fields.mapping(node.get("message")) for name, node in nodes.items()}
    parents = {name: node.get("parent") for name, node in nodes.items()}
    times = {name: fields.moment(message[name].get("create_time")) for name in nodes if message[name]}
    kept = branches.current_branch(parents, talk.get("current_node"), times)
    left = [name for name in nodes if message[name] and name not in set(kept)]
    return [(name, message[name]) for name in kept if message[name]], left


def _left_out(message: Object) -> str | None:
    """Return why a message is left out; None: it was said."""
    role = fields.text(fields.mapping(message.get("author")).get("role"))
    kind = fields.text(fields.mapping(message.get("content")).get("content_type"))
    if fields.mapping(message.get("metadata")).get("is_visually_hidden_from_conversation") or role == "system":
        return "a message that ChatGPT hides"
    if role == "tool":
        return "a tool's result"
    if role not in ROLES:
        return f"a message of the role {role or 'unknown'}"
    if message.get("recipient") not in ["all", None]:
        return "a tool's call"
    if kind in THOUGHTS:
        return "a thought"
    return None if kind in READ else f"content of the type {kind or 'unknown'}"


def _turn(node_id: str, message: Object) -> tuple[Turn | None, list[str]]:
    """Return what was said in a message, and which parts of it are left out."""
    content = fields.mapping(message.get("content"))
    text, left = _text(content)
    if not text:
        return None, left or ["an empty message"]
    role = message["author"]["role"]
    at = fields.moment(message.get("create_time"))
    return Turn(fields.text(message.get("id")) or node_id, role, text, at), left


def _text(content: Object) -> tuple[str, list[str]]:
    """Return the words of a content, and which of its parts have none: spoken ones are transcribed."""
    texts, left = [fields.text(content.get("text"))], []
    for part in fields.items(content.get("parts")):
        spoken = _words(part)
        if spoken is None:
            left.append(_kind_of_part(part))
        else:
            texts.append(spoken)
    return fields.paragraphs(texts), left


def _words(part: Any) -> str | None:
    if isinstance(part, dict):
        return fields.text(part.get("text")) if part.get("content_type") == "audio_transcription" else None
    return fields.text(part) if isinstance(part, str) else None


def _kind_of_part(part: Any) -> str:
    kind = fields.text(fields.mapping(part).get("content_type"))
    if "image" in kind:
        return "a picture"
    return "a recording" if "audio" in kind or "video" in kind else f"a part of the type {kind or 'unknown'}"


def _saved(conversation_id: str, node_id: str, message: Object) -> Iterator[Statement]:
    content, _ = _text(fields.mapping(message.get("content")))
    at = fields.moment(message.get("create_time"))
    for number, line in enumerate(content.splitlines()):
        dated = DATED.match(line)
        statement = (line[dated.end() :] if dated else line).strip()
        if statement:
            yield Statement(
                f"chatgpt/{conversation_id}/{node_id}/{number}", statement, fields.moment(dated[1]) if dated else at
            )
