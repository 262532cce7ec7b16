"""ChatGPT's export: conversations as trees of messages, of which one branch was kept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Any, Final

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, Record, Skipped, Statement, Turn

ROLES: Final = frozenset({"user", "assistant"})

READ: Final = frozenset({"text", "multimodal_text", "code"})
"""Types of content that people or the assistant have written. Others are thoughts, tools and settings."""

DATED: Final = re.compile(r"^\[(\d{4}-\d{2}-\d{2})\]\.?\s*")
"""A saved memory as lists show it: the day, then the text."""

FORBIDDEN: Final = "the user told ChatGPT not to remember it (is_do_not_remember)"


def is_conversation(one: Object) -> bool:
    return isinstance(one.get("mapping"), dict) and "current_node" in one


def is_saved_list(one: Object) -> bool:
    return isinstance(one.get("memories"), list) and "memory_max_tokens" in one


def conversation(one: Object, where: str, *, forbidden: bool = False) -> Iterator[Record]:
    """Yield a conversation on the branch that was kept, and what ChatGPT saved as its own memory in it."""
    known = fields.text(one.get("conversation_id")) or fields.text(one.get("id"))
    if one.get("is_do_not_remember") is True and not forbidden:
        yield Skipped(where, FORBIDDEN)
        return
    turns = []
    for node_id, message in _branch(one):
        if message.get("recipient") == "bio":
            yield from _saved(known, node_id, message)
        elif turn := _turn(node_id, message):
            turns.append(turn)
    if not turns:
        yield Skipped(where, "a conversation without messages of the user or the assistant")
        return
    identity = known or hashlib.sha256("".join(turn.id for turn in turns).encode()).hexdigest()[:32]
    yield Conversation(f"chatgpt/{identity}", turns, fields.text(one.get("title")))


def saved_list(one: Object) -> Iterator[Record]:
    """Yield the memories of ChatGPT's own list."""
    for saved in fields.objects(one.get("memories")):
        content = fields.text(saved.get("content")).strip()
        if content:
            at = fields.moment(saved.get("created_timestamp")) or fields.moment(saved.get("updated_at"))
            yield Statement(f"chatgpt/{saved.get('id') or content}", content, at)


def _branch(one: Object) -> list[tuple[str, Object]]:
    """Return the messages from the root to the current node; a broken or circular tree ends where it breaks."""
    nodes = fields.mapping(one.get("mapping"))
    found: list[tuple[str, Object]] = []
    node_id, seen = one.get("current_node"), set[str]()
    while isinstance(node_id, str) and node_id in nodes and node_id not in seen:
        seen.add(node_id)
        node = fields.mapping(nodes[node_id])
        if message := fields.mapping(node.get("message")):
            found.append((node_id, message))
        node_id = node.get("parent")
    return found[::-1]


def _turn(node_id: str, message: Object) -> Turn | None:
    author = fields.mapping(message.get("author"))
    hidden = fields.mapping(message.get("metadata")).get("is_visually_hidden_from_conversation")
    if author.get("role") not in ROLES or hidden or message.get("recipient") not in {"all", None}:
        return None
    content = _text(fields.mapping(message.get("content")))
    if not content:
        return None
    return Turn(
        fields.text(message.get("id")) or node_id, author["role"], content, fields.moment(message.get("create_time"))
    )


def _text(content: Object) -> str:
    if content.get("content_type") not in READ:
        return ""
    parts: list[Any] = fields.items(content.get("parts"))
    own = fields.text(content.get("text"))
    return fields.paragraphs([*([own] if own else []), *map(_part, parts)])


def _part(part: Any) -> str:
    """Return the words of a part: spoken ones are transcribed; a picture has none."""
    if isinstance(part, dict):
        return fields.text(part.get("text")) if part.get("content_type") == "audio_transcription" else ""
    return fields.text(part)


def _saved(known: str, node_id: str, message: Object) -> Iterator[Statement]:
    content = _text(fields.mapping(message.get("content")))
    at = fields.moment(message.get("create_time"))
    for number, line in enumerate(content.splitlines()):
        dated = DATED.match(line)
        said = (line[dated.end() :] if dated else line).strip()
        if said:
            yield Statement(f"chatgpt/{known}/{node_id}/{number}", said, fields.moment(dated[1]) if dated else at)
