"""Corrections of what the speaker wrote just before: "I moved to Porto." / "Sorry, not Porto, Leeds.". Pure.

A trained model (`core.inference.local_reader`) tells whether a message corrects an earlier one of its author, and which
value takes the place of which. The corrected statement is put in the place of the correction, so that it is read like
any other and keeps its slot; the wrong one is not read at all. Only messages that a quick look at their words lets
through are shown to the model: `python -m bench.corrections` trains the weights of that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.language import languages, ngrams, sentences
from core.language.lazy_regex import either, lazy_regex
from core.types import Candidate, Evidence, Message

Floats = NDArray[np.float32]

REACH: Final = 3
"""Earlier messages of the speaker among which the corrected statement is searched."""

LONGEST: Final = 200
"""Characters of a correction, and twice as many of the message that it corrects."""

REPLY: Final = 120
"""Characters at the end of what was said in between that are read with a correction."""

WORDS_LIKELY: Final = -3.0
"""Log-odds by words alone below which a message is not shown to the model, which takes time."""

WITHIN: Final = 2
"""Parts of a message that are shown to the model."""

WORDS: Final = Path(__file__).with_name("correction_words.bin")

LENGTH_STEP: Final = 10
LENGTHS: Final = 12

CORRECTS: Final = -2.0
"""Log-odds, those by words counted `WORDS_COUNT` times, from which a message corrects an earlier one."""

SAYS_NO: Final = -3.0
"""Least log-odds of the model that count: it denies many of the shortest corrections for certain ("rice, typo")."""

WORDS_COUNT: Final = 2.0
"""Weight of the log-odds by words beside those of the model, which knows few of the shortest corrections."""

CERTAIN_BY_WORDS: Final = 2.0
"""Log-odds by words from which a message corrects a statement even if it says all of its words again."""

POINTED: Final = 0.7
"""Probability from which the reader's pointers are believed: where nothing is corrected they point nowhere."""

CERTAINLY: Final = 2.0
"""As `CORRECTS`, of a part of a message and the part before it; the reader was trained on whole messages."""


class Slips(Protocol):
    """Tells which slip of the tongue a message corrects."""

    def slips(self, statements: Sequence[str], reply: str, message: str) -> Floats:
        """Return the log-odds that a message corrects a slip in each statement; `reply`: said in between."""

    def values(self, statement: str, reply: str, message: str) -> tuple[str, str, float]:
        """Return the value of a statement that a message corrects, the right one, and how probable both are."""


@dataclass(frozen=True, slots=True)
class _Slip:
    """A value of a statement that is wrong, and the one that takes its place; `at`: which statement."""

    at: int
    wrong: str
    right: str


@dataclass(frozen=True, slots=True)
class Corrected:
    """A statement in its corrected words, the sentence it was made in, and the message that corrects it."""

    sentence: str
    source: Evidence
    correction: Evidence


def apply(messages: Sequence[Message], slips: Slips | None) -> tuple[list[Message], Mapping[str, list[Corrected]]]:
    """Return the messages with corrected statements in the place of their corrections, and these by message id."""
    if slips is None:
        return list(messages), {}
    result = list(messages)
    corrected: dict[str, list[Corrected]] = {}
    for position, message in enumerate(messages):
        if message.role != "user":
            continue
        mended = _corrected_before(result, position, slips)
        if mended is None:
            result[position] = _corrected_within(message, slips)
            continue
        earlier, result[earlier], result[position], statement = mended
        cited = corrected.pop(result[earlier].id, []) if not result[earlier].content else []
        first = replace(statement, source=cited[0].source) if cited else statement
        corrected.setdefault(message.id, []).append(first)
    return [message for message in result if message.content], corrected


