"""How a conversation stands: its newest messages as they were said, a summary of those before, its plan. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from core import plans
from core.context import lines, window
from core.context.choose import LeftOut
from core.context.desk import Desk
from core.context.gather import Talk
from core.context.parts import Part, Piece, Section
from core.context.shorten import shorten
from core.context.window import Window
from core.tokens import Counter, cut
from core.types import Message

MESSAGE_TOKENS: Final = 4
"""What a message costs beside its words: its role and its marks."""

TOOL_SHARE: Final = 8
"""A tool's result takes an eighth of the recent messages' allowance at the most; the rest of it is one call away."""

WORD_TOKENS: Final = 8
"""Fewer are not worth the beginning of a message."""


def background(desk: Desk, talk: Talk | None, allowed: int) -> tuple[Section, Section]:
    """The summary of what is no longer shown, and the plan: half of the allowance at the most."""
    summary = list(_summary(talk)) if talk else []
    told = desk.first(Part.SUMMARY, allowed // 3, summary)
    steps = [] if talk is None else [_plan(plan, allowed // 6, desk.counter) for plan in talk.plans]
    return told, desk.first(Part.PLAN, allowed // 6, steps)


def recent(desk: Desk, talk: Talk | None, allowed: int) -> Section:
    """The newest messages, from a place that moves seldom, oldest first; those that were hidden are left out."""
    if talk is None:
        return Section(Part.RECENT, "", 0, allowed)
    written = _written(desk, talk, allowed)
    seen = [message for message in talk.messages if message.id not in talk.hidden and message.content.strip()]
    ends = {message.id: end for message, end in zip(talk.messages, talk.ends, strict=True)}
    block = max(1, desk.allowance.short_term // window.BLOCKS)

    def cost(message: Message) -> int:
        return desk.cost(written(message)) + MESSAGE_TOKENS

    shown = window.shown(seen, [ends[m.id] for m in seen], Window(allowed, block), cost)
    pieces = [lines.of_message(message, written(message)) for message in shown]
    if not pieces and seen:
        pieces = _beginning(desk, seen[-1], allowed)
    first = len(seen) - len(pieces)
    gone = [LeftOut(lines.message_ref(m), "older than what there is room for") for m in seen[:first]]
    gone += [LeftOut(lines.message_ref(m), "hidden") for m in talk.messages if m.id in talk.hidden]
    tokens = sum(desk.cost(piece.text) + MESSAGE_TOKENS for piece in pieces)
    return Section(Part.RECENT, "", tokens, allowed, pieces, gone)


def _written(desk: Desk, talk: Talk, allowed: int) -> Callable[[Message], str]:
    """How a message is shown: as it was said, a tool's result by what matters of it, in a group with its speaker."""
    several = len({message.user_id for message in talk.messages}) > 1 or any(m.group_id for m in talk.messages)

    def written(message: Message) -> str:
        if message.role == "tool":
            whole = f"GET /v1/sessions/{talk.session_id}/messages/{message.id}"
            return shorten(message.content, max(WORD_TOKENS, allowed // TOOL_SHARE), desk.counter, whole=whole).text
        if several and message.role == "user":
            return f"{message.speaker or message.user_id}: {message.content}"
        return message.content

    return written


def _beginning(desk: Desk, message: Message, allowed: int) -> list[Piece]:
    """Of a last message that is longer than all there is: its beginning."""
    room = allowed - MESSAGE_TOKENS
    text = cut(message.content, room, desk.counter) if room >= WORD_TOKENS else ""
    return [lines.of_message(message, text)] if text else []


def _summary(talk: Talk) -> Iterable[Piece]:
    """The key messages first, for they are the last to be dropped; then what the rest came to."""
    if talk.summary is None:
        return
    for one in talk.summary.key_messages:
        source = {"type": "message", "session_id": talk.session_id, "id": one.message_id, "position": one.position}
        said = lines.one_line(one.quote)
        yield Piece(f"key:{one.message_id}", f"- {one.kind}, {one.by}: {said}", source, lines.KEYS)
    source = {"type": "summary", "session_id": talk.session_id, "to_position": talk.summary.to_position}
    yield Piece(f"summary:{talk.session_id}", talk.summary.content, source)


def _plan(plan: Any, allowed: int, counter: Counter) -> Piece:
    source = {"type": "plan", "session_id": plan.session_id, "id": plan.id, "version": plan.version}
    return Piece(f"plan:{plan.id}", plans.rendered(plan, allowed, counter), source)
