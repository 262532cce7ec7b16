"""Statements worth keeping out of a conversation, by rules alone: no model, no network, the same answer every time.

A message is cut into sentences; a sentence that asserts something about its speaker is read by the tables of its
language (a slot, an instruction, a plan, a habit, an event), weighed, dated, and written in the third person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from core.extract import answers, dates, english, patterns_en, patterns_zh, rewrite, sentences, worth
from core.extract.reading import Cue, Slot, Tables, Theme
from core.types import Candidate, Category, Evidence, Kind, Message, Topic

ASSISTANT_NAMES = frozenset({"assistant", "ai", "bot", "agent", "chatgpt", "claude", "gemini", "copilot", "system"})
_WORD = re.compile(r"[a-z]{4,}|[\u4e00-\u9fff]")
LONGEST_MESSAGE = 1500
"""Characters. A longer message holds a pasted document; its author's own words are its first and last paragraph."""


@dataclass(frozen=True, slots=True)
class _Talk:
    """A message and what is known around it: who speaks to whom, what was asked before, what is new in it."""

    message: Message
    speaker: str
    addressee: str | None
    names: frozenset[str]
    asked: str | None
    answers: bool
    novelty: float


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that asserts something: as written, in plain words, with its dates and slots."""

    quote: str
    place: int
    plain: str
    chinese: bool
    found: tuple[dates.Found, ...]
    slots: tuple[Slot, ...]
    talk: _Talk


def extract(messages: Sequence[Message]) -> list[Candidate]:
    """The candidates that `messages` (one conversation, in order) state, in the order in which they were said."""
    return [candidate for talk in _talks(messages) for candidate in _of_message(talk)]


def speaker_of(message: Message) -> str | None:
    """Whose statements in `message` count: the person who speaks, None for an assistant, a tool or a system."""
    if message.role == "user":
        return message.speaker or message.user_id
    if message.role == "assistant" and message.speaker and message.speaker.lower() not in ASSISTANT_NAMES:
        return message.speaker
    return None


def _own_words(message: Message) -> str:
    text = message.content
    if len(text) <= LONGEST_MESSAGE:
        return text
    paragraphs = [p for p in re.split(r"\n\s*\n", text) if p.strip()]
    return "\n".join(p[:LONGEST_MESSAGE] for p in dict.fromkeys((*paragraphs[:1], *paragraphs[-1:])))


def _talks(messages: Sequence[Message]) -> Iterator[_Talk]:
    names = {m.speaker for m in messages if m.speaker and speaker_of(m)}
    seen: set[str] = set()
    before: Message | None = None
    for message in messages:
        words = set(_WORD.findall(_own_words(message).lower()))
        speaker = speaker_of(message)
        if speaker:
            others = sorted(names - {speaker})
            addressee = others[0] if len(others) == 1 else None
            novelty = len(words - seen) / len(words) if words else 0.0
            asks = before is not None and ("?" in before.content or "？" in before.content)
            yield _Talk(message, speaker, addressee, frozenset(others), _question(before, speaker), asks, novelty)
        seen |= words
        before = message


def _question(before: Message | None, speaker: str) -> str | None:
    """What someone else asked right before; tools and systems ask nothing."""
    if before is None or before.role not in {"user", "assistant"} or speaker_of(before) == speaker:
        return None
    return answers.question_in(before.content)


def _of_message(talk: _Talk) -> list[Candidate]:
    text = _own_words(talk.message)
    answer = _answer(text, talk)
    quotes = [quote for quote in sentences.split(text) if answer is None or quote != answer.quote]
    said = [one for place, quote in enumerate(quotes, 1) if (one := _said(quote, place, talk))]
    said = [answer, *said] if answer else said
    instructions = [one for one in said if _tables(one).instruction.search(one.plain)]
    told = [one for one in said if one not in instructions]
    # People who talk to each other encourage ("never give up"); only an assistant is given standing instructions.
    wishes = [] if talk.names else [one for one in instructions if not _tables(one).one_off.search(one.plain)]
    return [_instruction(one) for one in wishes] + [c for group in _kept(told, talk) for c in _candidates(group)]


def _tables(one: _Said) -> Tables:
    return patterns_zh.TABLES if one.chinese else patterns_en.TABLES


def _answer(text: str, talk: _Talk) -> _Said | None:
    """What the message says as an answer to what was asked, if that fills a slot."""
    answer = answers.read(talk.asked, text) if talk.asked else None
    said = _said(answer.quote, 0, talk, answer.statement) if answer else None
    return said if said and said.slots else None


def _said(quote: str, place: int, talk: _Talk, stated: str | None = None) -> _Said | None:
    asserted = sentences.asserted(stated or quote)
    if asserted is None:
        return None
    chinese = sentences.is_chinese(asserted)
    plain = sentences.cleaned_zh(asserted) if chinese else english.cleaned(asserted, talk.names)
    plain = rewrite.without_own_name(plain, talk.speaker)
    found = tuple(dates.find(plain, talk.message.occurred_at, chinese=chinese))
    read = _slots_zh(plain, found) if chinese else patterns_en.slots(plain)
    slots = [slot for slot in read if not _is_own_name(slot, talk.speaker)]
    if not plain or (read and not slots):
        return None
    birthdays = {slot.value[-5:] for slot in slots if slot.attribute == "birthday"}
    if birthdays:  # neither it nor the day that it is not has a year
        found = tuple(one for one in found if f"{one.when:%m-%d}" not in birthdays | _denied(plain, one))
    return _Said(quote, place, plain, chinese, found, tuple(slots), talk)


def _denied(plain: str, one: dates.Found) -> set[str]:
    """The day of a date that "not" stands before."""
    before = plain[: one.start].rstrip()
    return {f"{one.when:%m-%d}"} if before.endswith((" not", "不是")) else set()


def _is_own_name(slot: Slot, speaker: str) -> bool:
    """Whether `slot` says only that the speaker is called what they are known to be called."""
    return slot.attribute.startswith("name.") and not slot.about and slot.value.casefold() == speaker.casefold()


def _kept(said: list[_Said], talk: _Talk) -> list[list[_Said]]:
    """The statements worth keeping, each with the sentence right after it that leans on it ("It helps me relax")."""
    statements = [one for one in said if one.slots or _states(one)]
    setting = worth.Setting(
        talk.message.content,
        max(talk.message.position, 1),
        talk.answers,
        any(one.found for one in statements),
        talk.novelty,
    )
    wanted = bool(statements) and worth.of([one.plain for one in statements], setting) >= worth.THRESHOLD
    groups: list[list[_Said]] = []
    for one in statements:
        leans = not one.chinese and not one.slots and bool(worth.ANAPHORIC.search(one.plain))
        if leans and wanted and groups and len(groups[-1]) == 1 and groups[-1][0].place == one.place - 1:
            groups[-1].append(one)
        elif not leans and (one.slots or (wanted and worth.is_worth_a_line(one.plain))):
            groups.append([one])
    return groups


def _states(one: _Said) -> bool:
    return worth.is_statement_zh(one.plain) if one.chinese else worth.is_statement(one.plain)


def _candidates(group: list[_Said]) -> list[Candidate]:
    """One statement as it was said for the first attribute; a name and each further attribute in its own sentence."""
    base = _statement(group)
    by_attribute: dict[tuple[str, str | None, bool], list[Slot]] = {}
    for slot in group[0].slots:
        by_attribute.setdefault((slot.attribute, slot.about, slot.pattern.negated), []).append(slot)
    filled = [(_filled(base, slots), slots) for slots in by_attribute.values()]
    return [
        replace(c, content=_plainly(c, s, chinese=group[0].chinese))
        if place or s[0].attribute.startswith("name.")
        else c
        for place, (c, s) in enumerate(filled)
    ] or [base]


def _plainly(candidate: Candidate, slots: list[Slot], *, chinese: bool) -> str:
    """An attribute and its value as a short sentence."""
    tables = (patterns_zh if chinese else patterns_en).TABLES
    stated = tables.stated
    attribute, pattern = slots[0].attribute, slots[0].pattern
    form: str = stated.get(attribute) or stated.get(attribute.split(".")[0]) or stated[""]
    if pattern.negated:
        form = stated[f"not {attribute}"]
    value = ("、" if chinese else " and ").join(slot.value for slot in slots)
    last = attribute.split(".")[-1]
    what = tables.words.get(last, last.replace("_", " "))
    return form.format(who=candidate.subject, value=value, a_value=rewrite.with_article(value), what=what)


def _slots_zh(plain: str, found: Sequence[dates.Found]) -> list[Slot]:
    """A date may stand between the subject and its verb, so the tables see the sentence without and with its dates."""
    undated = plain
    for one in reversed(found):
        undated = undated[: one.start] + undated[one.end :]
    as_said = patterns_zh.slots(plain)
    known = {(slot.attribute, slot.about) for slot in as_said}
    return as_said + [slot for slot in patterns_zh.slots(undated) if (slot.attribute, slot.about) not in known]


def _content(group: list[_Said]) -> str:
    return ("" if group[0].chinese else " ").join(_sentence(one) for one in group)


def _sentence(one: _Said) -> str:
    text, talk = dates.written_out(one.plain, list(one.found)), one.talk
    if one.chinese:
        return rewrite.third_person_zh(text, talk.speaker, talk.addressee)
    text = rewrite.third_person(text, talk.speaker, talk.addressee, _own_words(talk.message))
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _evidence(group: list[_Said]) -> tuple[Evidence, ...]:
    message = group[0].talk.message
    content, quote = message.content, group[0].quote
    start, last = content.find(quote), group[-1].quote
    if start >= 0 and last != quote:
        quote = content[start : content.find(last, start) + len(last)]
    return (Evidence(message.session_id, message.id, message.event_id, quote),)


def _instruction(one: _Said) -> Candidate:
    wish, speaker = one.plain.rstrip(".!。！"), one.talk.speaker
    content = f"{speaker}的长期要求：{wish}。" if one.chinese else f"{speaker}'s standing instruction: {wish}."
    return Candidate(
        content, Category.INSTRUCTION, Topic.PREFERENCE, speaker, _evidence([one]), one.talk.message.occurred_at,
        importance=0.9, confidence=0.85,
    )  # fmt: skip


def _statement(group: list[_Said]) -> Candidate:
    first = group[0]
    tables = _tables(first)
    cue = next((c for c in tables.categories if c.regex.search(first.plain)), None)
    found = [one for said in group for one in said.found]
    category = _category(first, cue, found)
    return Candidate(
        _content(group), category, _topic(first.plain, tables.themes), first.talk.speaker, _evidence(group),
        found[0].when if found else first.talk.message.occurred_at,
        kind=Kind.EPISODIC if category is Category.EVENT else Kind.SEMANTIC,
        importance=cue.importance if cue else 0.5, confidence=0.6,
        corrects=bool(tables.correction.search(first.plain) or tables.correction.search(first.quote)),
        structured={"date_precision": found[0].precision.value} if found else {},
    )  # fmt: skip


def _category(said: _Said, cue: Cue | None, found: Sequence[dates.Found]) -> Category:
    """By its cue; what is told with a day to come, and no other sign, is a plan ("We are flying on 3 June")."""
    ahead = bool(found) and all(one.when > said.talk.message.occurred_at for one in found)
    if ahead and (cue is None or cue.category is Category.EVENT):
        return Category.PLAN
    return cue.category if cue else Category.FACT


def _topic(plain: str, themes: Sequence[Theme]) -> Topic:
    return next((theme.topic for theme in themes if theme.regex.search(plain)), Topic.OTHER)


def _filled(base: Candidate, slots: list[Slot]) -> Candidate:
    """`base` with its attribute: one value in the slot, or those that may stand side by side in `structured`."""
    slot, pattern = slots[0], slots[0].pattern
    exclusive = pattern.exclusive and not pattern.negated
    side_by_side = {"attribute": slot.attribute, "values": [s.value for s in slots], "negated": pattern.negated}
    return replace(
        base, category=pattern.category, topic=pattern.topic, kind=Kind.SEMANTIC, importance=pattern.importance,
        confidence=0.85, subject=_about(base.subject, slot), attribute=slot.attribute if exclusive else None,
        value=slot.value if exclusive else None, corrects=base.corrects or pattern.corrects,
        structured=base.structured if exclusive else base.structured | side_by_side,
    )  # fmt: skip


def _about(speaker: str, slot: Slot) -> str:
    if not slot.about:
        return speaker
    chinese = re.search(r"[\u4e00-\u9fff]", slot.about)
    named = slot.about[0].isupper()
    return slot.about if named else f"{speaker}的{slot.about}" if chinese else f"{speaker}'s {slot.about}"
