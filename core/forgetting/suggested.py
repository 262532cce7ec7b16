"""Asks a model what a message wants forgotten, where the rules find no request, or nothing that it means.

The answer is a suggestion: it is held for approval, counts only where it quotes a message literally, and the model is
shown nothing but what the asker may have forgotten, so that no message talks it into more.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from core.forgetting import matching
from core.forgetting.extent import ForgetScope
from core.forgetting.matching import Found
from core.forgetting.requests import ForgetRequest
from core.forgetting.talk import MEMORY, PERSON, Talk, Turn, TurnSentence, asker_of
from core.forgetting.text import READ, plain, sentences
from core.forgetting.wording import COMMAND
from core.inference import ask
from core.inference.ask import ModelPrompt, ModelRefused
from core.inference.client import ChatClient, OnCall
from core.inference.structured_output import ModelAnswer
from core.statements.redaction import ERASED

SHOWN: Final = 40
"""Messages that a model is shown: the latest of those that the asker may have forgotten."""

CHARACTERS: Final = 600
"""Characters of each of them."""

MOST: Final = 10
"""Passages of one suggestion."""

LEAST: Final = 2
"""Characters of a quote: a single one stands everywhere."""


class QuotedPassage(ModelAnswer):
    """A passage that is meant: the number of its message, and its words."""

    message: int
    quote: Annotated[str, Field(max_length=CHARACTERS)]


class ForgetAnswer(ModelAnswer):
    """A model's opinion of a message: whether it asks to forget, and what."""

    is_request: bool
    passages: Annotated[list[QuotedPassage], Field(max_length=MOST)]


PROMPT: Final = ModelPrompt("forget.v1", ForgetAnswer)


def may_ask_model(asking: Turn) -> bool:
    """Return whether a message is worth a question: a person's, with a word of deleting or keeping in it."""
    return asking.role == PERSON and COMMAND.search(plain(asking.text[:READ])) is not None


def passages(asking: Turn, turns: Sequence[Turn]) -> list[TurnSentence]:
    """Return the sentences of the latest messages that the asker may have forgotten."""
    asker = asker_of(asking)
    others = [turn for turn in turns if turn.key != asking.key and turn.role != MEMORY]
    before = [turn for turn in others if turn.position < asking.position]
    free = [
        passage
        for passage in Talk(before).passages
        if matching.may_erase(passage, asker) and passage.span.text.strip() != ERASED
    ]
    latest = list(dict.fromkeys(passage.turn.key for passage in free))[-SHOWN:]
    return [passage for passage in free if passage.turn.key in latest]


def ask_model(
    client: ChatClient, on_call: OnCall, asking: Turn, displayed: Sequence[TurnSentence]
) -> ForgetAnswer | ModelRefused:
    """Ask the model what a message wants forgotten among these sentences. No transaction may be open."""
    return ask.ask(client, on_call, PROMPT, question(asking, displayed))


def question(asking: Turn, displayed: Sequence[TurnSentence]) -> str:
    """Render the question: the numbered messages, and the newest one, as JSON, so that none can imitate another."""
    numbered = [
        json.dumps({"message": number, "by": turn.speaker or turn.role, "text": text[:CHARACTERS]}, ensure_ascii=False)
        for number, (turn, text) in enumerate(_texts(displayed), 1)
    ]
    newest = json.dumps({"by": asking.speaker or asking.role, "text": asking.text[:READ]}, ensure_ascii=False)
    return "\n".join(["Messages:", *(numbered or ["(none)"]), "", "Newest message:", newest])


def extent_of(answer: ForgetAnswer, displayed: Sequence[TurnSentence], turns: Sequence[Turn]) -> Found:
    """Return the sentences that hold what a model quotes, with what the assistant repeated of them."""
    if not answer.is_request:
        return Found(ForgetScope.SUGGESTED, {})
    messages = [turn for turn, _ in _texts(displayed)]
    meant = [
        passage
        for quoted in answer.passages[:MOST]
        if 1 <= quoted.message <= len(messages) and len(quoted.quote.strip()) >= LEAST
        for passage in displayed
        if passage.turn is messages[quoted.message - 1] and _overlaps(passage, quoted.quote.strip())
    ]
    places: dict[Any, list[tuple[int, int]]] = {}
    for passage in meant:
        spots = places.setdefault(passage.turn.key, [])
        if (passage.span.start, passage.span.end) not in spots:
            spots.append((passage.span.start, passage.span.end))
    return Found(ForgetScope.SUGGESTED, matching.with_replies(places, turns), described=True)


def request_of(asking: Turn) -> ForgetRequest:
    """Return a message as the request that a model took it for."""
    text = asking.text[:READ]
    return ForgetRequest(text, ForgetScope.SUGGESTED, sentences(text), [text])


def _texts(displayed: Sequence[TurnSentence]) -> list[tuple[Turn, str]]:
    """Return the messages of sentences, each with those sentences alone, in order."""
    by_key: dict[Any, tuple[Turn, list[str]]] = {}
    for passage in displayed:
        by_key.setdefault(passage.turn.key, (passage.turn, []))[1].append(passage.span.text)
    return [(turn, " ".join(texts)) for turn, texts in by_key.values()]


def _overlaps(passage: TurnSentence, quote: str) -> bool:
    """Return whether a sentence holds a quote, or the quote holds the sentence, literally."""
    return quote in passage.span.text or (passage.span.text in quote and quote in passage.turn.text)
