"""Sentences of a conversation that tell what happened in it: what matters for months, and what somebody did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from core.extraction import quoting, speakers
from core.extraction.durability import BEFORE, Reader
from core.language import languages
from core.types import Message

MOST_READ = 200
"""Sentences of a conversation that are judged, the last ones."""


def of_messages(
    messages: Sequence[Message], actions: Mapping[str, Sequence[str]], reader: Reader | None
) -> Mapping[str, Mapping[str, float]]:
    """Return the telling sentences of people's messages, by the message, each with its weight.

    `actions`: what was done in each message. `reader`: None: words decide alone, and all weigh the same.
    """
    located = [
        (heard, position, language)
        for heard in speakers.heard(messages)
        for position, sentence in enumerate(heard.sentences)
        for language in [languages.grammar_of(sentence)]
        if quoting.is_quotable(heard, position, language)
    ][-MOST_READ:]
    durable = quoting.are_durable(located, reader)
    telling = [
        sentence_at
        for sentence_at, lasts in zip(located, durable, strict=True)
        if lasts or (sentence_at[1] == 0 and sentence_at[0].message.id in actions)
    ]
    pairs = [(heard.sentences[at], heard.before_sentence(at, BEFORE).strip()) for heard, at, _ in telling]
    weights = reader.matters(pairs).tolist() if reader is not None else [0.0] * len(telling)
    by_message: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for (heard, position, _), weight in zip(telling, weights, strict=True):
        by_message[heard.message.id][heard.sentences[position]] = weight
    return by_message
