"""Claude Code's transcripts: a line for each message of a session, among lines of the program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from core.events import projects
from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import FileEntry, Record, Role, Skipped, SpokenLine, Turn

SPOKEN: Final = frozenset({"user", "assistant"})

MARKED: Final = {
    "isSidechain": "a message of a subagent",
    "isCompactSummary": "a summary that the program made",
    "isMeta": "a message of the program",
    "isApiErrorMessage": "an error of the API",
}
"""Marks of lines that nobody has said."""

BLOCKS: Final = {
    "tool_use": "a tool's call",
    "tool_result": "a tool's result",
    "thinking": "a thought",
    "redacted_thinking": "a thought",
    "image": "a picture",
}
"""Types of blocks that are left out."""

TAGGED: Final = re.compile(
    r"\s*<((?:system|command|local-command|bash|user-prompt|task|ide|session|hook|teammate)[\w-]*)\b[^>]*>"
    r"(?:.*?</\1>|.*\Z)",
    re.DOTALL,
)
"""A part of a text, between tags, that the program has put before a message."""

INJECTED: Final = (
    "Caveat: The messages below",
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
)
"""Beginnings of texts that the program, not its user, has put into a message."""

PUT_IN: Final = "a text that the program put in"
NOT_HUMAN: Final = "a message that no person wrote"
ERROR: Final = "API Error"


def recognises(entry: Object) -> bool:
    kind = entry.get("type")
    if kind == "summary":
        return "leafUuid" in entry
    return "type" in entry and ("sessionId" in entry or (kind == "file-history-snapshot" and "snapshot" in entry))


def read(entry: FileEntry) -> Iterator[Record | SpokenLine]:
    """Yield what was said in a line, and each part of it that is left out with the reason."""
    line = entry.value
    reason = _not_said(line)
    if reason is not None:
        yield Skipped(entry.where, reason)
        return
    message = fields.mapping(line.get("message"))
    role: Role = "user" if message.get("role") == "user" else "assistant"
    texts, left = _texts(message.get("content"), role)
    text, identity = fields.paragraphs(texts), fields.text(line.get("uuid"))
    if text and identity:
        turn = Turn(identity, role, text, fields.moment(line.get("timestamp")))
        group = projects.group_of(fields.text(line.get("cwd")))
        yield SpokenLine(f"claude-code/{fields.text(line.get('sessionId'))}", turn, group)
    elif not left:
        left = ["an empty message"]
    yield from (Skipped(entry.where, part) for part in left)


def _not_said(line: Object) -> str | None:
    """Return why nothing in a line was said by a person or the assistant; None: something may be."""
    kind, message = line.get("type"), line.get("message")
    if kind not in list(SPOKEN):
        return f"a line of the type {fields.text(kind) or 'unknown'}"
    marked = next((reason for mark, reason in MARKED.items() if line.get(mark)), None)
    origin = fields.text(fields.mapping(line.get("origin")).get("kind"))
    if marked is None and kind == "user" and origin not in {"", "human"}:
        return NOT_HUMAN
    if marked is None and fields.mapping(message).get("role") not in list(SPOKEN):
        return "a message without a role"
    return marked


def _texts(content: object, role: Role) -> tuple[list[str], list[str]]:
    """Return the texts of a message that were said, and why others are left out."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else fields.objects(content)
    spoken, left = list[str](), list[str]()
    for block in blocks:
        kind = fields.text(block.get("type"))
        if kind != "text":
            left.append(BLOCKS.get(kind, f"a block of the type {kind or 'unknown'}"))
            continue
        text = fields.text(block.get("text"))
        own = _own(text, role)
        spoken += [own] if own else []
        left += [] if own == text.strip() else [ERROR_LEFT if text.startswith(ERROR) else PUT_IN]
    return spoken, left


def _own(text: str, role: Role) -> str:
    """Return what its author has said in a text, without what the program has put before it."""
    if role == "assistant":
        return "" if text.startswith(f"{ERROR}:") else text.strip()
    while tagged := TAGGED.match(text):
        text = text[tagged.end() :]
    text = text.strip()
    return "" if text.startswith(INJECTED) else text


ERROR_LEFT: Final = MARKED["isApiErrorMessage"]