def with_sources(candidate: Candidate, corrected: Mapping[str, Sequence[Corrected]]) -> Candidate:
    """Return a candidate made of a corrected statement with the evidence of both messages."""
    (first, *_) = candidate.evidence
    for statement in corrected.get(first.message_id, ()):
        if first.quote in statement.sentence or statement.sentence in first.quote:
            return replace(candidate, evidence=(statement.source, statement.correction), corrects=True)
    return candidate


def _corrected_before(
    messages: Sequence[Message], position: int, slips: Slips
) -> tuple[int, Message, Message, Corrected] | None:
    """Return which earlier message one corrects, both as they read then, and the corrected statement."""
    message = messages[position]
    earlier = [
        at
        for at in range(position)
        if _speaker(messages[at]) == _speaker(message) and 0 < len(messages[at].content) <= 2 * LONGEST
    ][-REACH:]
    slip = _slip(slips, [messages[at].content for at in earlier], _reply(messages, position), message.content, CORRECTS)
    mended = _mend(message, messages[earlier[slip.at]], slip) if slip else None
    return (earlier[slip.at], *mended) if slip and mended else None


def by_words(text: str) -> float:
    """Return the log-odds, by words alone, that a text corrects something; -inf if it is long, or adds something."""
    return -math.inf if len(text) > LONGEST or _OTHER.search(text) else ngrams.weights(WORDS).logit(features(text))


def features(text: str) -> frozenset[str]:
    """Return the n-grams of a text, its first sign and words, and its length."""
    folded = text.strip().casefold()
    language = languages.grammar_of(folded).code
    opening = {f"start {folded[:1]}", *(f"opens {word}" for word in folded.split()[:2])}
    return frozenset({*ngrams.of(folded, language), *opening, f"length {min(len(folded) // LENGTH_STEP, LENGTHS)}"})


def _speaker(message: Message) -> tuple[str, str, str | None]:
    return message.role, message.user_id, message.speaker


def _reply(messages: Sequence[Message], position: int) -> str:
    """Return the end of the message just before, if it is somebody else's."""
    before = messages[position - 1] if position else None
    return "" if before is None or _speaker(before) == _speaker(messages[position]) else before.content[-REPLY:]


def _slip(slips: Slips, statements: Sequence[str], reply: str, message: str, least: float) -> _Slip | None:
    """Return the slip that a message corrects, if both values stand in the texts as they were written."""
    word_score = by_words(message)
    if not statements or word_score < WORDS_LIKELY:
        return None
    log_odds = slips.slips(statements, reply, message)
    at = int(log_odds.argmax())
    if max(log_odds[at], SAYS_NO) + WORDS_COUNT * word_score < least:
        return None
    *values, probability = slips.values(statements[at], reply, message)
    wrong, right = map(_whole, (statements[at], message), _trimmed(*values))
    if not (wrong and right) or probability < POINTED or wrong.casefold() == right.casefold():
        return None
    slip = _Slip(at, wrong, right)
    is_other = _is_denied(message, right) or (
        word_score < CERTAIN_BY_WORDS and _is_parallel(statements[at], slip, message)
    )
    return None if is_other else slip


def _whole(text: str, value: str) -> str:
    """Return a value with the rest of the words that it begins and ends in; "" if it does not stand in the text."""
    start = text.find(value) if value else -1
    if start < 0:
        return ""
    end = start + len(value)
    while start and _is_letter(text[start - 1]) and _is_letter(text[start]):
        start -= 1
    while end < len(text) and _is_letter(text[end]) and _is_letter(text[end - 1]):
        end += 1
    return text[start:end]


def _is_letter(sign: str) -> bool:
    """Return whether a sign is part of a word that spaces end."""
    return sign in "'’" or (sign.isalnum() and sign < "\u0250")


def _is_denied(message: str, value: str) -> bool:
    """Return whether a message denies a value: "Not Scarborough, thank goodness" corrects no town."""
    before = message[: message.find(value)].casefold().rstrip()
    return before.endswith(_DENIALS)


