"""Unit texts by rules. Pure.

Every sentence was said by somebody; it is in the third person if it is about its speaker,
else a quote. Text that tries to command its reader is left out, and secrets are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from core.extraction import actions, rule_extractor, speakers
from core.language import dates, grounding, languages, sentences, topics
from core.language.lazy_regex import either
from core.language.terms import terms
from core.language.topics import ASSISTANT
from core.screening import screen
from core.types import Json, Message

SPOKEN: Final = frozenset({"user", "assistant"})
"""Roles whose messages are talk; messages of tools and systems are left out."""

READ: Final = 1_500
"""Characters of a message that are used; longer text is pasted."""

STATED: Final = 3
"""Maximum sentences of one message in a narrative."""

SUMMARY: Final = 2
"""Maximum sentences of a summary."""

SENTENCE: Final = 240
"""Maximum characters of a sentence in a summary."""

SUBJECT: Final = 3
"""Maximum words of a subject."""

NARRATIVE: Final = 2_400
"""Maximum characters of a narrative by rules; the lines least related to the subject are dropped."""

FACTS: Final = 40
"""Maximum facts of one unit."""


@dataclass(frozen=True, slots=True)
class UnitText:
    """Text of a unit; empty if nobody said anything. `prompt`: of the model that wrote it, or parts of it."""

    subject: str
    summary: str
    narrative: str
    participants: Sequence[str]
    keywords: Sequence[str]
    facts: Sequence[Json]
    prompt: str | None = None


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A message in a few sentences; `stated`: those about its speaker, or stating a fact."""

    message_id: str
    position: int
    text: str
    stated: Sequence[str] = ()


def is_told(message: Message) -> bool:
    """Return whether a message is talk, and not from a tool or a system prompt."""
    return message.role in SPOKEN and bool(message.content.strip())


def rule_text(messages: Sequence[Message], lines: Sequence[RuleLine]) -> UnitText:
    """Summarize messages of `screen_messages`, rendered as `lines`."""
    names = speaker_names(messages)
    keywords = topics.topics([_REDACTED.sub(" ", m.content) for m in messages], [], names)
    lines = lines or [
        RuleLine(m.id, m.position, _with_speaker(m.content, speakers.speaker_of(m))) for m in messages[:1]
    ]
    narrative = narrative_of(_select_lines(lines, keywords))
    return UnitText(
        _subject(keywords, messages), _summary(lines, keywords), narrative, names, keywords, _facts(messages)
    )


def speaker_names(messages: Sequence[Message]) -> list[str]:
    """Return the speakers of messages, by name, in order of appearance."""
    return list(dict.fromkeys(speakers.speaker_of(m) or ASSISTANT for m in messages))


def screen_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """Remove secrets, and instructions aimed at whoever reads the text later."""
    for message in messages:
        if is_told(message):
            seen = screen.screen(message.content)
            if not seen.hostile:
                yield replace(message, content=seen.text)


def join_sentences(several: Sequence[str]) -> str:
    """Join sentences; behind full-width signs there is no space."""
    joined = ""
    for sentence in several:
        joined += sentence if not joined or joined[-1] in _FULL else f" {sentence}"
    return joined


def narrative_of(line_texts: Sequence[str]) -> str:
    """Render the narrative, a line for each message."""
    return "\n".join(line for line in line_texts if line)


