"""Rule-based extraction.

A message is cut into sentences; a sentence that asserts something about its speaker is read by the tables of its
language (a slot, an instruction, a plan, a habit, an event), weighed, dated, and written in the third person.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.extraction import candidates, durability, quoting, salience, self_corrections, short_answers
from core.extraction import slots as extraction_slots
from core.extraction.chinese.candidates import ChineseReader
from core.extraction.english import corrections, patterns, pretence
from core.extraction.english import statements as english_statements
from core.extraction.english.people import Persons
from core.extraction.english.tables import orders
from core.extraction.known_people import NOBODY, AcquaintancesByUser
from core.extraction.pattern_types import Slot
from core.extraction.quoting import ReadMessage, RuleStatement
from core.extraction.self_corrections import Slips
from core.language import dates, third_person
from core.language import sentences as language_sentences
from core.screening import names as screening_names
from core.types import Candidate, Category, Message, Topic

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot", "agent", "chatgpt", "claude", "gemini", "copilot", "system"})
_WORD = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]")
_NUMBER = re.compile(r"(?<!\w)\w*\d[\w.:/-]*")
LONGEST_MESSAGE = 1500
"""Characters. A longer message holds a pasted document; its author's own words are its first and last paragraph."""


@dataclass(frozen=True, slots=True)
class _MessageContext:
    """A message in context: speaker, addressee, the question before, the share of new words."""

    message: Message
    speaker: str
    addressee: str | None
    names: frozenset[str]
    question: str | None
    answers: bool
    novelty: float
    position: int
    persons: Persons
    number: int
    earnest: bool
    in_group: bool


@dataclass(frozen=True, slots=True)
class _Assertion:
    """An assertion of a sentence: as written, in plain words, with its dates and slots.

    `person`: its subject, None for the speaker; `introduces`: people named in passing; `sure`: it is worth keeping as
    it is; `mends`: it replaces an earlier statement.
    """

    quote: str
    position: int
    plain: str
    date_mentions: tuple[dates.DateMention, ...]
    slots: tuple[Slot, ...]
    context: _MessageContext
    person: str | None = None
    introduces: tuple[Slot, ...] = ()
    sure: bool = False
    mends: bool = False


def extract(
    messages: Sequence[Message], acquaintances: AcquaintancesByUser = NOBODY, slips: Slips | None = None
) -> list[Candidate]:
    """Return the candidates of `messages` (one conversation, in order), in order of appearance.

    `acquaintances`: who was spoken of by name before, by the user who did so. Among people, whose talk is mostly of the
    moment, nothing is quoted. `slips`: tells what corrects a slip of the tongue; None: nothing does.
    """
    messages, corrected = self_corrections.apply(messages, slips)
    return [
        self_corrections.with_sources(candidate, corrected)
        for reading in read(messages, acquaintances)
        for candidate in (reading.rule_candidates() if reading.among_people else quoting.keep_or_quote(reading))
    ]


def statements_of_rules(messages: Sequence[Message], acquaintances: AcquaintancesByUser = NOBODY) -> list[Candidate]:
    """Return all statements of the rules, certain or not, without quotations."""
    return [candidate for reading in read(messages, acquaintances) for candidate in reading.rule_candidates()]


def read(messages: Sequence[Message], acquaintances: AcquaintancesByUser = NOBODY) -> list[ReadMessage]:
    """Read each message by rules, with the withdrawals and corrections made by the end of `messages`."""
    messages = with_assistants(messages)
    readings: list[ReadMessage] = []
    last: dict[str, _MessageAssertions] = {}
    before: defaultdict[str, list[str]] = defaultdict(list)
    chinese = ChineseReader(acquaintances)
    for context in _contexts(messages, acquaintances):
        text = _own_words(context.message)
        statements = _read_chinese(chinese, context, _in_chinese(text, context.question))
        if language_sentences.is_chinese(text):
            last.pop(context.speaker, None)
            readings.append(
                _read_message(context, "zh", language_sentences.split(text), statements, before[context.speaker])
            )
        else:
            english = _read_english(context, last.get(context.speaker))
            if english.mended:
                readings[last[context.speaker].position].take_back(english.mended)
            last[context.speaker] = replace(english, position=len(readings))
            rule_statements = [*statements, *_worth_keeping(english.statements, context)]
            readings.append(
                _read_message(context, "en", english.sentences, rule_statements, before[context.speaker], english.lost)
            )
        before[context.speaker] = [*before[context.speaker], *language_sentences.split(text)][-quoting.REACH :]
    withdrawn = chinese.taken_back()
    for reading in readings:
        reading.withdraw(withdrawn)
    return readings


