"""Claude Code's transcripts: a line for each message of a session."""

from __future__ import annotations

from typing import Final, Literal, cast

from core.events import projects
from core.transfer.formats import fields
from core.transfer.formats.fields import Object
from core.transfer.records import Turn

SPOKEN: Final = frozenset({"user", "assistant"})

INJECTED: Final = ("<system-reminder>", "<command-name>", "<local-command-", "<bash-", "Caveat: The messages below")
"""Beginnings of texts that the program, not its user, has put into a message."""


def is_line(one: Object) -> bool:
    return ("sessionId" in one and "type" in one) or (one.get("type") == "summary" and "leafUuid" in one)


def session_of(one: Object) -> str:
    return f"claude-code/{fields.text(one.get('sessionId'))}"


def group_of(one: Object) -> str | None:
    """Return the group of the project, as the hooks of Claude Code name it."""
    return projects.group_of(fields.text(one.get("cwd")))


def turn(one: Object) -> Turn | None:
    """Return what was said in a line; None: a tool's call or result, a thought, a note of the program."""
    message = fields.mapping(one.get("message"))
    role = message.get("role")
    if one.get("type") not in SPOKEN or role not in SPOKEN or one.get("isMeta") or one.get("isSidechain"):
        return None
    content = message.get("content")
    blocks = [fields.text(b.get("text")) for b in fields.objects(content) if b.get("type") == "text"]
    texts = [part for part in ([content] if isinstance(content, str) else blocks) if not part.startswith(INJECTED)]
    said = fields.paragraphs([fields.text(part) for part in texts])
    identity = fields.text(one.get("uuid"))
    if not said or not identity:
        return None
    return Turn(identity, cast("Literal['user', 'assistant']", role), said, fields.moment(one.get("timestamp")))
