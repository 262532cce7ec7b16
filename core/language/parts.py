"""Parts of a language, each for a room above; a language may lack any of them, and the room does without. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple

from core.language.calendar import DateMention

TimeForm = Literal["ago", "past", "weekday", "date", "feast"]


@dataclass(frozen=True, slots=True)
class Dates:
    """`find`: the dates in a text, by the clock of its message; `day`: a day in words, "4 February 2026"."""

    find: Callable[[str, datetime], Iterator[DateMention]]
    day: Callable[[datetime], str]


@dataclass(frozen=True, slots=True)
class LeadIn:
    """An introduction with a colon ("One thing:"), the words of it in the group `lead` of `begins`.

    `excluded`: it announces a quotation; `itself`: it is a statement; `reports`: it says that something was said.
    `alone`: words that may stand alone; any other is the name of somebody quoted. None: all may.
    """

    begins: re.Pattern[str]
    excluded: re.Pattern[str]
    itself: re.Pattern[str]
    reports: re.Pattern[str] | None = None
    alone: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Assertions:
    """Recognition of sentences that assert nothing.

    `is_request`: it only asks for something to be done once; `is_quoted`: it gives the words of someone else;
    `hypothetical`: it speaks of what is not so. `asking_tail`: a question behind an assertion, the group `said`.
    `asks_for`: begins a request that is put as a statement.
    """

    is_question: Callable[[str], bool]
    is_request: Callable[[str], bool]
    is_quoted: Callable[[str], bool]
    hypothetical: re.Pattern[str]
    asking_tail: re.Pattern[str]
    lead_in: LeadIn
    asks_for: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ContextCues:
    """Signs by which a context is filled.

    `depth`: that a question asks for much, by kind; `question_words`; `joined`: what joins its parts. Of results
    of tools: `key`: keys whose values are kept first; `error`, `warning`. `of_project`: speaks of the project at hand.
    """

    depth: Mapping[str, re.Pattern[str]]
    question_words: re.Pattern[str]
    joined: re.Pattern[str]
    key: re.Pattern[str]
    error: re.Pattern[str]
    warning: re.Pattern[str]
    of_project: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Questions:
    """Forms of questions and answers.

    `several`: asks for several things; `told_me`: for what the assistant said, where `remind` may mean either; `of_me`:
    for the user's own words, without `to_me`; `asks_time`: for a time, which `tells_time` names. `marks`: words that
    turn a statement into a question, and occur in no answer.
    """

    several: re.Pattern[str]
    told_me: re.Pattern[str]
    remind: re.Pattern[str]
    to_me: re.Pattern[str]
    of_me: re.Pattern[str]
    asks_time: re.Pattern[str]
    tells_time: re.Pattern[str]
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TimeSpans:
    """Times in questions.

    `forms`: what they look like, the time itself in the group `what`, and how they are read; `days`: length of each
    unit; `count`: a number and its relative error; `feasts`: month and day. `yearless`: a date by its month alone;
    `lead`: words in front of a date that are no part of it. `opens`, `links`: before and between two dates that are the
    ends of one span; `before`, `behind`: what makes a date one end of a span, with the group `back` for the last one.
    """

    forms: tuple[tuple[re.Pattern[str], TimeForm], ...]
    days: Mapping[str, float]
    count: Callable[[str], tuple[float, float]]
    months: Sequence[str]
    weekdays: Sequence[str]
    feasts: Mapping[str, tuple[int, int]]
    yearless: re.Pattern[str]
    lead: re.Pattern[str] | None
    opens: re.Pattern[str]
    links: re.Pattern[str]
    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class PlanForms:
    """Plans in messages, and reports of their steps.

    `ordinals`: numbers in words, from the first; `number`: what numbers a line; `title`: what stands before a plan,
    `one_line` before one in a single line, and `lead`; `asks`: asks for a plan; `first_then`: begins a step in a
    sentence. `reports`: says the status of a step, whose number is a group; `question_ends`: end a sentence that asks;
    `clause`: parts a sentence; `supposed` and `denied`: the sentence, or the clause, reports nothing. `statuses`: names
    of each status. `mentioned`: what a message about a plan has, for PostgreSQL.
    """

    ordinals: Sequence[Sequence[str]]
    number: str
    title: str
    one_line: str
    lead: re.Pattern[str]
    asks: re.Pattern[str]
    supposed: re.Pattern[str]
    denied: re.Pattern[str]
    clause: re.Pattern[str]
    first_then: re.Pattern[str] | None
    reports: Mapping[str, Sequence[re.Pattern[str]]]
    question_ends: tuple[str, ...]
    statuses: Mapping[str, str]
    mentioned: str


@dataclass(frozen=True, slots=True)
class EpisodePhrases:
    """Phrases that narrate a conversation. `quoted`: a sentence of it; `outcomes`: what each is called, or empty."""

    opened: str
    talked_with: str
    talked_alone: str
    quoted: str
    quoted_from: str
    outcomes: Mapping[str, str]
    ended: str
    ended_saying: str
    reward: str


@dataclass(frozen=True, slots=True)
class RecurrencePhrases:
    """How something that recurs is told. `often`: by kind of rhythm; `weekdays`: from Monday."""

    recurs: str
    on_weekday: str
    often: Mapping[str, str]
    weekdays: Sequence[str]


@dataclass(frozen=True, slots=True)
class SkillPhrases:
    """How a skill is told; `joiner`: stands between its sentences, `separator` between its tools."""

    steps: str
    without_steps: str
    goal: str
    tools: str
    worked: str
    failure: str
    joiner: str
    separator: str


@dataclass(frozen=True, slots=True)
class PlanPhrases:
    """How a plan is told. `without_goal`: stands for the goal of a plan that has none."""

    head: str
    without_goal: str
    step: str
    more: str


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences that the rooms write, as formats.

    `separator`: between listed things; `listed`: all of a list in a sentence. `line`: words behind the name of their
    speaker; `statement_quoted`, `question_quoted`: words with their speaker in a sentence; `assistant`: what one
    without a name is called; `possessive`: something of somebody. `key_line`: a key sentence of a summary, and `kinds`:
    the names of its kinds. `guidance`: stands above a context.
    """

    separator: str
    listed: Callable[[Sequence[str]], str]
    line: str
    statement_quoted: str
    question_quoted: str
    assistant: str
    possessive: str
    key_line: str
    kinds: Mapping[str, str]
    guidance: str
    episode: EpisodePhrases
    recurrence: RecurrencePhrases
    skill: SkillPhrases
    plan: PlanPhrases


