"""Summary, plan and recent messages. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Final
from urllib.parse import quote

from core.context import rendering, window
from core.context.packing import TITLE_TOKENS, Packer
from core.context.reader import SessionView
from core.context.sections import Section, SectionName, SectionPiece
from core.context.selection import Omission
from core.context.tool_results import shorten
from core.inference.token_counting import Counter, cut
from core.plans import tracker
from core.screening import output
from core.summaries import open_questions
from core.summaries.key_messages import KeyMessage
from core.summaries.rolling import Summary
from core.types import Message

MESSAGE_TOKENS: Final = 4
"""Tokens of a message beside its content: role and markers."""

TOOL_SHARE: Final = 8
"""Divisor: a tool result takes at most an eighth of recent messages' allowance; its full text is one call away."""

MARK_TOKENS: Final = 16
"""Tokens that mark a message as a tool result."""

WORD_TOKENS: Final = 8
"""Least tokens worth showing of a message."""


def background(packer: Packer, rendered: RenderedMessages | None, allowed: int) -> tuple[Section, Section]:
    """Return the summary of what is no longer shown, and the plan: a third and a sixth of the allowance.

    What the whole conversation leaves is added, first to the plan, up to half of the allowance. Neither share depends
    on what the other section has used, so that a larger allowance never shows less of either.
    """
    if rendered is None:
        return packer.first(SectionName.SUMMARY, 0, ()), packer.first(SectionName.PLAN, 0, ())
    summary, spare = list(_summary(rendered.conversation)), allowed - rendered.total
    whole_summary = packer.cost(rendering.section_text(SectionName.SUMMARY, summary)) + TITLE_TOKENS if summary else 0
    for_plans = max(allowed // 6, min(allowed // 2, spare - whole_summary))
    for_summary = max(allowed // 3, spare - for_plans)
    return packer.first(SectionName.SUMMARY, for_summary, summary), _plans(packer, rendered.conversation, for_plans)


def _plans(packer: Packer, conversation: SessionView, allowed: int) -> Section:
    """Return the plans, each within what those before it leave."""
    pieces, left_out, left = [], [], allowed - TITLE_TOKENS
    for plan in conversation.plans:
        piece = _plan(plan, left - 1, packer.counter)
        if piece.text:
            pieces.append(piece)
            left -= packer.line(piece)
        else:
            left_out.append(Omission(piece.key, "no room", "room"))
    return packer.section(SectionName.PLAN, allowed, pieces, left_out)


def recent(rendered: RenderedMessages | None, allowed: int, since: int = 0) -> Section:
    """Return the newest messages from a start that moves seldom and is not before `since`, without hidden ones."""
    if rendered is None:
        return Section(SectionName.RECENT, "", 0, allowed)
    packer, conversation = rendered.packer, rendered.conversation
    seen = [
        message
        for message in conversation.messages
        if message.id not in conversation.hidden and message.content.strip()
    ]
    late = [message for message in seen if message.position >= since]
    fitting = window.fit_window(late, lambda: rendered.ends(late), allowed, rendered.cost)
    pieces = [rendering.of_message(message, rendered(message)) for message in fitting]
    if not pieces and seen:
        pieces = _cut_last_message(packer, seen[-1], rendered(seen[-1]), allowed)
    left_out = [
        Omission(rendering.message_ref(m), "older than what there is room for", "room")
        for m in seen[: len(seen) - len(pieces)]
    ]
    left_out += [
        Omission(rendering.message_ref(m), "hidden", "hidden")
        for m in conversation.messages
        if m.id in conversation.hidden
    ]
    tokens = sum(packer.cost(piece.text) + MESSAGE_TOKENS + _mark(piece.role) for piece in pieces)
    return Section(SectionName.RECENT, "", tokens, allowed, pieces, left_out)


class RenderedMessages:
    """Rendered messages, each made once: tool results shortened, in a group with the speaker."""

    def __init__(self, packer: Packer, conversation: SessionView) -> None:
        self.packer, self.conversation = packer, conversation
        self._made: dict[str, str] = {}
        self._several = len({m.user_id for m in conversation.messages}) > 1 or any(
            m.group_id for m in conversation.messages
        )
        # Not of what happens to be left this time: the same result is to look the same in the next context.
        self._most = max(WORD_TOKENS, packer.allowance.short_term // TOOL_SHARE)

    @cached_property
    def total(self) -> int:
        """Tokens of all messages that may be shown."""
        messages, hidden = self.conversation.messages, self.conversation.hidden
        return sum(self.cost(message) for message in messages if message.id not in hidden)

    def __call__(self, message: Message) -> str:
        if message.id not in self._made:
            self._made[message.id] = self._write(message)
        return self._made[message.id]

    def cost(self, message: Message) -> int:
        return self.packer.cost(self(message)) + MESSAGE_TOKENS + _mark(message.role)

    def ends(self, messages: Sequence[Message]) -> list[int]:
        """Return the tokens up to and with each of these messages, as they are shown: all that were read count."""
        totals = accumulate(self.cost(message) for message in self.conversation.messages)
        ends = {message.id: total for message, total in zip(self.conversation.messages, totals, strict=True)}
        return [ends[message.id] for message in messages]

    def _write(self, message: Message) -> str:
        if message.role == "tool":
            message_path = f"{quote(message.session_id, safe='')}/messages/{quote(message.id, safe='')}"
            preceding_question = self._asked_before(message)
            return shorten(
                message.content, self._most, self.packer.counter, preceding_question, f"GET /v1/sessions/{message_path}"
            ).text  # fmt: skip
        if self._several and message.role == "user":
            return rendering.indent_lines(
                f"{rendering.one_line(message.speaker or message.user_id)}: {message.content}"
            )
        return message.content

    def _asked_before(self, message: Message) -> str:
        """Return the user's question before a tool result: the same in every context."""
        earlier_questions = [
            m.content for m in self.conversation.messages if m.role == "user" and m.position < message.position
        ]
        return earlier_questions[-1] if earlier_questions else ""


def _mark(role: str) -> int:
    """Tokens of the words that mark a tool result."""
    return MARK_TOKENS if role == "tool" else 0


def _cut_last_message(packer: Packer, message: Message, rendered: str, allowed: int) -> list[SectionPiece]:
    """Return the beginning of a last message that exceeds the whole room."""
    room = allowed - MESSAGE_TOKENS - _mark(message.role)
    text = cut(rendered, room, packer.counter) if room >= WORD_TOKENS else ""
    return [rendering.of_message(message, text)] if text else []


def _summary(conversation: SessionView) -> Iterable[SectionPiece]:
    """Put the key messages first, which are dropped last; then the summary of the rest."""
    if conversation.summary is None:
        return
    for key_message in _key_messages(conversation, conversation.summary):
        source = {
            "type": "message",
            "session_id": conversation.session_id,
            "id": key_message.message_id,
            "position": key_message.position,
        }
        seen = output.screened_output(key_message.quote)
        if seen.hostile:
            continue
        line = rendering.one_line(seen.text)
        yield SectionPiece(
            f"key:{key_message.message_id}", f"- {key_message.kind}, {key_message.by}: {line}", source, rendering.KEYS
        )
    source = {"type": "summary", "session_id": conversation.session_id, "to_position": conversation.summary.to_position}
    yield SectionPiece(
        f"summary:{conversation.session_id}",
        rendering.quote_lines(output.screened_output(conversation.summary.content).text),
        source,
    )


def _key_messages(conversation: SessionView, summary: Summary) -> Sequence[KeyMessage]:
    """Return the key messages of the summary, without questions that were answered since."""
    questions = [key for key in summary.key_messages if key.kind == open_questions.KIND]
    since = [m for m in conversation.messages if m.position > summary.to_position and m.id not in conversation.hidden]
    still_open = open_questions.still_open(questions, (), since) if questions else []
    return [key for key in summary.key_messages if key.kind != open_questions.KIND or key in still_open]


def _plan(plan: Any, allowed: int, counter: Counter) -> SectionPiece:
    source = {"type": "plan", "session_id": plan.session_id, "id": plan.id, "version": plan.version}
    steps = output.screened_output(tracker.render(plan, allowed, counter)).text
    return SectionPiece(f"plan:{plan.id}", steps, source)