def _read_message(
    context: _MessageContext,
    language: str,
    cut: Sequence[str],
    statements: list[RuleStatement],
    before: Sequence[str],
    lost: Iterable[str] = (),
) -> ReadMessage:
    return ReadMessage(
        context.message, context.speaker, language, cut if context.earnest else (), context.question or "",
        tuple(before), statements, set(lost), bool(context.names),
    )  # fmt: skip


def _in_chinese(text: str, question: str | None) -> list[str]:
    """Return the message if it is Chinese or a bare answer to a Chinese question, else its Chinese sentences."""
    if language_sentences.is_chinese(text) or (
        question and language_sentences.is_chinese(question) and short_answers.read(question, text)
    ):
        return [text]
    return [quote for quote in language_sentences.split(text) if language_sentences.is_chinese(quote)]


def _read_chinese(chinese: ChineseReader, context: _MessageContext, texts: Sequence[str]) -> list[RuleStatement]:
    return [
        RuleStatement(candidate.evidence[0].quote, candidate, quoting.is_certain_zh(candidate, context.speaker))
        for text in texts
        for candidate in chinese.candidates(
            context.message, text, context.speaker, context.question, alone=not context.names
        )
    ]


def speaker_of(message: Message) -> str | None:
    """Return the person whose statements `message` holds; None for an assistant, a tool or a system."""
    if message.role == "user":
        return message.speaker if message.speaker and screening_names.is_name(message.speaker) else message.user_id
    if message.role == "assistant" and message.speaker and message.speaker.lower() not in ASSISTANT_NAMES:
        return message.speaker
    return None


