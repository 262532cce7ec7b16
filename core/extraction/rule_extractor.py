"""Rule-based extraction: sentence by sentence, each quoted or, where nothing can be misread, put in the third person.

A sentence is kept if it is a standing order, fills a slot for certain, or matters for months by trained judgement;
among people, whose talk is mostly of the moment, if its message says enough.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.extraction import (
    candidates,
    durability,
    quoting,
    references,
    salience,
    self_corrections,
    slot_statements,
    speakers,
)
from core.extraction.references import LocatedSentence
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
    def located(self) -> LocatedSentence:
        return self.heard, self.position, self.language

    @property
    def is_certain(self) -> bool:
        """Return whether it may be put in other words."""
        return self.is_asserted and quoting.is_certain(self.text, self.language)


class Reader(Slips, durability.Reader, references.Reader, Protocol):
    """The trained judgements that extraction rests on."""


def extract(
    messages: Sequence[Message], reader: Reader | None = None, fresh: Collection[str] | None = None
) -> list[Candidate]:
    """Return the candidates of `messages` (one conversation, in order), in order of appearance.

    `reader`: tells what corrects a slip of the tongue and what matters; None: nothing is corrected, and words alone
    tell what matters. `fresh`: ids of the messages whose candidates are wanted; None: of all.
    """
    messages, corrected = self_corrections.apply(messages, reader)
    wanted = [
        heard
        for heard in speakers.heard(messages)
        if fresh is None or heard.message.id in fresh or heard.message.id in corrected
    ]
    kept = list(_worth_keeping(wanted, reader))
    contexts = references.contexts([sentence.located for sentence in kept], reader)
    return [
        self_corrections.with_sources(candidate, corrected)
        for sentence, context in zip(kept, contexts, strict=True)
        for candidate in _candidates(sentence, context)
    ]


def statements_of_rules(messages: Sequence[Message]) -> list[Candidate]:
    """Return what `extract` does without a reader, put in the third person as far as that can be done."""
    return [
        candidate
        for sentence in _worth_keeping(list(speakers.heard(messages)), None)
        for candidate in _candidates(sentence, _context(sentence), in_third_person=True)
    ]


def restated(message: Message) -> list[Candidate]:
    """Return all that a message asserts or orders in the third person, whether it matters for long or not."""
    return [
        candidate
        for heard in speakers.heard([message])
        for sentence in read(heard)
        if sentence.is_asserted or sentence.orders
        for candidate in _candidates(sentence, _context(sentence), in_third_person=True)
    ]


def undecided(message: Message) -> list[Candidate]:
    """Return what a message asserts that fills no slot and orders nothing, whether it matters for long or not."""
    return [
        candidate
        for heard in speakers.heard([message])
        for sentence in _undecided(read(heard))
        for candidate in _candidates(sentence, None)
    ]


def _context(sentence: ReadSentence) -> str | None:
    """Return what a sentence needs that was said before it, by its words."""
    (context,) = references.contexts([sentence.located], None)
    return context


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


def _worth_keeping(messages: Sequence[HeardMessage], reader: Reader | None) -> Iterator[ReadSentence]:
    """Yield the sentences of messages that are worth keeping; the reader judges those of all messages at once."""
    read_messages = [read(heard) for heard in messages]
    undecided = [sentence for several in read_messages for sentence in _undecided(several, reader is not None)]
    durable = quoting.are_durable([sentence.located for sentence in undecided], reader)
    kept = {id(sentence) for sentence, lasts in zip(undecided, durable, strict=True) if lasts}
    for heard, several in zip(messages, read_messages, strict=True):
        if heard.listeners:
            yield from _salient(several)
        else:
            wrong = _wrong(several)
            yield from (each for each in several if id(each) in kept or _is_certainly_kept(each, wrong))


def _is_certainly_kept(sentence: ReadSentence, wrong: frozenset[int]) -> bool:
    """Return whether a sentence orders something, fills a slot, or puts the one before it right."""
    if sentence.passes or sentence.position in wrong:
        return False
    return bool(sentence.orders or sentence.slots) or (sentence.position - 1 in wrong and _is_quotable(sentence))


def _undecided(several: Sequence[ReadSentence], of_any_form: bool = False) -> Iterator[ReadSentence]:
    """Yield the sentences of a message to an assistant that are kept if they matter for months.

    `of_any_form`: also those that ask or wish, or say little.
    """
    wrong = _wrong(several)
    for sentence in several:
        decided = sentence.heard.listeners or sentence.passes or sentence.position in wrong
        if not (decided or _is_certainly_kept(sentence, wrong)) and (of_any_form or _is_quotable(sentence)):
            yield sentence


def _is_quotable(sentence: ReadSentence) -> bool:
    return quoting.is_quotable(sentence.heard, sentence.position, sentence.language)


def _wrong(several: Sequence[ReadSentence]) -> frozenset[int]:
    """Return the places of sentences that the next one calls wrong."""
    return frozenset(
        position - 1
        for position, sentence in enumerate(several)
        if position and sentence.language.corrects.search(sentence.text)
    )


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


def _candidates(sentence: ReadSentence, context: str | None, *, in_third_person: bool = False) -> list[Candidate]:
    """Return the candidates of a sentence: its order, a statement for each slot that it fills, or itself.

    `context`: see `references.contexts`.
    """
    if sentence.orders is not None:
        return [_order(sentence, sentence.orders)]
    heard, language = sentence.heard, sentence.language
    answers = sentence.position == 0 and bool(heard.question) and quoting.is_short(sentence.text, language)
    restated = sentence.is_certain or (in_third_person and not answers)
    content = quoting.restated(heard, sentence.position, language) if restated else None
    base = quoting.candidate(heard, sentence.position, language, content, context)
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
    topic = next((name for name, pattern in language.order_topics if pattern.search(wish)), None)
    return Candidate(
        language.standing.format(who=heard.speaker, wish=wish), Category.INSTRUCTION, Topic.PREFERENCE, heard.speaker,
        candidates.evidence(heard.message, sentence.text), heard.message.occurred_at, importance=ORDERED,
        confidence=ORDER_CONFIDENCE, attribute=f"instruction.{topic}" if topic else None, value=wish if topic else None,
        corrects=bool(language.lifts.search(wish)),
    )  # fmt: skip