@dataclass(frozen=True, slots=True)
class Activities:
    """Signs of what statements are about, and how often.

    `unreal`: something was not done, or long ago; `vague`: a time without a day, for which that of the mention counts.
    `leads`: words that lead to a noun; `auxiliary`: those between a subject and its verb, with the `adverbs`. Without
    spaces between words: `verbs`: characters that turn a thing into an activity; `numerals`. `often`: words for
    repetition, which a statement that is derived from others may add.
    """

    unreal: re.Pattern[str]
    vague: re.Pattern[str]
    leads: frozenset[str] = frozenset()
    adverbs: frozenset[str] = frozenset()
    auxiliary: frozenset[str] = frozenset()
    verbs: str = ""
    numerals: frozenset[str] = frozenset()
    often: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KeySentences:
    """Sentences that a summary must keep.

    `kinds`: whether an asserting sentence is an `instruction`, a `decision`, a `commitment` or a `constraint`;
    `settled`: what leads into a sentence says that it is decided. `replaces`: something holds no longer, in a group.
    """

    is_task: Callable[[str], bool]
    kinds: Mapping[str, Callable[[str], bool]]
    settled: re.Pattern[str] | None
    replaces: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class OpenQuestions:
    """Questions without an answer.

    `asking`: words of questions that answers do not repeat; `idle`: courtesies, and requests that look like questions;
    `offer`: an assistant offers something; `open`: something is undecided; `defers`: puts an answer off; `takes_back`.
    """

    asking: frozenset[str]
    idle: re.Pattern[str]
    offer: re.Pattern[str]
    open: re.Pattern[str]
    defers: re.Pattern[str]
    takes_back: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Openings:
    """Verbose patterns of messages that begin something: another `topic`, or a `greeting`; `lead` may come before."""

    lead: str
    topic: str
    greeting: str


@dataclass(frozen=True, slots=True)
class Details:
    """Details of a text that its letters do not mark: numbers with units (`numbered`), people, titles."""

    numbered: re.Pattern[str]
    marks: Sequence[re.Pattern[str]]


@dataclass(frozen=True, slots=True)
class SalienceCue:
    """A pattern and the weight that it adds, once a message."""

    name: str
    weight: float
    regex: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Salience:
    """Signs of statements that are worth keeping.

    `cues` weigh a statement, `message` the message around it; `takes_back`: something is over. `is_statement`: a plain
    sentence can be understood alone, `is_told`: and is of its speaker. `own`: words that show that the cues are meant
    for a statement, whatever else is in it.
    """

    cues: Sequence[SalienceCue]
    message: Sequence[SalienceCue]
    takes_back: re.Pattern[str]
    is_statement: Callable[[str], bool]
    is_told: Callable[[str], bool]
    own: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Chat:
    """Words of chats.

    `chatter`: courtesies, agreement and greetings; `minded`: corrects something or sets a rule; `personal`: speaks of
    one's own life. Of a correction: `adds`: no correction but an addition, or a request to forget; `denials`: end what
    comes before the wrong word; `particles`: what may stand before or behind the right one.
    """

    chatter: Sequence[str]
    minded: re.Pattern[str]
    personal: re.Pattern[str]
    adds: re.Pattern[str]
    denials: Sequence[str]
    particles: Sequence[str]


