"""Extractive summaries and their layout. Pure.

Includes the layout of a summary within its limit, and the check that a model adds nothing.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from core.extraction import salience
from core.language import grounding, languages, sentences
from core.language.lexicon import PLEASANTRY
from core.language.terms import terms, token_estimate
from core.statements import condense
from core.summaries import key_messages as summaries_key_messages
from core.summaries.key_messages import KeyMessage
from core.types import Message

TOKENS: Final = 1_500
"""Maximum tokens of a summary with its key messages: a fifth of the usual context."""

LEAST: Final = 300
"""Tokens reserved for the narrative: if there are too many key messages, their quotes are shortened."""

SHARE: Final = 4
"""Divisor: a narrative has at most this fraction of the tokens it covers."""

SENTENCE: Final = 240
"""Maximum characters of a sentence; a longer one is cut at a word."""

TOOL: Final = 80
"""Characters of a tool result included in a summary: what it was, not all of it."""

NEW: Final = 0.2
"""Minimum share of new words in a sentence; with less it only repeats."""

MARK: Final = 0.5
"""Weight of a number, a name or a date, relative to a word that occurs in every line (1)."""

ASKED: Final = 0.3
"""Weight of a question, a condition or a quotation."""

STATED: Final = 2.0
"""Weight of a statement about oneself."""

SHORT: Final = 30
"""Tokens added to a line's length; otherwise fragments of a few words would come first."""

QUOTES: Final = (240, 160, 110, 80, 56, 40)
"""Maximum characters of the quotes of key messages, tried in order until they fit."""

FIRST: Final = ("constraint", "instruction", "task", "decision", "question", "commitment")
"""Kinds whose quotes are kept longest if there is no room even for short ones; within a kind the newest."""


@dataclass(frozen=True, slots=True)
class _CandidateLine:
    """A candidate line of a summary: its day, speaker, text and weight (1: unchanged)."""

    day: str
    who: str
    text: str
    weight: float

    @property
    def written(self) -> str:
        return f"{self.who}: {self.text}" if self.who else self.text


