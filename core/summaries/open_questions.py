"""Questions of a conversation that nobody has answered yet. Pure.

A question is open from when it is asked until the next speaker answers it, or a later sentence has most of its words.
An answer that defers ("I'll check") leaves it open. What is said to be open ("still undecided") counts
as a question. Courtesies, offers, and requests to the assistant do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from core.language import languages, sentences
from core.language.lazy_regex import either
from core.language.terms import terms
from core.summaries.key_messages import KeyMessage, kind_of, speaker
from core.types import Message

KIND: Final = "question"

MOST: Final = 12
"""Open questions kept, the newest: of a chat that leaves many unanswered, the old ones matter to nobody."""

WORDS: Final = 2
"""Least words of content in a question: "Really?" asks nothing."""

SAME: Final = 0.6
"""Share of the words of a question from which a later statement answers it."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A message as answers are judged: who said it, what it states, whether it defers or takes back."""

    by: str
    stated: Sequence[str]
    defers: bool
    takes_back: bool


def still_open(
    earlier: Sequence[KeyMessage], messages: Sequence[Message], later: Sequence[Message]
) -> list[KeyMessage]:
    """Return the questions open after `messages`: of `earlier` and of theirs, without those answered there or `later`.

    Questions asked in `later` are not returned.
    """
    questions, fresh = [key for key in earlier if key.kind == KIND], list[KeyMessage]()
    for index, message in enumerate((*messages, *later)):
        if message.role not in {"user", "assistant"}:
            continue
        reading = _read(message)
        fresh = _unanswered(fresh, reading)
        questions = [key for key in questions if not _answers(key, reading)]
        if fresh and reading.by != fresh[-1].by:  # It had its turn: from now on only its own words answer a question.
            questions, fresh = [*questions, *fresh], []
        if index < len(messages):
            for key in _questions(message, [*questions, *fresh]):
                (questions if _is_left_open(_plain(key.quote)) else fresh).append(key)
    return [*questions, *fresh][-MOST:]


def _read(message: Message) -> _Reading:
    """Read a message; its answers may be fragments, but no questions."""
    parts = [sentence for sentence in sentences.split(message.content) if not _asks(sentence)]
    defers = any(_DEFERS.search(_plain(sentence)) for sentence in parts)
    stated = [sentence for sentence in parts if not _OPEN.search(sentence) and not _DEFERS.search(_plain(sentence))]
    return _Reading(speaker(message), stated, defers, any(_TAKES_BACK.search(_plain(sentence)) for sentence in parts))


def _unanswered(fresh: Sequence[KeyMessage], reading: _Reading) -> list[KeyMessage]:
    """Return those of the latest questions that this message leaves open."""
    if not fresh:
        return []
    if reading.by == fresh[-1].by:
        return [] if reading.takes_back else [key for key in fresh if not _answers(key, reading)]
    if not reading.stated:
        return list(fresh)
    by_words = [key for key in fresh if _answers(key, reading, least=SAME / 2)]
    if reading.defers:
        return [key for key in fresh if key not in by_words] if by_words and len(fresh) > 1 else list(fresh)
    if len(reading.stated) >= len(fresh):
        return []
    answered = by_words or fresh[-1:]  # The last question is the one that a short answer is for.
    return [key for key in fresh if key not in answered]


def _answers(key: KeyMessage, reading: _Reading, least: float = SAME) -> bool:
    question_terms = _content(key.quote)
    return (
        any(len(question_terms & set(terms(statement))) >= least * len(question_terms) for statement in reading.stated)
        if question_terms
        else False
    )


def _questions(message: Message, earlier: Sequence[KeyMessage]) -> Iterator[KeyMessage]:
    """Yield the questions of a message and what it says to be open, each once; not what only puts off an answer."""
    by, quotes = speaker(message), {key.quote for key in earlier}
    is_reply = any(key.position == message.position - 1 and key.by != by for key in earlier)
    for sentence in sentences.split(message.content):
        plain = _plain(sentence)
        is_question = _asks(sentence) and not _IDLE.search(plain) and kind_of(sentence, message.role) is None
        is_open = _is_left_open(plain) and not (is_reply and _DEFERS.search(plain))
        if not (is_question or is_open) or sentence in quotes or len(_content(sentence)) < WORDS:
            continue
        if not (message.role == "assistant" and _OFFER.search(plain)):
            quotes.add(sentence)
            yield KeyMessage(message.id, message.position, KIND, sentence, by)


def _asks(sentence: str) -> bool:
    return bool(_ENDS.search(sentence))


def _is_left_open(plain: str) -> bool:
    """Return whether a sentence names something undecided; not if it is only supposed or quoted."""
    return bool(_OPEN.search(plain)) and not sentences.is_hypothetical(plain) and not sentences.is_quoted(plain)


def _content(sentence: str) -> set[str]:
    return set(terms(_OPEN.sub(" ", _plain(sentence)))) - _ASKING


def _plain(sentence: str) -> str:
    return sentence.replace("’", "'").replace("‘", "'")


_FORMS: Final = [language.open_questions for language in languages.ALL if language.open_questions]

_ASKING: Final = frozenset[str]().union(*(forms.asking for forms in _FORMS))
"""Words that ask; an answer does not repeat them."""

_ENDS = re.compile(r"[?？][\"'”’」』)）\]]*$")

_IDLE = either(forms.idle for forms in _FORMS)
"""Courtesies, tags, and requests that only look like questions."""

_OFFER = either(forms.offer for forms in _FORMS)
"""Offers of an assistant and questions that keep a conversation going."""

_OPEN = either(forms.open for forms in _FORMS)
"""Something is said to be undecided."""

_DEFERS = either(forms.defers for forms in _FORMS)
"""An answer that puts off the answer."""

_TAKES_BACK = either(forms.takes_back for forms in _FORMS)
