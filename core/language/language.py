"""Interface of a language for the rooms above: its sentences, slots, orders, categories and topics. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from core.language.parts import (
    Activities,
    Assertions,
    Chat,
    ContextCues,
    Dates,
    Details,
    Forgetting,
    KeySentences,
    Lexicon,
    Openings,
    OpenQuestions,
    People,
    Phrases,
    PlanForms,
    Questions,
    Salience,
    Screening,
    StatementForms,
    TimeSpans,
)
from core.types import Category, Topic

Check = Callable[[str], str | None]
"""Cleans a captured value; None where it is not such a value after all."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A row: what a sentence must look like, and what it then says.

    `exclusive` slots hold one value at a time (a home); the others gather (allergies) and go to `structured`.
    """

    regex: re.Pattern[str]
    attribute: str
    topic: Topic
    importance: float
    check: Check | None = None
    category: Category = Category.FACT
    exclusive: bool = True
    corrects: bool = False
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Attribute:
    """Common fields of the rows of one attribute; see `Pattern`."""

    topic: Topic
    importance: float
    check: Check | None = None
    category: Category = Category.FACT
    exclusive: bool = True


def pattern(
    row: Callable[[str], re.Pattern[str]], attributes: Mapping[str, Attribute], name: str, regex: str, **own: Any
) -> Pattern:
    """Return a row of an attribute of `attributes`; `own` are the fields in which it differs or that are its own."""
    return Pattern(row(regex), name, **{**asdict(attributes[name]), **own})


@dataclass(frozen=True, slots=True)
class Slot:
    """An attribute of someone and its value, as read from one sentence; `about` is who, where not the speaker."""

    attribute: str
    value: str
    pattern: Pattern
    about: str | None = None


@dataclass(frozen=True, slots=True)
class CategoryCue:
    """A cue for the category of a sentence without a slot."""

    regex: re.Pattern[str]
    category: Category
    importance: float


@dataclass(frozen=True, slots=True)
class Theme:
    """The words by which a topic is known."""

    topic: Topic
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Reading of the statements of a language, for extraction.

    `plain`: spells out contractions and drops what leads into a sentence; `as_order`: the same of an order, also of one
    that is put as a question; `third_person`: a plain sentence with the name of its speaker in place of "I", and of its
    addressee in place of "you"; `slots`: what a plain sentence says in certain slots; `stated`: how an attribute reads
    as a sentence; `labels`: what the last part of its name is called.

    `refers_back`: a sentence is understood only with the one before it; `simple`: it is one clause about its speaker;
    `corrects`: it begins by saying that the one before it is wrong; `is_meant`: it is neither sarcasm nor hearsay;
    `change`: it says that something is not as it was; `about_listener`: a question about the person who is asked.

    `lasting` and `momentary`: talk of common work that lasts by its form, and words that deny it; `order`: a standing
    order among that talk. `instruction`: an order to an assistant; `one_off`: it holds for this time alone;
    `to_assistant`: it is meant for an assistant although several people talk; `standing`: how it is stored;
    `order_topics`: a later order of a topic replaces the earlier one; `lifts`: it takes an order back.

    `short`: characters of a sentence that is stored with the question it answers; `word_length`: characters that count
    as a word, None where words stand apart; `joiner`: stands between values. `own`: words by which people refer to
    themselves, None where all is put in the third person; `ends`: ends a statement, if it must have an end.

    `done`: begins with what its speaker did or will do; `undecided`: leaves something open; `names`: what `somebody`
    (he, she) may refer to, None where it is not looked for; `with_article`: a noun as one of its kind; `as_said`:
    what is owned, by the word that a sentence has for it.
    """

    code: str
    plain: Callable[[str], str]
    as_order: Callable[[str], str]
    third_person: Callable[[str, str, str | None], str]
    slots: Callable[[str], list[Slot]]
    stated: Mapping[str, str]
    labels: Mapping[str, str]
    categories: tuple[CategoryCue, ...]
    themes: tuple[Theme, ...]
    refers_back: Callable[[str], bool]
    simple: re.Pattern[str]
    corrects: re.Pattern[str]
    is_meant: Callable[[str], bool]
    lasting: re.Pattern[str]
    momentary: re.Pattern[str]
    order: re.Pattern[str]
    instruction: re.Pattern[str]
    one_off: re.Pattern[str]
    to_assistant: re.Pattern[str]
    standing: str
    order_topics: tuple[tuple[str, re.Pattern[str]], ...]
    lifts: re.Pattern[str]
    change: re.Pattern[str]
    about_listener: re.Pattern[str]
    short: int
    word_length: float | None
    joiner: str
    full_stop: str
    ends: str
    own: re.Pattern[str] | None
    done: re.Pattern[str]
    undecided: re.Pattern[str]
    somebody: re.Pattern[str] | None
    names: re.Pattern[str] | None
    with_article: Callable[[str], str]
    as_said: Callable[[str, str], str]
    dates: Dates


@dataclass(frozen=True, slots=True)
class Language:
    """Description of a language. A new language is a folder beside `en` with a `language.py`, entered in `languages`.

    `is_of`: a text is in it, None where no other language claims it; `has_script`: a text has letters that are its own.
    `abbreviations`: in lower case, without the full stop, which ends no sentence; nor does that of `unended`.

    `outcomes`: words at the end of a conversation, by the outcome that they show: failed, resolved, agreed.
    `written_plainly`: a text in one kind of characters, of the same length.
    `joins`: words that join clauses.
    `hours`: the hours of the day that a text names; `names_user`: a statement about "the user" with a name instead.
    The other fields are described in `parts`; None: what the rooms above would do by them is left out.
    """

    code: str
    is_of: Callable[[str], bool] | None = None
    has_script: Callable[[str], bool] | None = None
    abbreviations: frozenset[str] = frozenset()
    unended: re.Pattern[str] | None = None
    grammar: Grammar | None = None
    assertions: Assertions | None = None
    dates: Dates | None = None
    questions: Questions | None = None
    time_spans: TimeSpans | None = None
    context: ContextCues | None = None
    plans: PlanForms | None = None
    phrases: Phrases | None = None
    outcomes: Mapping[str, re.Pattern[str]] | None = None
    activities: Activities | None = None
    key_sentences: KeySentences | None = None
    open_questions: OpenQuestions | None = None
    openings: Openings | None = None
    details: Details | None = None
    salience: Salience | None = None
    chat: Chat | None = None
    statements: StatementForms | None = None
    joins: re.Pattern[str] | None = None
    written_plainly: Callable[[str], str] | None = None
    hours: Callable[[str], Iterator[int]] | None = None
    names_user: Callable[[str, str], str] | None = None
    lexicon: Lexicon | None = None
    forgetting: Forgetting | None = None
    people: People | None = None
    screening: Screening | None = None