def with_assistants(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the names of assistants removed.

    A second person may speak in the role of the assistant; an assistant is known by saying next to nothing of itself.
    """
    spoken: dict[str, list[Message]] = {}
    for message in messages:
        if message.role == "assistant" and (name := speaker_of(message)):
            spoken.setdefault(name, []).append(message)
    assistants = {
        name
        for name, several in spoken.items()
        if sum(bool(_PERSONAL.search(message.content)) for message in several) < OF_ONESELF * len(several)
    }
    return [
        replace(message, speaker=None) if message.role == "assistant" and message.speaker in assistants else message
        for message in messages
    ]


OF_ONESELF = 0.05
"""Minimum share of messages in which a person speaks of their own life."""
_PERSONAL = re.compile(
    r"\b[Mm]y (?!apolog|mistake|bad\b|pleasure|knowledge|suggest|recommend|understanding|answers?\b|repl|"
    r"notes?\b|records|memory|data\b|"
    r"training|previous|last\b|earlier|calculation|best\b|guess|advice|point|question|response|goal is|job is|"
    r"messages?\b|instructions)[a-z]+|"
    r"\b[Ww]e(?:['’](?:ve|re)| have| are| went| had| got) |\bI(?:['’]ve been|['’]m (?:a |off|from|at|on|in|"
    r"going|working|a)|(?: \w+ly| just| also)? (?:went|grew|"
    r"live|lived|work at|work as|work in|married|bought|was born|had|used to|met|moved|started|took|made|got|"
    r"tried|won|joined|painted|play|ran|"
    r"signed|decided|lost|visited|was|love|work|have a|have been|am a))\b|我(?:的|们|家|在|昨|去|住)"
)


def _own_words(message: Message) -> str:
    text = message.content
    if len(text) <= LONGEST_MESSAGE:
        return text
    paragraphs = [p for p in re.split(r"\n\s*\n", text) if p.strip()]
    return "\n".join(p[:LONGEST_MESSAGE] for p in dict.fromkeys((*paragraphs[:1], *paragraphs[-1:])))


def _contexts(messages: Sequence[Message], acquaintances: AcquaintancesByUser) -> Iterator[_MessageContext]:
    names = {m.speaker for m in messages if m.speaker and speaker_of(m)}
    seen: set[str] = set()
    alike: dict[str, tuple[float, int]] = {}
    before: Message | None = None
    earnest = _in_earnest(messages)
    persons: dict[str, Persons] = {}
    in_group = all(m.role == "user" for m in messages if speaker_of(m))
    for number, message in enumerate(messages):
        words = set(_WORD.findall(_own_words(message).lower()))
        speaker = speaker_of(message)
        if speaker:
            others = sorted(names - {speaker})
            addressee = others[0] if len(others) == 1 else None
            novelty = len(words - seen) / len(words) if words else 0.0
            asks = before is not None and ("?" in before.content or "？" in before.content)
            if speaker not in persons:
                persons[speaker] = Persons(speaker)
                persons[speaker].meet(acquaintances.get(message.user_id, ()))
            known_persons = persons[speaker]
            if before is not None and speaker_of(before) != speaker:
                known_persons.hear(before.content[:LONGEST_MESSAGE], number - 1)
                known_persons.ask(_question(before, speaker) or "", number - 1)
            # What says the same of another number ("ticket 1205") is worth what the first of its kind was.
            shape, setting = _NUMBER.sub("#", message.content), (novelty, max(message.position, 1))
            setting = alike.setdefault(shape, setting) if shape != message.content else setting
            question = _question(before, speaker)
            yield _MessageContext(
                message, speaker, addressee, frozenset(others), question, asks, *setting, known_persons, number,
                message.id in earnest, in_group,
            )  # fmt: skip
        seen |= words
        before = message


def _in_earnest(messages: Sequence[Message]) -> frozenset[str]:
    """Return the ids of messages without play or jokes."""
    spoken: dict[str, list[Message]] = {}
    for message in messages:
        spoken.setdefault(speaker_of(message) or "", []).append(message)
    return frozenset(
        message.id
        for several in spoken.values()
        for message, meant in zip(several, pretence.in_earnest(_own_words(m) for m in several), strict=True)
        if meant
    )


def _question(before: Message | None, speaker: str) -> str | None:
    """Return the question of somebody else in the message before; tools and systems ask none."""
    if before is None or before.role not in {"user", "assistant"} or speaker_of(before) == speaker:
        return None
    return short_answers.question_in(before.content)


@dataclass(frozen=True, slots=True)
class _MessageAssertions:
    """Assertions of a message; `mended`: what it takes back of the message before.

    `question`: the one it answers; `sentences`: what it was cut into; `lost`: those of them that another one put right
    or took back.
    """

    statements: Sequence[_Assertion] = ()
    question: str | None = None
    mended: Sequence[str] = ()
    position: int = 0
    sentences: Sequence[str] = ()
    lost: frozenset[str] = frozenset()


def _read_english(context: _MessageContext, before: _MessageAssertions | None) -> _MessageAssertions:
    if not context.earnest:
        return _MessageAssertions()
    text = _own_words(context.message)
    quotes = language_sentences.split(text)
    mended = _correction_of_message_before(quotes[0], context, before) if quotes and before else None
    if mended:  # what mends is no statement of its own
        quotes = [corrections.after_correction(quotes[0]), *quotes[1:]]
    answer = None if mended else _answer(text, context)
    cut = tuple(quotes)
    quotes = [quote for quote in quotes if answer is None or quote != answer[0].quote]
    assertions: list[_Assertion] = []
    lost: set[str] = set()
    for position, quote in enumerate(quotes, 1):
        before_it, assertions = assertions, _add_sentence(quote, position, context, assertions)
        lost |= {assertion.quote for assertion in before_it if not any(assertion is other for other in assertions)}
    if (
        quotes
        and before
        and not mended
        and (withdrawn := corrections.withdrawn_statement(quotes[0], [o.plain for o in before.statements]))
    ):
        return _MessageAssertions(
            assertions, context.question, [withdrawn], sentences=cut, lost=frozenset({*lost, quotes[0]})
        )
    question = context.question if answer else before.question if mended and before else None
    first = answer or (mended.statements if mended else [])
    return _MessageAssertions(
        [*first, *assertions], question, mended.mended if mended else (), sentences=cut, lost=frozenset(lost)
    )


def _add_sentence(
    quote: str, position: int, context: _MessageContext, assertions: list[_Assertion]
) -> list[_Assertion]:
    """Add a sentence to the assertions of a message; it may correct or withdraw earlier ones."""
    before = [assertion.plain for assertion in assertions]
    mended = corrections.correct(quote, before) if assertions else None
    withdrawn = mended.replaced if mended else corrections.withdrawn_statement(quote, before)
    if withdrawn is None:
        return (
            assertions
            if corrections.WITHDRAWAL_ONLY.match(quote)
            else [*assertions, *_assertions(quote, position, context)]
        )
    remaining = [assertion for assertion in assertions if assertion.plain != withdrawn]
    if mended is None:
        return remaining
    again = [
        replace(assertion, sure=True, mends=True)
        for assertion in _assertions(quote, position, context, mended.statement)
    ]
    rest = corrections.after_correction(quote)
    return [*remaining, *again, *(_assertions(rest, position, context) if rest else [])]


def _correction_of_message_before(
    quote: str, context: _MessageContext, before: _MessageAssertions
) -> _MessageAssertions | None:
    """Return the correction that a message begins with, of the speaker's message before."""
    meant = corrections.corrected_words(quote)
    if meant is None:
        return None
    answer = short_answers.read(before.question, meant) if before.question else None
    taken = [assertion.plain for assertion in before.statements if assertion.position == 0] if answer else []
    mended = None if answer else corrections.correct(quote, [assertion.plain for assertion in before.statements])
    stated = answer.statement if answer else mended.statement if mended else None
    if stated is None:
        return None
    assertions = [replace(assertion, sure=True, mends=True) for assertion in _assertions(quote, 0, context, stated)]
    return _MessageAssertions(assertions, None, taken or [mended.replaced] if mended else taken)


def _worth_keeping(assertions: Sequence[_Assertion], context: _MessageContext) -> list[RuleStatement]:
    """Return the candidates of a message, each with its quoted words."""
    tables = patterns.TABLES
    instructions = [assertion for assertion in assertions if tables.instruction.search(assertion.plain)]
    plain_assertions = [assertion for assertion in assertions if assertion not in instructions]
    # People encourage each other ("never give up"); what they ask of an assistant among them they ask plainly.
    meant = [
        assertion
        for assertion in instructions
        if not context.names or (context.in_group and orders.PLAIN.search(assertion.plain))
    ]
    wishes = [assertion for assertion in meant if not tables.one_off.search(assertion.plain)]
    rule_statements = [
        _rule_statement(group, candidate)
        for group in _groups_worth_keeping(plain_assertions, context)
        for candidate in _candidates(group)
    ]
    return [
        RuleStatement(wish.quote, _instruction(wish), True, frozenset({wish.plain})) for wish in wishes
    ] + rule_statements


def _rule_statement(group: list[_Assertion], candidate: Candidate) -> RuleStatement:
    first = group[0]
    certain = quoting.fills_slot(candidate) or first.mends or quoting.is_certain(first.quote, "en")
    return RuleStatement(first.quote, candidate, certain, frozenset(assertion.plain for assertion in group))


def _answer(text: str, context: _MessageContext) -> list[_Assertion] | None:
    """Return the statement that the message makes as an answer, if it fills a slot."""
    answer = short_answers.read(context.question, text) if context.question else None
    if answer is None:
        return None
    assertions = [
        replace(assertion, sure=answer.sure) for assertion in _assertions(answer.quote, 0, context, answer.statement)
    ]
    tells = answer.sure or any(assertion.slots or assertion.introduces for assertion in assertions)
    return assertions if assertions and tells else None


def _assertions(quote: str, position: int, context: _MessageContext, stated: str | None = None) -> list[_Assertion]:
    """Return the assertions of a sentence, or of the statement that replaces it."""
    if language_sentences.is_chinese(stated or quote):
        return []
    several = english_statements.read(stated or quote, context.names, context.persons, context.number)
    assertions: list[_Assertion] = []
    for statement in several:
        assertion = _assertion(statement, quote, position, context)
        assertions += [*_own_name(statement, quote, position, context), *([assertion] if assertion else [])]
    return assertions


def _own_name(
    statement: english_statements.Statement, quote: str, position: int, context: _MessageContext
) -> list[_Assertion]:
    """Return the speaker's known name as an assertion where they say it: "I'm Grace", "I'm Grace, a nurse"."""
    plain = f"{third_person.introduction(statement.plain, context.speaker)}."
    slots = tuple(patterns.slots(plain)) if len(plain) > 1 and statement.person is None and not context.names else ()
    return [_Assertion(quote, position, plain, (), slots, context, sure=True)] if slots else []


def _assertion(
    statement: english_statements.Statement, quote: str, position: int, context: _MessageContext
) -> _Assertion | None:
    plain = statement.plain
    if statement.person is None:
        plain = third_person.without_own_name(plain, context.speaker)
        statement = statement if plain == statement.plain else english_statements.statement_of(plain, context.persons)
    mentions = tuple(dates.find(plain, context.message.occurred_at))
    assertion = _Assertion(
        quote,
        position,
        plain,
        mentions,
        statement.slots,
        context,
        statement.person,
        statement.introduces,
        statement.mends,
        statement.mends,
    )
    return _without_known_name(assertion)


def _without_known_name(assertion: _Assertion) -> _Assertion | None:
    """Drop the slot of the speaker's known name and dates that are none; return None if nothing is left."""
    again = _NAME_AGAIN.search(assertion.plain)
    slots = tuple(slot for slot in assertion.slots if again or not _is_own_name(slot, assertion.context.speaker))
    wished = patterns.TABLES.instruction.search(assertion.plain)
    if not assertion.plain or (assertion.slots and not slots and not wished):
        return None
    birthdays = {slot.value[-5:] for slot in slots if slot.attribute == "birthday"}
    mentions = assertion.date_mentions
    if birthdays:  # neither it nor the day that it is not has a year
        mentions = tuple(
            mention
            for mention in mentions
            if f"{mention.when:%m-%d}" not in birthdays | _denied_days(assertion.plain, mention)
        )
    return replace(assertion, slots=slots, date_mentions=mentions)


def _denied_days(plain: str, mention: dates.DateMention) -> set[str]:
    """Return the days of dates preceded by "not"."""
    before = plain[: mention.start].rstrip()
    return {f"{mention.when:%m-%d}"} if before.endswith(" not") else set()


def _is_own_name(slot: Slot, speaker: str) -> bool:
    """Return whether `slot` only repeats the known name of the speaker."""
    return slot.attribute.startswith("name.") and not slot.about and slot.value.casefold() == speaker.casefold()


_NAME_AGAIN = re.compile(r"^call me [A-Z].*\b(?:again|not|instead)\b", re.IGNORECASE)
"""A speaker who corrects a nickname states their own name as new."""


def _groups_worth_keeping(assertions: list[_Assertion], context: _MessageContext) -> list[list[_Assertion]]:
    """Return the statements worth keeping, each with a dependent one right after it ("It helps me relax")."""
    groups: list[list[_Assertion]] = []
    among_people = bool(context.names)
    salient = _salient(assertions, context) if among_people else []
    for assertion in assertions:
        leans = (
            not assertion.slots and _depends_on_statement_before(assertion) and not salience.takes_back(assertion.plain)
        )
        keep = (
            any(not slot.pattern.weak for slot in assertion.slots)
            or assertion.sure
            or salience.takes_back(assertion.plain)
            or (assertion in salient if among_people else _is_durable(assertion))
        )
        joins = bool(salient) if among_people else keep
        if (
            leans
            and joins
            and groups
            and len(groups[-1]) == 1
            and assertion.position - groups[-1][0].position in {0, 1}
        ):
            groups[-1].append(assertion)
        elif (keep and not leans) or assertion.introduces:
            groups.append([assertion])
    return groups


def _salient(assertions: list[_Assertion], context: _MessageContext) -> list[_Assertion]:
    """Return the statements of a message among people, if its total salience is high enough."""
    stating = [assertion for assertion in assertions if assertion.slots or _states(assertion)]
    setting = salience.Setting(
        context.message.content,
        context.position,
        context.answers,
        any(assertion.date_mentions for assertion in stating),
        context.novelty,
    )
    if not stating or salience.message_weight([assertion.plain for assertion in stating], setting) < salience.THRESHOLD:
        return []
    return [assertion for assertion in stating if salience.is_worth_a_line(assertion.plain)]


def _states(assertion: _Assertion) -> bool:
    return bool(salience.FIRST_PERSON.search(assertion.plain)) and salience.is_statement(assertion.plain)


_NEAR = re.compile(
    r"^(?:I|We) (?:now )?live (?:near|by|close to|next to|across from) (?:the|a) [a-z ]+[.!]?$", re.IGNORECASE
)
"""A location within a town that only the previous statement names."""


def _depends_on_statement_before(assertion: _Assertion) -> bool:
    """Return whether it cannot be understood without the statement before it; what "they" do on a day can."""
    return bool(salience.ANAPHORIC.search(assertion.plain) or _NEAR.match(assertion.plain)) and not (
        assertion.date_mentions and assertion.plain.startswith("They have ")
    )


def _is_durable(assertion: _Assertion) -> bool:
    """Return whether a statement in English that fills no slot is worth keeping."""
    if not salience.is_statement(assertion.plain, of_a_person=assertion.person is not None):
        return False
    least = max(quoting.LEAST_STATED, quoting.least_probability(assertion.quote, "en"))
    return durability.probability(assertion.quote, "en", position=max(assertion.position - 1, 0)) >= least


def _candidates(group: list[_Assertion]) -> list[Candidate]:
    """Build one candidate for each attribute: the first as said, names and further ones in their own sentences."""
    first = group[0]
    base = _statement(group)
    # Who somebody is does not begin on the day of what else the sentence tells of them.
    undated = _statement([replace(assertion, date_mentions=()) for assertion in group])
    plainly = [_slot_sentence(undated, slots, first) for slots in extraction_slots.by_attribute(first.introduces)]
    filled = [
        _slot_sentence(base, slots, first)
        if position or slots[0].attribute.startswith("name.")
        else extraction_slots.fill_slot(base, slots, _about(first.context.speaker, slots[0]))
        for position, slots in enumerate(extraction_slots.by_attribute(first.slots))
    ]
    if filled or (plainly and (_ONLY_NAMED.match(first.plain) or not _is_durable(first))):
        return [*filled, *plainly]
    return [base, *plainly]


_ONLY_NAMED = re.compile(
    r"^(?:[A-Z]\w+(?:,| is) (?:my|our) [\w -]+|(?:my|our) [\w -]+(?:'s name)? is (?:called |named )?(?-i:[A-Z])[\w "
    r"-]+)[.!]?$",
    re.IGNORECASE,
)
"""A statement that only identifies somebody: "Jonas is my partner"."""


def _slot_sentence(base: Candidate, slots: list[Slot], assertion: _Assertion) -> Candidate:
    filled = extraction_slots.fill_slot(base, slots, _about(assertion.context.speaker, slots[0]))
    if _is_own_name(slots[0], assertion.context.speaker):
        return replace(filled, content=f"{filled.subject}'s name is {slots[0].value}.")
    return replace(
        filled, content=extraction_slots.slot_sentence(filled.subject, slots, patterns.TABLES, " and ", assertion.plain)
    )


def _content(group: list[_Assertion]) -> str:
    return " ".join(_sentence(assertion) for assertion in group)


def _sentence(assertion: _Assertion) -> str:
    text, context = dates.written_out(assertion.plain, list(assertion.date_mentions)), assertion.context
    text = third_person.third_person(text, context.speaker, context.addressee)
    return text if text.endswith((".", "!", "?", "”")) else f"{text}."


def _quote(group: list[_Assertion]) -> str:
    content, quote = group[0].context.message.content, group[0].quote
    start, last = content.find(quote), group[-1].quote
    if start >= 0 and last != quote:
        return content[start : content.find(last, start) + len(last)]
    return quote


def _instruction(assertion: _Assertion) -> Candidate:
    wish, speaker = assertion.plain.rstrip(".!。！"), assertion.context.speaker
    content = f"{speaker}'s standing instruction: {wish}."
    topic = next((name for name, pattern in orders.TOPICS if pattern.search(wish)), None)
    return Candidate(
        content, Category.INSTRUCTION, Topic.PREFERENCE, speaker,
        candidates.evidence(assertion.context.message, assertion.quote), assertion.context.message.occurred_at,
        importance=0.9, confidence=0.85, attribute=f"instruction.{topic}" if topic else None,
        value=wish if topic else None, corrects=bool(orders.LIFTS.search(wish)),
    )  # fmt: skip


def _statement(group: list[_Assertion]) -> Candidate:
    first = group[0]
    correction = patterns.TABLES.correction
    return candidates.without_slot(
        _content(group), first.plain, first.person or first.context.speaker, first.context.message,
        [mention for assertion in group for mention in assertion.date_mentions], patterns.TABLES, quote=_quote(group),
        corrects=first.mends or bool(correction.search(first.plain) or correction.search(first.quote)),
    )  # fmt: skip


def _about(speaker: str, slot: Slot) -> str:
    if not slot.about:
        return speaker
    chinese = re.search(r"[\u4e00-\u9fff]", slot.about)
    is_name = slot.about[0].isupper()
    return slot.about if is_name else f"{speaker}的{slot.about}" if chinese else f"{speaker}'s {slot.about}"
