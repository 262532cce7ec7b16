"""Results of a search as statements that may answer a question: each short enough for one vector. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, zip_longest
from typing import Final

from core.language.terms import token_estimate
from core.memory.as_of import NOW
from core.screening import output
from core.search import question_analysis
from core.search.question import Question, SearchResult
from core.statements import quotation
from core.types import Message

PART_TOKENS: Final = 80
"""Most estimated tokens of a part: two or three sentences, so that its vector is about one thing."""

PARTS: Final = 6
"""Statements of one result, the first: of a long message or passage the beginning."""

MOST: Final = 40
"""Statements for a question: of each result the first, then the second of each, and so on."""

_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？\n]*|[.!?。！？\n]+")


@dataclass(frozen=True, slots=True)
class Statement:
    """A memory, or a part of a message or passage, word for word.

    `speaker`: of a message. `said_at`: when it was said. `outdated`: it may no longer hold, or a part of its message
    does not, and nothing says which.
    """

    text: str
    result: SearchResult
    said_at: datetime
    speaker: str = ""
    outdated: bool = False

    @property
    def attributed(self) -> str:
        """The text with its speaker, as it is embedded; a quotation as it was spoken."""
        return f"{self.speaker}: {self.text}" if self.speaker else quotation.as_spoken(self.text)


def for_question(question: Question, results: Sequence[SearchResult]) -> list[Statement]:
    """Return the statements of results that may answer a question, by what it asks about."""
    return of_results(
        results,
        assistant=question_analysis.asks_assistant(question.query),
        then=question.filters.moment != NOW,
    )


def of_results(results: Sequence[SearchResult], *, assistant: bool = False, then: bool = False) -> list[Statement]:
    """Return the statements of results, without what is hostile or superseded.

    `assistant`: with what an assistant said; it mostly repeats or guesses what people said. `then`: the question is
    about a time in the past, so that what is superseded now may have held.
    """
    of_each = [list(_of_result(result, assistant=assistant, then=then)) for result in results]
    in_turn = chain.from_iterable(zip_longest(*of_each))
    return [statement for statement in in_turn if statement is not None][:MOST]


def _of_result(result: SearchResult, *, assistant: bool, then: bool) -> Iterator[Statement]:
    if result.memory is not None:
        said_at = result.memory.said_at or result.memory.occurred_at
        yield Statement(result.memory.content, result, said_at, outdated=result.doubted)
    elif result.message is not None and (then or not result.superseded):
        if result.message.role == "user" or (assistant and result.message.role == "assistant"):
            yield from _of_message(result, result.message, outdated=_is_doubtful(result) and not then)
    elif result.passage is not None:
        yield from (Statement(part, result, result.passage.occurred_at) for part in parts(result.passage.content))


def _is_doubtful(result: SearchResult) -> bool:
    return result.partly_superseded or result.doubted


def _of_message(result: SearchResult, message: Message, *, outdated: bool) -> Iterator[Statement]:
    screened = output.screened_output(message.content)
    if screened.hostile:
        return
    speaker = message.speaker or (message.user_id if message.role == "user" else message.role)
    for part in parts(screened.text):
        yield Statement(part, result, message.occurred_at, speaker, outdated)


def parts(text: str) -> list[str]:
    """Return consecutive parts of a text, each of whole sentences unless one is too long."""
    joined = list[str]()
    for piece in _pieces(text):
        if joined and token_estimate(joined[-1] + piece) <= PART_TOKENS:
            joined[-1] += piece
        elif len(joined) < PARTS:
            joined.append(piece)
        else:
            break
    return [part.strip() for part in joined if part.strip()]


def _pieces(text: str) -> Iterator[str]:
    """Yield the sentences of a text, and pieces of those that are too long."""
    for match in _SENTENCE.finditer(text):
        sentence = match.group()
        # An estimated token has one character or more.
        length = PART_TOKENS * len(sentence) // max(PART_TOKENS, token_estimate(sentence))
        yield from (sentence[at : at + length] for at in range(0, len(sentence), max(1, length)))
