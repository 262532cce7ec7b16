"""Conversations of Open WebUI and LibreChat: trees of messages, of which one branch is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from core.transfer.formats import branches, fields, messages
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, FileEntry, Record, Skipped, Turn

DETAILS: Final = re.compile(
    r"<details\s+type=[\"'](reasoning|tool_calls|code_interpreter)[\"'].*?</details>\s*", re.DOTALL
)
"""Blocks that Open WebUI puts into the text of an answer."""

NO_WORDS: Final = "a conversation without words"

TIMES: Final = ("timestamp", "createdAt", "updatedAt")


def is_open_webui(entry: Object) -> bool:
    return isinstance(_history(entry).get("messages"), Mapping)


def is_librechat(entry: Object) -> bool:
    several = fields.objects(entry.get("messages"))
    return any({"messageId", "isCreatedByUser"} <= message.keys() for message in several)


def open_webui(entry: FileEntry) -> Iterator[Record]:
    """Yield a chat of Open WebUI on the branch that ends with its current message."""
    history = _history(entry.value)
    nodes = {name: fields.mapping(node) for name, node in fields.mapping(history.get("messages")).items()}
    parents = {name: node.get("parentId") for name, node in nodes.items()}
    plain = {name: _without_details(node) for name, node in nodes.items()}
    yield from _branch(entry, "open-webui", plain, parents, history.get("currentId"))


def librechat(entry: FileEntry) -> Iterator[Record]:
    """Yield a conversation of LibreChat on its newest branch; its messages are a list, or each has its children."""
    nodes, parents = dict[str, Object](), dict[str, object]()
    pending = [(message, message.get("parentMessageId")) for message in fields.objects(entry.value.get("messages"))]
    for message, parent in pending:
        name = fields.text(message.get("messageId")) or str(len(nodes))
        nodes[name], parents[name] = _of_librechat(message), parent
        pending += [(child, name) for child in fields.objects(message.get("children"))]
    yield from _branch(entry, "librechat", nodes, parents, None)


def _history(entry: Object) -> Object:
    chat = fields.mapping(entry.get("chat")) or entry
    return fields.mapping(chat.get("history"))


def _without_details(node: Object) -> Object:
    content = node.get("content")
    return {**node, "content": DETAILS.sub("", content)} if isinstance(content, str) else node


def _of_librechat(message: Object) -> Object:
    """Return a message with a role, and its words as content."""
    content = message.get("content")
    parts = [
        {**part, "text": _text_of(part)} if part.get("type") == "text" else part for part in fields.objects(content)
    ]
    role = "user" if message.get("isCreatedByUser") else "assistant"
    kept = {name: message[name] for name in ("createdAt", "updatedAt") if name in message}
    return {**kept, "id": message.get("messageId"), "role": role, "content": parts or message.get("text")}


def _text_of(part: Object) -> str:
    return fields.text(fields.mapping(part.get("text")).get("value")) or fields.text(part.get("text"))


def _branch(
    entry: FileEntry, source: str, nodes: Mapping[str, Object], parents: Mapping[str, object], current: object
) -> Iterator[Record]:
    times = {name: fields.first_moment(node, *TIMES) for name, node in nodes.items()}
    kept = branches.current_branch(parents, current, times)
    yield from (Skipped(f"{entry.where}/messages/{name}", branches.LEFT) for name in nodes if name not in set(kept))
    turns = list[Turn]()
    for number, name in enumerate(kept):
        for record in messages.turns({"id": name, **nodes[name]}, f"{entry.where}/messages/{name}", number):
            if isinstance(record, Skipped):
                yield record
            else:
                turns.append(record)
    if turns:
        identity = fields.first_text(entry.value, "id", "conversationId") or fields.digest(*(t.id for t in turns))
        yield Conversation(f"{source}/{identity}", turns)
    else:
        yield Skipped(entry.where, NO_WORDS, odd=not nodes)
