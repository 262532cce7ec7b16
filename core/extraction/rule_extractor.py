"""Rule-based extraction: sentence by sentence, each quoted or, where nothing can be misread, put in the third person.

A sentence is kept if it is a standing order, fills a slot for certain, or matters for months by a trained regression;
among people, whose talk is mostly of the moment, if its message says enough.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.extraction import candidates, quoting, salience, self_corrections, slot_statements, speakers
from core.extraction.self_corrections import Slips
from core.extraction.speakers import HeardMessage
from core.language import dates, languages, sentences
from core.language.language import Grammar, Slot
from core.types import Candidate, Category, Message, Topic

ORDERED, ORDER_CONFIDENCE = 0.9, 0.85
"""Importance and confidence of a standing order."""

WORDS_A_SLOT = 14
"""Words for each slot up to which the statements of its slots are all that a sentence says."""


@dataclass(frozen=True, slots=True)
class ReadSentence:
    """A sentence of a message, and what tables read in it.

    `orders`: a standing order, in plain words; `passes`: an order for this time alone, or meant for other people.
    """

    heard: HeardMessage
    position: int
    text: str
    language: Grammar
    slots: Sequence[Slot] = ()
    orders: str | None = None
    passes: bool = False
    is_asserted: bool = False

    @property
    def is_certain(self) -> bool:
        """Return whether it may be put in other words."""
        return self.is_asserted and quoting.is_certain(self.text, self.language)


def extract(messages: Sequence[Message], slips: Slips | None = None) -> list[Candidate]:
    """Return the candidates of `messages` (one conversation, in order), in order of appearance.

    `slips`: tells what corrects a slip of the tongue; None: nothing does.
    """
    messages, corrected = self_corrections.apply(messages, slips)
    return [
        self_corrections.with_sources(candidate, corrected)
        for heard in speakers.heard(messages)
        for sentence in _worth_keeping(heard)
        for candidate in _candidates(sentence)
    ]


def statements_of_rules(messages: Sequence[Message]) -> list[Candidate]:
    """Return what `extract` does, put in the third person as far as that can be done."""
    return [
        candidate
        for heard in speakers.heard(messages)
        for sentence in _worth_keeping(heard)
        for candidate in _candidates(sentence, in_third_person=True)
    ]


def restated(message: Message) -> list[Candidate]:
    """Return all that a message asserts or orders in the third person, whether it matters for long or not."""
    return [
        candidate
        for heard in speakers.heard([message])
        for sentence in read(heard)
        if sentence.is_asserted or sentence.orders
        for candidate in _candidates(sentence, in_third_person=True)
    ]


def read(heard: HeardMessage) -> list[ReadSentence]:
    """Read each sentence of a message by the tables of its language."""
    return [_read(heard, position) for position in range(len(heard.sentences))]


def _read(heard: HeardMessage, position: int) -> ReadSentence:
    text = heard.sentences[position]
    language = languages.grammar_of(text)
    sentence = ReadSentence(heard, position, text, language)
    if not quoting.is_known_language(text, language) or not language.is_meant(text):
        return sentence
    asserted = sentences.asserted_part(text)
    order = language.as_order(asserted or text)
    if language.instruction.search(order):
        ordered = _is_ordered(heard, order, language)
        return replace(sentence, orders=order if ordered else None, passes=not ordered)
    if asserted is None:
        return sentence
    return replace(sentence, slots=tuple(language.slots(language.plain(asserted))), is_asserted=True)


def _is_ordered(heard: HeardMessage, order: str, language: Grammar) -> bool:
    """Return whether an order lasts and is meant for the assistant: people encourage each other ("never give up")."""
    to_assistant = not heard.listeners or (heard.only_users and bool(language.to_assistant.search(order)))
    return to_assistant and not language.one_off.search(order) and not order.endswith(("?", "？"))


def _worth_keeping(heard: HeardMessage) -> Iterator[ReadSentence]:
    several = read(heard)
    if heard.listeners:
        yield from _salient(several)
        return
    wrong = {
        position - 1
        for position, sentence in enumerate(several)
        if position and sentence.language.corrects.search(sentence.text)
    }
    for position, sentence in enumerate(several):
        if position in wrong or sentence.passes:
            continue
        if (
            sentence.orders
            or sentence.slots
            or (
                quoting.is_quotable(heard, position, sentence.language)
                and (position - 1 in wrong or quoting.is_durable(heard, position, sentence.language))
            )
        ):
            yield sentence


def _salient(several: Sequence[ReadSentence]) -> Iterator[ReadSentence]:
    """Yield the sentences worth keeping of a message among people, if it says enough."""
    plain = {
        sentence.position: words
        for sentence in several
        for words in [sentence.language.plain(sentence.text)]
        if sentence.slots or (sentence.is_asserted and salience.is_told(words))
    }
    heavy = bool(plain) and _weight(several, plain) >= salience.THRESHOLD
    for sentence in several:
        words = plain.get(sentence.position, "")
        if (
            sentence.orders
            or sentence.slots
            or (words and (salience.takes_back(words) or (heavy and salience.is_worth_a_line(words))))
        ):
            yield sentence


def _weight(several: Sequence[ReadSentence], plain: dict[int, str]) -> float:
    heard = several[0].heard
    dated = any(dates.find(words, heard.message.occurred_at, languages.DEFAULT.dates) for words in plain.values())
    setting = salience.Setting(heard.message.content, heard.position, heard.answers, dated, heard.novelty)
    return salience.message_weight(list(plain.values()), setting)


def _candidates(sentence: ReadSentence, *, in_third_person: bool = False) -> list[Candidate]:
    """Return the candidates of a sentence: its order, a statement for each slot that it fills, or itself."""
    if sentence.orders is not None:
        return [_order(sentence, sentence.orders)]
    heard, language = sentence.heard, sentence.language
    answers = sentence.position == 0 and bool(heard.question) and quoting.is_short(sentence.text, language)
    restated = sentence.is_certain or (in_third_person and not answers)
    content = quoting.restated(heard, sentence.position, language) if restated else None
    base = quoting.candidate(heard, sentence.position, language, content)
    groups = slot_statements.by_attribute(sentence.slots)
    if not groups:
        return [base]
    # One attribute of the speaker goes with the sentence as it was put; several stand in a statement each.
    if len(groups) == 1 and not groups[0][0].attribute.startswith("name."):
        return [slot_statements.fill_slot(base, groups[0], slot_statements.about(heard.speaker, groups[0][0]))]
    whole = [] if len(sentence.text.split()) <= WORDS_A_SLOT * len(groups) else [base]
    return [*whole, *(_slot_statement(base, group, sentence) for group in groups)]


def _slot_statement(base: Candidate, slots: Sequence[Slot], sentence: ReadSentence) -> Candidate:
    # Of several things in a sentence only those that change begin on its day.
    changed = {slot.pattern.topic for slot in sentence.slots if slot.pattern.corrects}
    undated = replace(base, occurred_at=sentence.heard.message.occurred_at, structured={})
    begins = slots[0].pattern.topic in changed if changed else base.corrects
    dated = base if begins else undated
    filled = slot_statements.fill_slot(dated, slots, slot_statements.about(sentence.heard.speaker, slots[0]))
    return replace(filled, content=slot_statements.content(filled.subject, slots, sentence.language, sentence.text))


def _order(sentence: ReadSentence, plain: str) -> Candidate:
    wish, language, heard = plain.rstrip(".!。！"), sentence.language, sentence.heard
    topic = next((name for name, words in language.order_topics if words.search(wish)), None)
    return Candidate(
        language.standing.format(who=heard.speaker, wish=wish), Category.INSTRUCTION, Topic.PREFERENCE, heard.speaker,
        candidates.evidence(heard.message, sentence.text), heard.message.occurred_at, importance=ORDERED,
        confidence=ORDER_CONFIDENCE, attribute=f"instruction.{topic}" if topic else None, value=wish if topic else None,
        corrects=bool(language.lifts.search(wish)),
    )  # fmt: skip