def summarize(earlier: str, messages: Sequence[Message], key_messages: Sequence[KeyMessage], tokens: int) -> str:
    """Summarise `messages` and the `earlier` summary within `tokens`, without the sentences of `key_messages`."""
    quoted = {(key.message_id, key.quote) for key in key_messages}
    old = list(_read(earlier))
    new = [line for message in messages for line in _lines(message, quoted)]
    kept_lines = _select_lines(old, tokens // 2 if new else tokens)
    lines = [*kept_lines, *_select_lines(new, tokens - token_estimate(_join_lines(kept_lines)) - 1)]
    while token_estimate(_join_lines(lines)) > tokens:
        lines.pop()  # Where clocks run backwards, a day stands there more than once.
    return _join_lines(lines)


def render(content: str, key_messages: Sequence[KeyMessage]) -> str:
    """Render a summary: the key messages in their order, each with its kind and speaker, then the rest."""
    lines = [_key_line(key) for key in key_messages if key.quote]
    return "\n".join([*lines, "", content] if lines and content else [*lines, *([content] if content else [])])


def fit_key_messages(key_messages: Sequence[KeyMessage], tokens: int = TOKENS - LEAST) -> list[KeyMessage]:
    """Shorten the quotes of key messages until all lines fit; no key message is left out, at worst its quote is."""
    for most in QUOTES:
        short = [replace(key, quote=grounding.clip(key.quote, most)) for key in key_messages]
        if _tokens_of(short) <= tokens:
            return short
    order = sorted(short, key=lambda key: (FIRST.index(key.kind), -key.position))
    quoted, left = set[KeyMessage](), tokens
    for key in order:
        left -= token_estimate(f"{_key_line(key)}\n")
        if left < 0:
            break
        quoted.add(key)
    return [key if key in quoted else replace(key, quote="") for key in short]


def room(key_messages: Sequence[KeyMessage], covered: int) -> int:
    """Return the tokens left for the narrative besides these key messages, if it covers `covered` tokens."""
    return min(TOKENS - _tokens_of(key_messages), max(LEAST, covered // SHARE))


def is_grounded(summary: str, sources: Sequence[str], tokens: int) -> bool:
    """Return whether a model's summary is short enough and has no number, name, date or address from elsewhere."""
    if token_estimate(summary) > tokens or not summary.strip():
        return False
    source_text = "\n".join(sources)
    marks = (mark for forms in _DETAILS for pattern in forms.marks for mark in pattern.findall(summary))
    return all(mark in source_text for mark in marks) and all(
        grounding.is_grounded(part, "", sources) for part in _PARTS.split(summary)
    )


def transcript(messages: Sequence[Message], characters: int) -> str:
    """Render messages for a model, one line each, none longer than `characters`."""
    return "\n".join(
        f"{m.occurred_at:%Y-%m-%d %H:%M} {summaries_key_messages.speaker(m)}: "
        f"{grounding.clip(m.content, TOOL if m.role == 'tool' else characters)}"
        for m in messages
        if m.role != "system"
    )


def _read(earlier: str) -> Iterator[_CandidateLine]:
    """Parse the lines of a summary; a model's has neither days nor speakers."""
    day = ""
    for line in earlier.splitlines():
        if _DAY.fullmatch(line):
            day = line
        elif line.strip():
            who, colon, text = line.partition(": ")
            yield _CandidateLine(day, who, text, 1.0) if colon and day else _CandidateLine(day, "", line, 1.0)


def _join_lines(lines: Sequence[_CandidateLine]) -> str:
    """Join lines, with the day before the first line of each day."""
    parts, day = list[str](), ""
    for line in lines:
        parts += [line.day] * (line.day != day) + [line.written]
        day = line.day
    return "\n".join(part for part in parts if part)


def _lines(message: Message, quoted: set[tuple[str, str]]) -> list[_CandidateLine]:
    """Return the lines that a message offers; a system prompt is no part of the conversation."""
    if message.role == "system":
        return []
    who, day = summaries_key_messages.speaker(message), f"{message.occurred_at:%Y-%m-%d}"
    if message.role == "tool":
        excerpt = grounding.clip(message.content, TOOL)
        return [_CandidateLine(day, who, excerpt, 0.4)] if excerpt else []
    weight = 1.0 if message.role == "user" else 0.8
    split = sentences.split(message.content) or [message.content]
    excerpts = [grounding.clip(sentence, SENTENCE) for sentence in split if (message.id, sentence) not in quoted]
    return [_CandidateLine(day, who, excerpt, weight * _sentence_weight(excerpt)) for excerpt in excerpts if excerpt]


def _sentence_weight(sentence: str) -> float:
    """Weigh a sentence: a pleasantry nothing, a question little, a statement about oneself most."""
    if PLEASANTRY.fullmatch(_NO_LETTER.sub("", sentence).casefold()):
        return 0.0
    asserted = sentences.asserted_part(sentence)
    if asserted is None:
        return ASKED
    states = salience.is_statement(asserted)
    return (STATED if states else 1.0) * (0.5 + 0.25 * min(max(salience.weigh(asserted), 0.0), 2.0))


def _select_lines(lines: Sequence[_CandidateLine], tokens: int) -> list[_CandidateLine]:
    """Select the lines with the most information for their length, as many as fit, in order.

    A line loses weight with every selected line that shares its words, so repetitions are included once.
    """
    of = [frozenset(terms(line.text)) for line in lines]
    weigh = _weights(lines, of)
    covered, chosen = set[str](), list[int]()
    waiting = [(-weigh(index, covered), index) for index in range(len(lines))]
    heapq.heapify(waiting)
    while waiting:
        before, index = heapq.heappop(waiting)
        cost = token_estimate(f"{lines[index].day}\n{lines[index].written}\n")
        now = -weigh(index, covered)
        if cost > tokens or now >= 0 or (covered and len(of[index] - covered) < NEW * len(of[index])):
            continue
        if now > before and waiting and now > waiting[0][0]:
            heapq.heappush(waiting, (now, index))  # Others have told of it meanwhile: it waits for its turn.
            continue
        days = {lines[selected].day for selected in chosen}
        chosen.append(index)
        covered |= of[index]
        tokens -= cost if lines[index].day not in days else token_estimate(f"{lines[index].written}\n")
    return [lines[index] for index in sorted(chosen)]


def _weights(lines: Sequence[_CandidateLine], of: Sequence[frozenset[str]]) -> Callable[[int, AbstractSet[str]], float]:
    """Return a function that weighs a line for its length: by its topics, and by its numbers, names and dates."""
    spread = Counter(term for line_terms in of for term in line_terms)
    most = math.log1p(max(spread.values(), default=1))
    marks = [_marks(line.text) for line in lines]
    lengths = [math.sqrt(token_estimate(line.written) + SHORT) for line in lines]

    def weigh(index: int, covered: AbstractSet[str]) -> float:
        new = of[index] - covered
        central = sum(math.log1p(spread[term]) for term in new) / most
        return lines[index].weight * (central + MARK * len(marks[index] & new)) / lengths[index]

    return weigh


def _marks(sentence: str) -> frozenset[str]:
    marks = condense.marks(sentence[:1].lower() + sentence[1:]) | {
        mark for forms in _DETAILS for mark in forms.numbered.findall(sentence)
    }
    return frozenset(term for mark in marks for term in terms(mark))


def _tokens_of(key_messages: Sequence[KeyMessage]) -> int:
    """Return an upper bound of the tokens of these lines in `render`, including the empty line after them."""
    return sum(token_estimate(f"{_key_line(key)}\n") for key in key_messages if key.quote) + 1


def _key_line(key: KeyMessage) -> str:
    phrases = languages.phrases(languages.of(key.quote))
    return phrases.key_line.format(kind=phrases.kinds.get(key.kind, key.kind), who=key.by, text=key.quote)


_DETAILS: Final = [language.details for language in languages.ALL if language.details]

_NO_LETTER = re.compile(r"[\W_]+")

_DAY = re.compile(r"\d{4}-\d\d-\d\d")

_PARTS = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
