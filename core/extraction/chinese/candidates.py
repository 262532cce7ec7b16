"""Candidates of Chinese messages, built from the statements of the reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.extraction import candidates as extraction_candidates
from core.extraction import slots as extraction_slots
from core.extraction.chinese import patterns
from core.extraction.chinese.reader import Conversation
from core.extraction.chinese.statement import ClauseContext, ClauseStatement
from core.extraction.known_people import NOBODY, AcquaintancesByUser
from core.extraction.pattern_types import Slot
from core.types import Candidate, Category, Kind, Message, Topic

StatementCandidates = list[tuple[ClauseStatement, Candidate]]


class ChineseReader:
    """Builds the candidates of one conversation; `taken_back` returns those withdrawn later."""

    def __init__(self, acquaintances: AcquaintancesByUser = NOBODY) -> None:
        self._conversation = Conversation()
        self._known = acquaintances
        self._made: StatementCandidates = []

    def candidates(
        self, message: Message, text: str, speaker: str, question: str | None, *, alone: bool
    ) -> list[Candidate]:
        """Build the candidates of a message. `alone`: only an assistant listens, so wishes count as instructions."""
        made: StatementCandidates = []
        self._conversation.meet(speaker, self._known.get(message.user_id, ()))
        for statement in self._conversation.hear(text, speaker, question, ClauseContext(message.occurred_at)):
            if statement.instructs and not alone:
                continue
            made += [(statement, one) for one in _candidates(statement, message, speaker)]
        self._made += made
        return [candidate for _, candidate in made]

    def taken_back(self) -> list[Candidate]:
        """Return the candidates that a later message took back."""
        withdrawn = self._conversation.withdrawn
        return [candidate for statement, candidate in self._made if any(statement is one for one in withdrawn)]


def _candidates(statement: ClauseStatement, message: Message, speaker: str) -> Iterator[Candidate]:
    base = _base(statement, message, speaker)
    if statement.instructs:
        yield replace(base, attribute=statement.fact.attribute, value=statement.fact.value) if statement.fact else base
        return
    grouped = extraction_slots.by_attribute(statement.slots)
    if statement.fact:
        yield _with_fact(base, statement, [slot for slots in grouped for slot in slots])
        return
    for position, slots in enumerate(grouped):
        one = extraction_slots.fill_slot(base, slots, _about(slots[0], speaker))
        yield (
            replace(one, content=_plainly(one.subject, slots)) if position or _is_other_name(slots[0], speaker) else one
        )
    if not grouped:
        yield base


def _is_other_name(slot: Slot, speaker: str) -> bool:
    """Return whether a slot gives the speaker a name other than the one that is known."""
    return slot.attribute.startswith("name.") and slot.value != speaker


def _plainly(subject: str, slots: Sequence[Slot]) -> str:
    return extraction_slots.slot_sentence(subject, slots, patterns.TABLES, "、")


def _base(statement: ClauseStatement, message: Message, speaker: str) -> Candidate:
    if statement.instructs:
        return Candidate(
            statement.text, Category.INSTRUCTION, Topic.PREFERENCE, speaker,
            extraction_candidates.evidence(message, statement.quote), message.occurred_at,
            importance=0.9, confidence=0.85,
        )  # fmt: skip
    return extraction_candidates.without_slot(
        statement.text, statement.plain, statement.subject, message, statement.found, patterns.TABLES,
        quote=statement.quote, corrects=statement.corrects, category=_category(statement, message),
        importance=statement.importance, confidence=0.7,
    )  # fmt: skip


def _category(statement: ClauseStatement, message: Message) -> Category:
    """Choose by its words; a plan if its date lies ahead, an event if it is past."""
    cue = extraction_candidates.category_cue(statement.plain, patterns.TABLES)
    ahead = extraction_candidates.is_ahead(statement.found, message)
    if ahead and statement.category in {Category.FACT, Category.EVENT, Category.PLAN}:
        return Category.PLAN
    if cue and statement.category is Category.FACT:
        return cue.category
    if statement.category is Category.PLAN and statement.found and not ahead:
        return Category.EVENT
    return statement.category


def _with_fact(base: Candidate, statement: ClauseStatement, slots: Sequence[Slot]) -> Candidate:
    """Fill the slot of a changing thing; slots read by the tables go to `structured`."""
    fact = statement.fact
    if fact is None:
        return base
    topic = fact.topic if base.topic is Topic.OTHER else base.topic
    candidate = replace(
        base, topic=topic, kind=Kind.SEMANTIC, attribute=fact.attribute, value=fact.value, confidence=0.8,
        corrects=base.corrects or fact.over,
    )  # fmt: skip
    if not slots:
        return candidate
    slot, pattern = slots[0], slots[0].pattern
    values = [one.value for one in slots if one.attribute == slot.attribute]
    listed = {"attribute": slot.attribute, "values": values, "negated": pattern.negated}
    return replace(
        candidate, category=pattern.category, importance=max(base.importance, pattern.importance),
        structured=base.structured | listed,
    )  # fmt: skip


def _about(slot: Slot, speaker: str) -> str:
    if not slot.about:
        return speaker
    has_owner = slot.about.startswith(f"{speaker}的") or not patterns.KIN_ONLY.fullmatch(slot.about)
    return slot.about if has_owner else f"{speaker}的{slot.about}"