def _subject(keywords: Sequence[str], messages: Sequence[Message]) -> str:
    if not keywords:
        return grounding.clip(messages[0].content, SENTENCE // 4) if messages else ""
    codes = {language.code: language for language in map(languages.of, keywords[:SUBJECT])}
    language = languages.DEFAULT if len(codes) > 1 else next(iter(codes.values()))
    return languages.phrases(language).separator.join(keywords[:SUBJECT])


def lines(messages: Sequence[Message]) -> Iterator[RuleLine]:
    """Render each message of `screen_messages`; one without content of its own is left out."""
    everyone = frozenset(speaker_names(messages)) - {ASSISTANT}
    for message in messages:
        speaker = speakers.speaker_of(message)
        split = sentences.split(message.content[:READ]) if speaker else []
        questions = [sentence for sentence in split if _ASKS.search(sentence)]
        statements = [sentence for sentence in split if sentence not in questions]
        stated = list(_statements_of(statements, message, speaker, everyone - {speaker}))[:STATED] if speaker else []
        if speaker and stated:
            text = _said_by(speaker, join_sentences(stated))
            text = join_sentences([text, *(_with_speaker(question, speaker) for question in questions[-1:])])
            yield RuleLine(message.id, message.position, text, [_said_by(speaker, statement) for statement in stated])
        elif topics.topics([message.content], []):
            yield RuleLine(message.id, message.position, _with_speaker(message.content, speaker))


def _said_by(speaker: str, statement: str) -> str:
    """Return the words with the name of the speaker before them, unless they begin with it."""
    if statement.startswith(speaker):
        return statement
    return languages.phrases(languages.of(statement)).line.format(who=speaker, text=statement)


def _statements_of(quotes: Sequence[str], message: Message, speaker: str, others: frozenset[str]) -> Iterator[str]:
    """Return the statements in sentences of a message: dates written out, the speaker in the third person."""
    to = next(iter(others)) if len(others) == 1 else None
    for quote in quotes:
        stated = sentences.asserted_part(quote)
        if stated is None or _REQUEST.match(stated) or not topics.topics([stated], []):
            continue
        language = languages.grammar_of(stated)
        plain = language.plain(stated)
        dated = dates.made_absolute(plain, message.occurred_at, language.dates)
        if dated:
            own = language.own is None or language.own.search(dated)
            sentence = language.third_person(dated, speaker, to) if own else dated
            ends = language.ends if not sentence.endswith((".", "!", "?", "…")) else ""
            yield f"{sentence}{ends}"


def _with_speaker(content: str, speaker: str | None) -> str:
    excerpt = grounding.clip(content)
    asks = _ASKS.search(excerpt) is not None
    phrases = languages.phrases(languages.of(content))
    who = speaker or phrases.assistant[:1].upper() + phrases.assistant[1:]
    return (phrases.question_quoted if asks else phrases.statement_quoted).format(who=who, text=excerpt)


def _summary(lines: Sequence[RuleLine], keywords: Sequence[str]) -> str:
    """Return the sentences that together cover most of the conversation, in order."""
    statements = [statement for line in lines for statement in line.stated] or [line.text for line in lines]
    subject_stems = set(_stems(keywords))
    says = [subject_stems & set(_stems([statement])) for statement in statements]
    chosen: list[int] = []
    missing = subject_stems
    for _ in range(SUMMARY):
        left = [
            index for index in range(len(statements)) if index not in chosen and (not chosen or says[index] & missing)
        ]
        best = max(
            left,
            key=lambda index: (
                len(says[index] & missing),
                _NAMED.match(statements[index]) is None,
                len(says[index]),
                -index,
            ),
            default=None,
        )
        if best is None:
            break
        chosen.append(best)
        missing = missing - says[best]
    return join_sentences([grounding.clip(statements[index], SENTENCE) for index in sorted(chosen)])


def _select_lines(lines: Sequence[RuleLine], keywords: Sequence[str]) -> list[str]:
    """Select the lines that fit: those with the most about the subject, in order."""
    subject_stems = set(_stems(keywords))
    ranked = sorted(
        lines, key=lambda line: (-len(subject_stems & set(_stems([line.text]))), not line.stated, line.position)
    )
    kept_ids: set[str] = set()
    room = NARRATIVE
    for line in ranked:
        if len(line.text) < room:
            kept_ids.add(line.message_id)
            room -= len(line.text) + 1
    return [line.text for line in lines if line.message_id in kept_ids]


def _stems(texts: Sequence[str]) -> list[str]:
    return [stem for text in texts for stem in terms(text)]


def _facts(messages: Sequence[Message]) -> list[Json]:
    """Return events, facts and plans, each with its time: when it is, else when it was said."""
    by_id = {m.id: m for m in messages}
    dated_texts: dict[str, list[tuple[datetime, str]]] = {m.id: [] for m in messages}
    for candidate in rule_extractor.statements_of_rules(messages):
        dated_texts[candidate.evidence[0].message_id].append((candidate.occurred_at, candidate.content))
    for message_id, texts in actions.actions_of(messages).items():
        known_texts = [text for _, text in dated_texts[message_id]]
        more = [action for action in texts if not any(action.rstrip(".。") in text for text in known_texts)]
        dated_texts[message_id] += [(_when(action, by_id[message_id].occurred_at), action) for action in more]
    facts = [
        _fact(moment, text, by_id[message_id])
        for message_id, several in dated_texts.items()
        for moment, text in several
    ]
    return facts[:FACTS]


def _when(text: str, said_at: datetime) -> datetime:
    mentions = dates.find(text, said_at, languages.of(text).dates)
    return mentions[0].when if mentions else said_at


def _fact(moment: datetime, text: str, message: Message) -> Json:
    return {
        "at": moment.isoformat(),
        "text": text,
        "message_ids": [message.id],
        "by": speakers.speaker_of(message),
    }


_ASKS: Final = re.compile(r"[?？][\"”’)！!]*$")

_NAMED: Final = re.compile(r"[^:：]{1,60}[:：]")
"""Frame before words that do not name their speaker."""

_REDACTED: Final = re.compile(r"\[redacted: [^]]*\]")

_FULL: Final = "。！？；"
"""Characters without a space after them."""

_REQUEST: Final = either(
    language.assertions.asks_for for language in languages.ALL if language.assertions and language.assertions.asks_for
)
"""Beginnings of requests, which state no fact."""
