"""OpenAI messages, Anthropic messages, plain text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from core.context import rendering
from core.context.assembly import Assembled
from core.context.conversation import MESSAGE_TOKENS
from core.context.sections import SectionName, SectionPiece
from core.inference.token_counting import Counter
from core.types import Json

Format = Literal["messages", "anthropic", "text"]

OVERHEAD: Final = 24
"""Tokens reserved for separators and message frames."""

REPLY_TOKENS: Final = 3
"""Tokens of the beginning of the answer."""

SPOKEN: Final = {"user": "user", "assistant": "assistant", "system": "system", "tool": "user"}
"""Role of a message as shown. A tool result without its call would be refused, so it is shown as the user's."""

STABLE: Final = (
    SectionName.SYSTEM_PROMPT,
    SectionName.TASK,
    SectionName.GUIDANCE,
    SectionName.INSTRUCTIONS,
    SectionName.PROFILE,
    SectionName.MEMORIES,
    SectionName.KNOWLEDGE,
    SectionName.SUMMARY,
    SectionName.PLAN,
)
"""Sections before the conversation."""

LAST: Final = (SectionName.SINCE, SectionName.FOCUS)
"""Sections before the last question: news, and memories for it."""

EARLIER: Final = "(The conversation goes on.)"
"""Content of the first turn: Anthropic requires it to be the user's."""


def render(assembled: Assembled, form: Format) -> Json:
    """Render as `{"messages": …}`, as `{"system": …, "messages": …}`, or as `{"text": …}`."""
    if form == "text":
        return {"text": _text(assembled)}
    return _anthropic(assembled) if form == "anthropic" else {"messages": _openai(assembled)}


def tokens(rendered: Json, counter: Counter) -> int:
    """Count the tokens of a rendered context, with the frame of each message."""
    if "text" in rendered:
        return counter.count(rendered["text"])
    system = [block["text"] for block in rendered.get("system", ())]
    spoken = [text for message in rendered["messages"] for text in _texts(message["content"])]
    framed = (len(rendered["messages"]) + len(system)) * MESSAGE_TOKENS
    return sum(map(counter.count, (*system, *spoken))) + framed + (REPLY_TOKENS if framed else 0)


def nothing(form: Format) -> Json:
    """Return the empty context."""
    return {"text": ""} if form == "text" else {"messages": []} | ({"system": []} if form == "anthropic" else {})


def join_sections(assembled: Assembled, parts: Sequence[SectionName]) -> str:
    """Join the texts of sections."""
    return "\n\n".join(section.text for section in assembled.sections if section.part in parts and section.text)


def _openai(assembled: Assembled) -> list[Json]:
    """Return one system message, then the conversation, with memories before its last question."""
    stable, focus = join_sections(assembled, STABLE), join_sections(assembled, LAST)
    turns = [{"role": SPOKEN[piece.role], "content": _turn_text(piece)} for piece in _recent_pieces(assembled)]
    if focus:
        turns.insert(_last_question(turns), {"role": "system", "content": focus})
    return [*([{"role": "system", "content": stable}] if stable else []), *turns]


def _anthropic(assembled: Assembled) -> Json:
    """Return the stable sections as a cacheable system prompt, and alternating turns that begin with the user.

    System messages of the conversation go to the system prompt, behind the cached part: no turn has that role.
    """
    stable, focus = join_sections(assembled, STABLE), join_sections(assembled, LAST)
    turns: list[Json] = []
    recent = _recent_pieces(assembled)
    for piece in (piece for piece in recent if piece.role != "system"):
        role = "assistant" if piece.role == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].append({"type": "text", "text": _turn_text(piece)})
        else:
            turns.append({"role": role, "content": [{"type": "text", "text": _turn_text(piece)}]})
    if turns and turns[0]["role"] == "assistant":
        turns.insert(0, {"role": "user", "content": [{"type": "text", "text": EARLIER}]})
    if focus:
        if not turns or turns[-1]["role"] == "assistant":
            turns.append({"role": "user", "content": []})
        turns[-1]["content"].insert(max(0, len(turns[-1]["content"]) - 1), {"type": "text", "text": focus})
    cached = {"type": "text", "text": stable, "cache_control": {"type": "ephemeral"}}
    system_messages = [{"type": "text", "text": _turn_text(piece)} for piece in recent if piece.role == "system"]
    return {"system": [*([cached] if stable else []), *system_messages], "messages": turns}


def _text(assembled: Assembled) -> str:
    spoken = [rendering.indent_lines(f"{piece.role}: {_turn_text(piece)}") for piece in _recent_pieces(assembled)]
    recent_messages = "\n".join(["# Recent Messages", *spoken]) if spoken else ""
    parts = (join_sections(assembled, STABLE), recent_messages, join_sections(assembled, LAST))
    return "\n\n".join(part for part in parts if part)


def _recent_pieces(assembled: Assembled) -> Sequence[SectionPiece]:
    recent = assembled.section(SectionName.RECENT)
    return recent.pieces if recent else ()


def _turn_text(piece: SectionPiece) -> str:
    if piece.role == "tool":
        return rendering.tool_result(piece.heading, piece.text)
    return rendering.break_marks(piece.text)


def _last_question(turns: Sequence[Json]) -> int:
    """Return the index of the last user message; the end if there is none."""
    user_turns = [index for index, message in enumerate(turns) if message["role"] == "user"]
    return user_turns[-1] if user_turns else len(turns)


def _texts(content: str | list[Json]) -> list[str]:
    return [content] if isinstance(content, str) else [block["text"] for block in content]
