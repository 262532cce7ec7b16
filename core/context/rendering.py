"""Renders memories, passages and messages. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from core.context.sections import TITLES, SectionName, SectionPiece
from core.types import Category, Json, Message, Trust

HEADINGS: Final[Mapping[str, str]] = {
    Category.PREFERENCE: "User Preferences",
    Category.FACT: "Known Facts",
    Category.KNOWLEDGE: "Known Facts",
    Category.PROJECT: "Known Facts",
    Category.PATTERN: "User Patterns",
    Category.SKILL: "Proven Skills",
    Category.PLAN: "Plans and Intentions",
    Category.EVENT: "What Happened",
    Category.EPISODE: "What Happened",
    Category.INSTRUCTION: "Standing Instructions",
}
"""Headings of memories by category, in this order."""

QUOTED_CHARACTERS: Final = 2_000
"""Characters read of a quoted message: more than any quote has room for."""

TOOL_MARK: Final = "[tool result"
TOOL_END: Final = "[end of tool result]"
_MARKS: Final = re.compile(r"\[(?=\s*(?:end\s+of\s+)?tool\s+result)", re.IGNORECASE)

QUOTED: Final = "From Earlier Conversations"

KEYS: Final = "Key Messages"

ORDERS: Final = HEADINGS[Category.INSTRUCTION]

ABOUT: Final = TITLES[SectionName.PROFILE]

WISHES: Final = "Wishes of the User"
"""Heading of unconfirmed standing instructions: what was said, not what the operator wants."""

OF_OTHERS: Final[Mapping[str, str]] = {
    "User Preferences": "Preferences of Other Members",
    "User Patterns": "Patterns of Other Members",
    WISHES: "Wishes of Other Members",
}
"""Headings for what other members of a group said, where that of the user would claim it for them."""

ORDER: Final = (*dict.fromkeys(HEADINGS.values()), WISHES, *OF_OTHERS.values(), ABOUT, QUOTED, KEYS)


DOUBTED: Final = " (may be outdated)"
"""Mark of a memory, or of a message that it rests on, that something said later may have ended."""


def of_memory(row: Any, listener: str | None = None, *, doubted: bool = False) -> SectionPiece:
    """Render a memory with its date; mark it as disputed where another contradicts it, and as `doubted`.

    In a group, what another member than the `listener` said stands under that member's id.
    """
    member, heading = _member(row, listener), HEADINGS[Category(row.category)]
    disputed = "disputed: " if row.trust == Trust.DISPUTED else ""
    since = "since " if row.attribute and row.valid_from else ""
    who = f"{one_line(member)}: " if member else ""
    mark = DOUBTED if doubted and not disputed else ""
    text = f"- {disputed}{who}{one_line(row.content)} ({since}{_day(row.valid_from or row.occurred_at)}){mark}"
    source = {"type": "memory", "id": str(row.id), "version": row.version}
    heading = OF_OTHERS.get(heading, heading) if member else heading
    return SectionPiece(f"memory:{row.id}", text, source, heading, content=row.content)


def _member(row: Any, listener: str | None) -> str:
    """Return the id of the other member of the group who said it; empty for the listener and outside of groups."""
    return str(row.user_id or "") if row.group_id is not None and row.user_id != listener else ""


def of_instruction(row: Any, listener: str | None = None, *, accept_unconfirmed: bool = False) -> SectionPiece:
    """Write a standing instruction or a pinned memory: the words alone, which hold whenever they were said.

    Wishes that nobody has confirmed are quoted, under a heading of their own, unless `accept_unconfirmed` lets them
    speak with the system's voice.
    """
    source = {"type": "memory", "id": str(row.id), "version": row.version, "pinned": row.pinned}
    line, member = one_line(row.content), one_line(_member(row, listener))
    if accept_unconfirmed or row.pinned or row.trust == Trust.CONFIRMED:
        return SectionPiece(
            f"memory:{row.id}", f"- {f'{member}: ' if member else ''}{line}", source, content=row.content
        )
    text = f"- {f'{member}, ' if member else ''}{_day(row.occurred_at)}: “{line}”"
    heading = OF_OTHERS[WISHES] if member else WISHES
    return SectionPiece(f"memory:{row.id}", text, source, heading, content=row.content)


SUPERSEDED: Final = " (no longer true)"
PARTLY: Final = " (partly no longer true)"
"""Marks behind the speaker of a message whose memories are all superseded, or some of them."""


def of_pinned(part: SectionName, text: str, source: Json) -> SectionPiece:
    """Render a pinned text as it is: it is the agent's own."""
    return SectionPiece(f"pinned:{part}", text, {"type": "pinned", "name": str(part), **source})


