"""Statements worth keeping out of a conversation, by rules alone: no model, no network, the same answer every time.

A message is cut into sentences; a sentence that asserts something about its speaker is read by the tables of its
language (a slot, an instruction, a plan, a habit, an event), weighed, dated, and written in the third person.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.extract import dates, english, patterns_en, patterns_zh, rewrite, sentences, worth
from core.extract.reading import Cue, Slot, Theme
from core.types import Candidate, Category, Evidence, Kind, Message, Topic

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot", "agent", "chatgpt", "claude", "gemini", "copilot", "system"})
LONGEST_MESSAGE = 4000
"""Characters. Beyond it a message is a pasted document; what its author says about themselves stands at its start."""


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that asserts something: as written, in plain words, with its dates, by whom and to whom."""

    quote: str
    plain: str
    chinese: bool
    found: tuple[dates.Found, ...]
    message: Message
    speaker: str
    addressee: str | None
    context: str


def extract(messages: Sequence[Message]) -> list[Candidate]:
    """The candidates that `messages` (one conversation, in order) state, in the order in which they were said."""
    names = {m.speaker for m in messages if m.speaker}
    candidates: list[Candidate] = []
    for message in messages:
        speaker = speaker_of(message)
        if speaker:
            others = sorted(names - {speaker})
            candidates += _of_message(message, speaker, others[0] if len(others) == 1 else None, frozenset(others))
    return candidates


def speaker_of(message: Message) -> str | None:
    """Whose statements in `message` count: the person who speaks, None for an assistant, a tool or a system."""
    if message.role == "user":
        return message.speaker or message.user_id
    if message.role == "assistant" and message.speaker and message.speaker.lower() not in ASSISTANT_NAMES:
        return message.speaker
    return None


def _of_message(message: Message, speaker: str, addressee: str | None, names: frozenset[str]) -> list[Candidate]:
    candidates: list[Candidate] = []
    context = message.content[:LONGEST_MESSAGE]
    for quote in sentences.split(context):
        said = _said(quote, message, speaker, addressee, names, context)
        if said:
            candidates += _candidates(said)
    return candidates


def _said(
    quote: str, message: Message, speaker: str, addressee: str | None, names: frozenset[str], context: str
) -> _Said | None:
    asserted = sentences.asserted(quote)
    if asserted is None:
        return None
    chinese = sentences.is_chinese(asserted)
    plain = asserted if chinese else english.cleaned(asserted, names)
    found = tuple(dates.find(plain, message.occurred_at, chinese=chinese))
    return _Said(quote, plain, chinese, found, message, speaker, addressee, context)


def _candidates(said: _Said) -> list[Candidate]:
    tables = patterns_zh if said.chinese else patterns_en
    if tables.INSTRUCTION.search(said.plain):
        return [] if tables.ONE_OFF.search(said.plain) else [_instruction(said)]
    slots = _slots(said)
    if not slots and worth.of(said.plain) < worth.THRESHOLD:
        return []
    base = _statement(said, tables.CATEGORIES, tables.THEMES, corrects=bool(tables.CORRECTION.search(said.plain)))
    return [_filled(base, slot) for slot in slots] or [base]


def _slots(said: _Said) -> list[Slot]:
    if not said.chinese:
        return patterns_en.slots(said.plain)
    undated = said.plain
    for one in reversed(said.found):
        undated = undated[: one.start] + undated[one.end :]
    slots = {slot.attribute: slot for slot in patterns_zh.slots(undated) + patterns_zh.slots(said.plain)}
    return list(slots.values())


def _content(said: _Said) -> str:
    text = dates.written_out(said.plain, list(said.found))
    if said.chinese:
        return rewrite.third_person_zh(text, said.speaker, said.addressee)
    text = rewrite.third_person(text, said.speaker, said.addressee, said.context)
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _evidence(said: _Said) -> tuple[Evidence, ...]:
    message = said.message
    return (Evidence(message.session_id, message.id, message.event_id, said.quote),)


def _instruction(said: _Said) -> Candidate:
    wish = said.plain.rstrip(".!。！")
    content = f"{said.speaker}的要求：{wish}。" if said.chinese else f'{said.speaker} asks: "{wish}."'
    return Candidate(
        content, Category.INSTRUCTION, Topic.PREFERENCE, said.speaker, _evidence(said), said.message.occurred_at,
        kind=Kind.PROCEDURAL, importance=0.9, confidence=0.85,
    )  # fmt: skip


def _statement(said: _Said, cues: Sequence[Cue], themes: Sequence[Theme], *, corrects: bool) -> Candidate:
    cue = next((c for c in cues if c.regex.search(said.plain)), None)
    category = cue.category if cue else Category.FACT
    topic = next((t.topic for t in themes if t.regex.search(said.plain)), Topic.OTHER)
    return Candidate(
        _content(said), category, topic, said.speaker, _evidence(said), _when(said),
        kind=Kind.EPISODIC if category is Category.EVENT else Kind.SEMANTIC,
        importance=cue.importance if cue else 0.5, confidence=0.6, corrects=corrects, structured=_dated(said),
    )  # fmt: skip


def _when(said: _Said) -> datetime:
    return said.found[0].when if said.found else said.message.occurred_at


def _dated(said: _Said) -> dict[str, object]:
    return {"date_precision": said.found[0].precision.value} if said.found else {}


def _filled(base: Candidate, slot: Slot) -> Candidate:
    pattern = slot.pattern
    exclusive = pattern.exclusive and not pattern.negated
    structured = dict(base.structured)
    if not exclusive:
        structured |= {"attribute": slot.attribute, "value": slot.value, "negated": pattern.negated}
    return replace(
        base, category=pattern.category, topic=pattern.topic, kind=Kind.SEMANTIC, importance=pattern.importance,
        confidence=0.85, subject=_about(base.subject, slot), attribute=slot.attribute if exclusive else None,
        value=slot.value if exclusive else None, corrects=base.corrects or pattern.corrects, structured=structured,
    )  # fmt: skip


def _about(speaker: str, slot: Slot) -> str:
    if not slot.about:
        return speaker
    chinese = re.search(r"[\u4e00-\u9fff]", slot.about)
    named = slot.about[0].isupper()
    return slot.about if named else f"{speaker}的{slot.about}" if chinese else f"{speaker}'s {slot.about}"