@dataclass(frozen=True, slots=True)
class QuotationFrame:
    """The words around a quotation. `after`: what was said before it, `asked`: the question it answers.

    `begins`: a pattern of what stands between the speaker and the quotation, `behind` of what stands behind one before.
    """

    said: str
    said_on: str
    asked: str
    after: str
    begins: str
    behind: str = ""

    def around(self, speaker: str, words: str, *, day: str | None = None, asked: str = "", after: str = "") -> str:
        """Return the statement that quotes `words`, said on `day` if that matters."""
        before = self.after.format(after=after) if after else ""
        question = self.asked.format(asked=asked) if asked else ""
        text = before + question + (self.said_on if day else self.said).format(speaker=speaker, day=day, words=words)
        return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class StatementForms:
    """How statements are compared.

    `change`: something is not as it was; `past`: a clause of the past, which `clause` parts from the next; the group of
    `denied` does not hold. `numbered`: gives a number of a thing, with a unit, which may be that of an `age`; the
    number may be another word, unless `numbers_alone`. `district`: ends the name of a part of a town. Sources of
    patterns: `between` things in a list, a `joint` between clauses, `somebody` beginning a clause. `pronouns`:
    a pronoun that begins one, and the name in its place; `nobody`: pronouns that say nothing. `date`: words of a date.
    `inside`: words that two values may share, `relations`: characters that are verbs between them. `persons`: pronouns
    and verbs of several persons, and one for all.
    """

    change: re.Pattern[str]
    past: re.Pattern[str]
    clause: re.Pattern[str]
    denied: re.Pattern[str] | None
    numbered: re.Pattern[str]
    age: str
    district: re.Pattern[str] | None
    between: str
    joint: str
    somebody: str | None
    pronouns: Sequence[tuple[re.Pattern[str], str]]
    nobody: frozenset[str]
    date: re.Pattern[str]
    inside: frozenset[str]
    persons: Mapping[str, str]
    quotation: QuotationFrame
    relations: frozenset[str] = frozenset()
    numbers_alone: bool = False


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Words for the index, for topics, and for comparing statements.

    `stopwords`: left out of the index in texts of every language; `common`: make no topic, nor do
    those that are `everyday` in chats. `forms`: patterns of ways of
    saying the same that are longer than a word, of which one of `hints` stands in every text that has one. `being`:
    forms of "be" and "have", and whether they are past. `silent`: may be there or not; `small`: likewise, but not in
    each other's place; `bound`, `bound_stems`: their addition makes a statement different, not more detailed;
    `directed`: the order of what stands around them counts. `irregular`: pasts and their verbs; `synonyms`: groups.
    `numerals`: values of the digits, all of which are in `numeral`; `counted`: characters behind a number.
    `pleasantries`: a pattern of the words of courtesies; `quantity`: a number, where no spaces part words.
    """

    stopwords: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()
    forms: Sequence[tuple[str, str]] = ()
    hints: Sequence[str] = ()
    calendar: frozenset[str] = frozenset()
    number_words: Mapping[str, str] = field(default_factory=dict)
    denials: frozenset[str] = frozenset()
    endings: frozenset[str] = frozenset()
    links: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    small: frozenset[str] = frozenset()
    being: Mapping[str, tuple[str, bool]] = field(default_factory=dict)
    articles: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    bound_stems: frozenset[str] = frozenset()
    directed: frozenset[str] = frozenset()
    dislikes: frozenset[str] = frozenset()
    irregular: Mapping[str, str] = field(default_factory=dict)
    synonyms: Sequence[str] = ()
    numerals: Mapping[str, str] = field(default_factory=dict)
    numeral: str = ""
    counted: str = ""
    pleasantries: str = ""
    everyday: frozenset[str] = frozenset()
    quantity: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ForgetWording:
    """Words of requests to forget and of other commands to delete.

    `frame`: those around what is meant; `act`: clauses that ask, rather than give a reason; `memory_source`, `source`:
    the memory of the assistant.
    """

    bare: re.Pattern[str] | None = None
    foreign: re.Pattern[str] | None = None
    negated: re.Pattern[str] | None = None
    question: re.Pattern[str] | None = None
    writing: re.Pattern[str] | None = None
    command: re.Pattern[str] | None = None
    frame: re.Pattern[str] | None = None
    act: re.Pattern[str] | None = None
    memory_source: re.Pattern[str] | None = None
    source: re.Pattern[str] | None = None
    report: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ForgetAsking:
    """Signs that something was deleted, or is to be. `undone`: it is not, or not yet; `agrees`: it is agreed upon."""

    of_value: re.Pattern[str] | None = None
    former: re.Pattern[str] | None = None
    declared: re.Pattern[str] | None = None
    undone: re.Pattern[str] | None = None
    agrees: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ForgetExtent:
    """How much a request to forget covers, and what stays."""

    everything: re.Pattern[str] | None = None
    someone_else: re.Pattern[str] | None = None
    all_about: re.Pattern[str] | None = None
    last: re.Pattern[str] | None = None
    about_self: re.Pattern[str] | None = None
    keeps: re.Pattern[str] | None = None
    no_longer: re.Pattern[str] | None = None
    not_kept: re.Pattern[str] | None = None
    stays: re.Pattern[str] | None = None
    unsaid: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ForgetDescribed:
    """Patterns for what a request to forget names by description."""

    stays: re.Pattern[str] | None = None
    upon_it: re.Pattern[str] | None = None
    tells: re.Pattern[str] | None = None
    goes_on: re.Pattern[str] | None = None
    joined: re.Pattern[str] | None = None
    pronoun: re.Pattern[str] | None = None
    old: re.Pattern[str] | None = None
    was: re.Pattern[str] | None = None
    is_now: re.Pattern[str] | None = None
    who: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class ForgetText:
    """How texts are cut.

    `stops`: words that begin and end no value; `telling`: common, and yet tell one thing from another; `framing`: stems
    that say that something is to be forgotten, not what. `date`: one that is a word; `alike`: characters that are
    written in two ways, and the one that the patterns have.
    """

    next_statement: re.Pattern[str] | None = None
    clause_end: re.Pattern[str] | None = None
    date: re.Pattern[str] | None = None
    stops: frozenset[str] = frozenset()
    telling: frozenset[str] = frozenset()
    framing: frozenset[str] = frozenset()
    alike: Mapping[str, str] = field(default_factory=dict)


SubjectWords = tuple[str, str, str]
"""Sources of patterns for a kind of thing: how requests name it, how statements state it, and how its value looks."""


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Words of requests to forget.

    `roles`: a pattern of relatives and roles, of which `synonyms` are others; `name`: of a person, by its form;
    `subjects`: kinds of things; `money_units`: behind an amount.
    """

    text: ForgetText
    wording: ForgetWording
    asking: ForgetAsking
    extent: ForgetExtent
    described: ForgetDescribed
    roles: str
    synonyms: Mapping[str, str]
    name: str
    subjects: Mapping[str, SubjectWords]
    money_units: str


