"""Codex's session files (rollouts): a line for each item of a session, among events that repeat what was said."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from core.events import projects
from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import FileEntry, Record, Skipped, SpokenLine, Turn

LINES: Final = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})

ROLES: Final[Mapping[str, Literal["user", "assistant"]]] = {"user": "user", "assistant": "assistant"}

EVENTS: Final[Mapping[str, Literal["user", "assistant"]]] = {"user_message": "user", "agent_message": "assistant"}
"""Events that say what a person or the assistant said."""

ITEMS: Final = {
    "reasoning": "a thought",
    "function_call": "a tool's call",
    "custom_tool_call": "a tool's call",
    "local_shell_call": "a tool's call",
    "web_search_call": "a tool's call",
    "function_call_output": "a tool's result",
    "custom_tool_call_output": "a tool's result",
}

INJECTED: Final = re.compile(r"\s*(?:<[A-Za-z][\w -]*>|# AGENTS\.md instructions)")
"""Beginning of a text that the program has put into a message of the user."""

REQUEST: Final = "## My request for Codex:"
"""Heading of what the user has written, behind what an editor has added."""

PUT_IN: Final = "a text that the program put in"
REPEATED: Final = "an event that repeats what was said"


def recognises(entry: Object) -> bool:
    return entry.get("type") in list(LINES) and isinstance(entry.get("payload"), dict)


def read(entries: Iterable[FileEntry]) -> Iterator[Record | SpokenLine]:
    """Yield what was said. Most is there twice, as an item and as an event, in either order: the first one counts."""
    session, group, balance = "", None, Counter[str]()
    for number, entry in enumerate(entries):
        payload, kind = fields.mapping(entry.value.get("payload")), entry.value.get("type")
        if kind == "session_meta" and not session:
            session = fields.first_text(payload, "id", "session_id")
            group = projects.group_of(fields.text(payload.get("cwd")))
        role, text, reason = _role_and_text(kind, payload)
        if role is None:
            yield Skipped(entry.where, reason)
            continue
        key, step = fields.digest(role, text), 1 if kind == "response_item" else -1
        balance[key] += step
        if balance[key] * step <= 0:
            yield Skipped(entry.where, REPEATED)
            continue
        turn = Turn(fields.digest(number, role, text), role, text, fields.moment(entry.value.get("timestamp")))
        name = session or fields.digest(entry.where.partition("#")[0], length=16)
        yield SpokenLine(f"codex/{name}", turn, group)


def _role_and_text(kind: object, payload: Object) -> tuple[Literal["user", "assistant"] | None, str, str]:
    """Return by whom what was said in a line, or why nothing was."""
    type_ = fields.text(payload.get("type"))
    if kind == "event_msg":
        role = EVENTS.get(type_)
        text, reason = fields.text(payload.get("message")).strip(), f"an event of the type {type_ or 'unknown'}"
    elif kind == "response_item" and type_ == "message":
        role = ROLES.get(fields.text(payload.get("role")))
        blocks = fields.objects(payload.get("content"))
        text = fields.paragraphs(fields.text(block.get("text")) for block in blocks)
        reason = f"a message of the role {fields.text(payload.get('role')) or 'unknown'}"
    else:
        is_item = kind == "response_item"
        return None, "", ITEMS.get(type_, f"an item of the type {type_}") if is_item else f"a line of the type {kind}"
    if role == "user":
        text = text.rpartition(REQUEST)[2].strip()
        if INJECTED.match(text):
            return None, "", PUT_IN
    if role is None or text:
        return role, text, reason
    return None, "", "a message without words"
