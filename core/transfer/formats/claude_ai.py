"""Claude.ai's export: conversations with regenerated answers, projects, and its memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from core.transfer.formats import branches, fields
from core.transfer.formats.fields import Object
from core.transfer.records import Conversation, FileEntry, Note, Record, Skipped, Turn

ROLES: Final[Mapping[str, Literal["user", "assistant"]]] = {"human": "user", "assistant": "assistant"}

BLOCKS: Final[Mapping[str, str]] = {
    "thinking": "a thought",
    "tool_use": "a tool's call",
    "tool_result": "a tool's result",
    "image": "a picture",
}
"""Types of blocks that are left out."""


def recognises(entry: Object) -> bool:
    return "chat_messages" in entry or _is_memory(entry) or _is_project(entry)


def read(entry: FileEntry) -> Iterator[Record]:
    """Yield a conversation, a project, or what Claude keeps as its memory."""
    if _is_memory(entry.value):
        return _memory(entry.value)
    return _project(entry.value) if _is_project(entry.value) else _conversation(entry)


def _is_memory(entry: Object) -> bool:
    return any(name in entry for name in ("conversations_memory", "project_memories", "memory_files"))


def _is_project(entry: Object) -> bool:
    return "prompt_template" in entry and "uuid" in entry


def _conversation(entry: FileEntry) -> Iterator[Record]:
    """Yield a conversation on the branch that ends with its newest message."""
    messages = dict[str, tuple[str, Object]]()
    for number, message in enumerate(fields.items(entry.value.get("chat_messages"))):
        where = f"{entry.where}/chat_messages/{number}"
        if isinstance(message, Mapping):
            messages[fields.text(message.get("uuid")) or where] = where, message
        else:
            yield Skipped(where, "a message that is no object", odd=True)
    kept = _branch(entry.value, {name: message for name, (_, message) in messages.items()})
    turns = []
    for name, (where, message) in messages.items():
        turn, left = _turn(message) if name in kept else (None, [branches.LEFT])
        turns += [turn] if turn else []
        yield from (Skipped(where, reason) for reason in left)
    if turns:
        identity = fields.text(entry.value.get("uuid")) or fields.digest(*(turn.id for turn in turns))
        yield Conversation(f"claude/{identity}", turns)
    else:
        odd = not isinstance(entry.value.get("chat_messages"), list)
        yield Skipped(entry.where, "a conversation without text", odd)


def _memory(entry: Object) -> Iterator[Record]:
    """Yield what Claude has written down about its user, as documents: summaries, not single statements."""
    whole = fields.text(entry.get("conversations_memory"))
    if whole.strip():
        yield Note("claude/memory", "Claude's memory", whole)
    for project, content in fields.mapping(entry.get("project_memories")).items():
        if fields.text(content).strip():
            yield Note(f"claude/projects/{project}/memory", "Claude's memory of a project", fields.text(content))
    for file in fields.objects(entry.get("memory_files")):
        path, content = fields.text(file.get("path")), fields.text(file.get("content"))
        if path and content.strip():
            yield Note(f"claude/memory/{path}", path, content, fields.moment(file.get("updated_at")))


def _project(entry: Object) -> Iterator[Record]:
    identity, name = fields.text(entry.get("uuid")), fields.text(entry.get("name"))
    parts = [fields.text(entry.get("description")), fields.text(entry.get("prompt_template"))]
    if any(part.strip() for part in parts):
        at = fields.moment(entry.get("updated_at"))
        yield Note(f"claude/projects/{identity}", name or "A project of Claude", fields.paragraphs(parts), at)
    for file in fields.objects(entry.get("docs")):
        path, content = fields.text(file.get("filename")), fields.text(file.get("content"))
        if content.strip():
            at = fields.moment(file.get("created_at"))
            yield Note(f"claude/projects/{identity}/{path}", path or name, content, at)


def _branch(talk: Object, messages: Mapping[str, Object]) -> set[str]:
    """Return the messages that lead to the current one; all of them where the export names no parents."""
    parents = {name: message.get("parent_message_uuid") for name, message in messages.items()}
    if not any(parents.values()):
        return set(messages)
    current = talk.get("current_leaf_message_uuid")
    spoken = (name for name in reversed(list(messages)) if _sender(messages[name]) in ROLES)
    newest = next(spoken, None)
    return set(branches.current_branch(parents, current if current in list(messages) else newest, {}))


def _turn(message: Object) -> tuple[Turn | None, list[str]]:
    """Return what was said in a message, and why parts of it, or all of it, are left out."""
    sender = _sender(message)
    if sender not in ROLES:
        return None, [f"a message of the sender {sender or 'unknown'}"]
    blocks = fields.objects(message.get("content"))
    left = [_reason(block) for block in blocks if block.get("type") != "text"]
    texts = [fields.text(block.get("text")) for block in blocks if block.get("type") == "text"]
    text = fields.paragraphs(texts) or fields.text(message.get("text")).strip()
    files = _files(message)
    content = fields.paragraphs([text, *(f"[file: {name}]" for name in files)])
    if not content:
        return None, left or ["an empty message"]
    identity = fields.text(message.get("uuid")) or fields.digest(content)
    at = fields.moment(message.get("created_at"))
    return Turn(identity, ROLES[sender], content, at, metadata={"files": files} if files else {}), left


def _sender(message: Object) -> str:
    return fields.text(message.get("sender"))


def _reason(block: Object) -> str:
    kind = fields.text(block.get("type"))
    return BLOCKS.get(kind, f"a block of the type {kind or 'unknown'}")


def _files(message: Object) -> list[str]:
    names = (
        fields.text(file.get("file_name"))
        for name in ("attachments", "files", "files_v2")
        for file in fields.objects(message.get(name))
    )
    return list(dict.fromkeys(name for name in names if name))