def of_quote(message: Message, mark: str = "") -> SectionPiece:
    """Render a message of another conversation, or from long ago. `mark`: SUPERSEDED, PARTLY, DOUBTED or nothing."""
    who = f"{one_line(message.speaker or message.role)}{mark}"
    who = f"result of {who}" if message.role == "tool" else who
    text = f"- {_day(message.occurred_at)}, {who}: {_in_quotes(message.content)}"
    return SectionPiece(message_ref(message), text, message_source(message), QUOTED, content=message.content)


def _in_quotes(text: str) -> str:
    """Quote on one line, so that the text cannot pass for the system's own words."""
    return f"“{one_line(text[:QUOTED_CHARACTERS]).translate(_INNER)}”"


_INNER: Final = str.maketrans("“”„", '"""')


def of_unit(unit: Any) -> SectionPiece:
    """Render what a part of another conversation was about."""
    source = {"type": "unit", "id": str(unit.id), "session_id": unit.session_id, "position": unit.from_position}
    text = f"- {_day(unit.started_at)}, a conversation: {_in_quotes(unit.summary)}"
    return SectionPiece(f"unit:{unit.id}", text, source, QUOTED, content=unit.summary)


def of_passage(row: Any) -> SectionPiece:
    """Render a passage with its source, quoted line by line, so that it cannot pass for a section."""
    title = one_line(" › ".join(dict.fromkeys((row.title, *row.headings))))
    source = {
        "type": "document",
        "id": str(row.document_id),
        "passage": row.position,
        "version": row.version,
        "uri": row.uri,
    }
    key = f"document:{row.document_id}#{row.position}"
    return SectionPiece(key, f"[{title}]\n{quote_lines(row.content)}", source, content=row.content)


def of_outside(name: str, result_id: str, text: str) -> SectionPiece:
    """Render a result of a third-party retriever, quoted likewise."""
    source = {"type": "outside", "retriever": name, "id": result_id}
    return SectionPiece(
        f"outside:{name}:{result_id}", f"[{one_line(result_id)}]\n{quote_lines(text)}", source, content=text
    )


def of_message(message: Message, text: str) -> SectionPiece:
    """Render a message, whole or shortened; a tool result under the name of its tool."""
    name = message.speaker or "" if message.role == "tool" else ""
    return SectionPiece(message_ref(message), text, message_source(message), heading=name, role=message.role)


def message_ref(message: Message) -> str:
    return f"message:{message.session_id}/{message.id}"


def message_source(message: Message) -> Json:
    return {"type": "message", "session_id": message.session_id, "id": message.id, "position": message.position}


def section_text(part: SectionName, pieces: Sequence[SectionPiece]) -> str:
    """Join pieces under the section's title and their headings, in a fixed order; empty without pieces."""
    if not pieces:
        return ""
    lines = [f"# {TITLES[part]}"] if part in TITLES else []
    for heading in sorted({piece.heading for piece in pieces}, key=_place):
        lines += [f"## {heading}"] if heading else []
        lines += [piece.text for piece in pieces if piece.heading == heading]
    return "\n".join(lines)


def _place(heading: str) -> int:
    return ORDER.index(heading) if heading in ORDER else -1


def quote_lines(text: str) -> str:
    """Quote line by line, so that the text cannot pass for a section."""
    return "\n".join(f"> {line}" for line in text.splitlines())


def indent_lines(text: str) -> str:
    """Indent every line but the first, so that a text cannot pass for another one or for a section."""
    return "\n  ".join(text.splitlines())


def tool_result(name: str | None, text: str) -> str:
    """Quote a tool's result between marks that no message can imitate; see `break_marks`."""
    title = f"{TOOL_MARK}: {one_line(name)}]" if name else f"{TOOL_MARK}]"
    return f"{title}\n{quote_lines(text)}\n{TOOL_END}"


def break_marks(text: str) -> str:
    """Break the marks of a tool's result in what somebody said."""
    return _MARKS.sub(lambda mark: f"({mark[0][1:]}", text)


def one_line(text: str) -> str:
    """Remove line breaks: what somebody said must not look like a section of the context."""
    return " ".join(text.split())


def _day(moment: datetime) -> str:
    return moment.date().isoformat()