class NameParts(NamedTuple):
    """The given and the family name in a name that has either by its form; empty: it has not."""

    given: str = ""
    family: str = ""


@dataclass(frozen=True, slots=True)
class People:
    """How people are introduced, and mentioned by what they are to somebody.

    `roles`: words for relatives and other roles, each with the name that all languages share (`core.language.roles`);
    `own`: the possessives of a speaker. `role`: a mention of a role, with the groups `of` (whose) and `role`, or
    `bare` for a role that needs no possessive.
    `introductions`: patterns with some of the groups `name`, `also` (another name of the same person), `role`, `of`,
    and `nick` (another name of the person who was mentioned last). `full`: a full name by its form, None where nothing
    shows it. `name`: a captured name as it is kept, None where it is none after all. `short`: what the bearer of a full
    name may be called. `parts`: what a name tells by its form ("Graham Miller", "Mr Miller", but not "Graham").
    `phrase`: a role in words, given whose it is, empty for the speaker's.
    """

    roles: Mapping[str, str]
    own: frozenset[str]
    role: re.Pattern[str]
    introductions: Sequence[re.Pattern[str]]
    full: re.Pattern[str] | None
    name: Callable[[str], str | None]
    short: Callable[[str], Sequence[str]]
    parts: Callable[[str], NameParts]
    phrase: Callable[[str, str], str]


@dataclass(frozen=True, slots=True)
class Screening:
    """Phrases of attacks, as `core.screening.injection_phrases` describes them.

    `phrases`: of injections, by kind, a phrase in each line, with `<name>` for the line of that name in `words`;
    `negated`, `told`: words before one by which it is warned of, or reported. `risks`: of standing instructions, by
    kind, which `standing` words show; `order`: begins one, and `resolve` what somebody will do themselves.
    `alike`: characters that are written in two ways, and the one that the phrases have.
    """

    words: str = ""
    phrases: Mapping[str, str] = field(default_factory=dict)
    negated: Sequence[str] = ()
    told: Sequence[str] = ()
    risks: Mapping[str, Sequence[str]] = field(default_factory=dict)
    standing: Sequence[str] = ()
    order: Sequence[str] = ()
    resolve: Sequence[str] = ()
    alike: Mapping[str, str] = field(default_factory=dict)
