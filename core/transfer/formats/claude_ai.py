"""Claude.ai's export: conversations with regenerated answers, projects, and its memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final, Literal

from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, Note, Record, Skipped, Turn

ROLES: Final[Mapping[str, Literal["user", "assistant"]]] = {"human": "user", "assistant": "assistant"}

ROOT: Final = "00000000-0000-4000-8000-000000000000"


def is_conversation(one: Object) -> bool:
    return isinstance(one.get("chat_messages"), list)


def is_memory(one: Object) -> bool:
    return any(name in one for name in ("conversations_memory", "project_memories", "memory_files"))


def is_project(one: Object) -> bool:
    return "prompt_template" in one and "uuid" in one


def conversation(one: Object, where: str) -> Iterator[Record]:
    """Yield a conversation on the branch that ends with its newest message."""
    turns = [turn for message in _branch(one) if (turn := _turn(message))]
    if not turns:
        yield Skipped(where, "a conversation without text")
        return
    identity = fields.text(one.get("uuid")) or hashlib.sha256("".join(t.id for t in turns).encode()).hexdigest()[:32]
    yield Conversation(f"claude/{identity}", turns, fields.text(one.get("name")))


def memory(one: Object) -> Iterator[Record]:
    """Yield what Claude has written down about its user, as documents: summaries, not single statements."""
    whole = fields.text(one.get("conversations_memory"))
    if whole.strip():
        yield Note("claude/memory", "Claude's memory", whole)
    for project, content in fields.mapping(one.get("project_memories")).items():
        if fields.text(content).strip():
            yield Note(f"claude/projects/{project}/memory", "Claude's memory of a project", fields.text(content))
    for file in fields.objects(one.get("memory_files")):
        path, content = fields.text(file.get("path")), fields.text(file.get("content"))
        if path and content.strip():
            yield Note(f"claude/memory/{path}", path, content, fields.moment(file.get("updated_at")))


def project(one: Object) -> Iterator[Record]:
    """Yield the instructions and documents of a project."""
    identity, name = fields.text(one.get("uuid")), fields.text(one.get("name"))
    parts = [fields.text(one.get("description")), fields.text(one.get("prompt_template"))]
    if any(part.strip() for part in parts):
        at = fields.moment(one.get("updated_at"))
        yield Note(f"claude/projects/{identity}", name or "A project of Claude", fields.paragraphs(parts), at)
    for file in fields.objects(one.get("docs")):
        path, content = fields.text(file.get("filename")), fields.text(file.get("content"))
        if content.strip():
            at = fields.moment(file.get("created_at"))
            yield Note(f"claude/projects/{identity}/{path}", path or name, content, at)


def _branch(one: Object) -> list[Object]:
    """Return the messages that lead to the current one; all of them where the export names no parents."""
    messages = fields.objects(one.get("chat_messages"))
    by_id = {fields.text(message.get("uuid")): message for message in messages}
    if not any(message.get("parent_message_uuid") for message in messages):
        return messages
    current = one.get("current_leaf_message_uuid")
    if current not in by_id:
        current = fields.text(messages[-1].get("uuid"))
    found: list[Object] = []
    while isinstance(current, str) and current in by_id and current != ROOT:
        found.append(by_id.pop(current))
        current = found[-1].get("parent_message_uuid")
    return found[::-1]


def _turn(message: Object) -> Turn | None:
    role = ROLES.get(fields.text(message.get("sender")))
    blocks = [fields.text(b.get("text")) for b in fields.objects(message.get("content")) if b.get("type") == "text"]
    content = fields.paragraphs(blocks) or fields.text(message.get("text")).strip()
    if role is None or not content:
        return None
    identity = fields.text(message.get("uuid")) or hashlib.sha256(content.encode()).hexdigest()[:32]
    files = [
        fields.text(one.get("file_name"))
        for name in ("attachments", "files", "files_v2")
        for one in fields.objects(message.get(name))
    ]
    kept = {"files": [name for name in files if name]} if any(files) else {}
    return Turn(identity, role, content, fields.moment(message.get("created_at")), metadata=kept)
