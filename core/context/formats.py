"""OpenAI messages, Anthropic messages, plain text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from core.context import rendering
from core.context.assembly import Sheet
from core.context.conversation import MESSAGE_TOKENS
from core.context.sections import Part, Piece
from core.inference.token_counting import Counter
from core.types import Json

Format = Literal["messages", "anthropic", "text"]

OVERHEAD: Final = 24
"""Tokens reserved for separators and message frames."""

REPLY_TOKENS: Final = 3
"""Tokens of the beginning of the answer."""

SPOKEN: Final = {"user": "user", "assistant": "assistant", "system": "system", "tool": "user"}
"""Role of a message as shown. A tool result without its call would be refused, so it is shown as the user's."""

STABLE: Final = (Part.INSTRUCTIONS, Part.PROFILE, Part.MEMORIES, Part.KNOWLEDGE, Part.SUMMARY, Part.PLAN)
"""Sections before the conversation."""

LAST: Final = (Part.SINCE, Part.FOCUS)
"""Sections before the last question: news, and memories for it."""

EARLIER: Final = "(The conversation goes on.)"
"""Content of the first turn: Anthropic requires it to be the user's."""


def rendered(sheet: Sheet, form: Format) -> Json:
    """Render as `{"messages": …}`, as `{"system": …, "messages": …}`, or as `{"text": …}`."""
    if form == "text":
        return {"text": _text(sheet)}
    return _anthropic(sheet) if form == "anthropic" else {"messages": _openai(sheet)}


def tokens(shown: Json, counter: Counter) -> int:
    """Count the tokens of a rendered context, with the frame of each message."""
    if "text" in shown:
        return counter.count(shown["text"])
    system = [block["text"] for block in shown.get("system", ())]
    spoken = [one for message in shown["messages"] for one in _texts(message["content"])]
    framed = (len(shown["messages"]) + len(system)) * MESSAGE_TOKENS
    return sum(map(counter.count, (*system, *spoken))) + framed + (REPLY_TOKENS if framed else 0)


def nothing(form: Format) -> Json:
    """Return the empty context."""
    return {"text": ""} if form == "text" else {"messages": []} | ({"system": []} if form == "anthropic" else {})


def joined(sheet: Sheet, parts: Sequence[Part]) -> str:
    """Join the texts of sections."""
    return "\n\n".join(one.text for one in sheet.sections if one.part in parts and one.text)


def _openai(sheet: Sheet) -> list[Json]:
    """Return one system message, then the conversation, with memories before its last question."""
    stable, focus = joined(sheet, STABLE), joined(sheet, LAST)
    talk = [{"role": SPOKEN[piece.role], "content": _said(piece)} for piece in _spoken(sheet)]
    if focus:
        talk.insert(_last_question(talk), {"role": "system", "content": focus})
    return [*([{"role": "system", "content": stable}] if stable else []), *talk]


def _anthropic(sheet: Sheet) -> Json:
    """Return the stable sections as a cacheable system prompt, and alternating turns that begin with the user."""
    stable, focus = joined(sheet, STABLE), joined(sheet, LAST)
    turns: list[Json] = []
    for piece in _spoken(sheet):
        role = "assistant" if piece.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].append({"type": "text", "text": _said(piece)})
        else:
            turns.append({"role": role, "content": [{"type": "text", "text": _said(piece)}]})
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": EARLIER}]})
    if focus:
        if not turns or turns[-1]["role"] == "assistant":
            turns.append({"role": "user", "content": []})
        turns[-1]["content"].insert(max(0, len(turns[-1]["content"]) - 1), {"type": "text", "text": focus})
    cached = {"type": "text", "text": stable, "cache_control": {"type": "ephemeral"}}
    return {"system": [cached] if stable else [], "messages": turns}


def _text(sheet: Sheet) -> str:
    spoken = [rendering.indented(f"{piece.role}: {_said(piece)}") for piece in _spoken(sheet)]
    talk = "\n".join(["# Recent Messages", *spoken]) if spoken else ""
    parts = (joined(sheet, STABLE), talk, joined(sheet, LAST))
    return "\n\n".join(part for part in parts if part)


def _spoken(sheet: Sheet) -> Sequence[Piece]:
    recent = sheet.section(Part.RECENT)
    return recent.pieces if recent else ()


def _said(piece: Piece) -> str:
    if piece.role == "tool":
        return rendering.tool_result(piece.heading, piece.text)
    return rendering.unmarked(piece.text)


def _last_question(talk: Sequence[Json]) -> int:
    """Return the index of the last user message; the end if there is none."""
    asked = [at for at, message in enumerate(talk) if message["role"] == "user"]
    return asked[-1] if asked else len(talk)


def _texts(content: str | list[Json]) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content]