def _is_parallel(statement: str, slip: _Slip, message: str) -> bool:
    """Return whether a message says all words of a statement again, with another value: "Locker 8 is mine" after "7".

    Without a word of correcting these are two statements. Numbers may differ.
    """
    rest = _words(statement.replace(slip.wrong, " ", 1)) or _words(slip.wrong)
    return bool(rest) and rest <= _words(message)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text, without numbers."""
    return frozenset(word for word in text.casefold().split() if not any(map(str.isdigit, word)))


def _trimmed(wrong: str, right: str) -> tuple[str, str]:
    """Return both values without the signs and particles that a token has beside them."""
    wrong, right = wrong.strip(_SIGNS), right.strip(_SIGNS)
    for particle in _PARTICLES:
        if wrong.startswith(particle) != right.startswith(particle):
            wrong, right = wrong.removeprefix(particle), right.removeprefix(particle)
        if wrong.endswith(particle) != right.endswith(particle):
            wrong, right = wrong.removesuffix(particle), right.removesuffix(particle)
    return wrong, right


def _mend(message: Message, before: Message, slip: _Slip) -> tuple[Message, Message, Corrected] | None:
    """Return both messages and the corrected statement: what else they say stays where it was said."""
    parts = sentences.split(before.content) or [before.content.strip()]
    wrong = next((part for part in parts if slip.wrong in part), None)
    if wrong is None:
        return None
    stated = _ended(wrong.replace(slip.wrong, slip.right, 1))
    others = [part for part in sentences.split(message.content) if slip.right not in part and slip.wrong not in part]
    cited = Evidence(before.session_id, before.id, before.event_id, wrong)
    citing = Evidence(message.session_id, message.id, message.event_id, message.content)
    left = before.content.replace(wrong, "", 1).strip(" .。")
    now = " ".join([stated, *others])
    return replace(before, content=left), replace(message, content=now), Corrected(stated, cited, citing)


def _ended(sentence: str) -> str:
    """Return a sentence with a full stop, where it has no sign at its end."""
    if sentence.endswith((".", "!", "?", "…", "。", "！", "？")):
        return sentence
    return f"{sentence}{languages.grammar_of(sentence).full_stop}"


def _corrected_within(message: Message, slips: Slips) -> Message:
    """Return a message with a value that it corrects itself: "I work at Contoso—no wait, Fabrikam"."""
    if len(message.content) > 2 * LONGEST:
        return message
    marks = list(_BREAKS.finditer(message.content))
    ends = [*(mark.start() for mark in marks[2:]), *[len(message.content)] * 2]
    parts = [
        (message.content[: mark.start()].strip(), message.content[mark.end() : end].strip(), message.content[end:])
        for mark, end in zip(marks, ends, strict=False)
    ]
    likely = [part for part in parts if part[0] and by_words(part[1]) >= WORDS_LIKELY]
    for before, after, beyond in likely[:WITHIN]:
        slip = _slip(slips, [before], "", after, CERTAINLY)
        if slip is not None:
            start, _, end = before.rpartition(slip.wrong)
            rest = after[after.find(slip.right) + len(slip.right) :]
            return replace(message, content=f"{start}{slip.right}{end}{rest}{beyond}")
    return message


_CHAT: Final = [language.chat for language in languages.ALL if language.chat]
_OTHER: Final = either(forms.adds for forms in _CHAT)
"""Words by which something is added, or asked to be forgotten; "and 40 mg at night" corrects no dose."""

_DENIALS: Final = tuple(denial for forms in _CHAT for denial in forms.denials)
_SIGNS: Final = " \t\n.,;:!?…*\"'“”‘’()。，、；：！？「」《》"
_PARTICLES: Final = (*(particle for forms in _CHAT for particle in forms.particles), "の", "は")
_BREAKS: Final = lazy_regex(r"\s*(?:[—–…，,;；。]|\.\.\.|\.\s|\s-\s)\s*", re.NOFLAG)
"""Places in a message behind which it may correct itself."""
