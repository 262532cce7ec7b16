"""Information content of a message. Pure.

The filter is strict, because a message left out here is only not remembered; it stays in the transcript and in
search.
"""

from __future__ import annotations

import re
from typing import Final

from core.extraction.protocol import Window
from core.language import languages, sentences
from core.language.language import Grammar
from core.language.lazy_regex import either
from core.language.terms import terms
from core.statements import comparison
from core.types import Message

HAN_CHARACTERS = 3
"""Characters that a Chinese character counts as: an English word corresponds to two of them."""

LEAST = 2.0
"""Minimum weight of an informative message: two meaningful words, or a name or number and its verb."""

SPECIFIC = 1.5
"""Weight of a name, a number or a date; any other meaningful word weighs 1."""

SPEAKERS = frozenset({"user", "assistant"})
"""Roles whose messages may state lasting facts. Messages of tools and prompts only provide context."""


_FORMS: Final = [language.chat for language in languages.ALL if language.chat]

CHATTER: Final = frozenset(
    # Words of other scripts are whole: to cut them would load the Chinese dictionary.
    term
    for forms in _FORMS
    for word in forms.chatter
    for term in (terms(word) if word.isascii() else [word])
)
"""Words of courtesies, agreement and greetings; alone they state nothing lasting."""

_MINDED: Final = either(forms.minded for forms in _FORMS)

LOOKED_AT: Final = 4_000
"""Characters of a message that decide whether it is informative."""

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def length(text: str) -> int:
    """Return the number of characters; runs of space count as one, a Chinese character as three."""
    return len(" ".join(text.split())) + len(_HAN.findall(text)) * (HAN_CHARACTERS - 1)


def weight(text: str) -> float:
    """Return the total weight of the words of a text; 0 if it consists of courtesies."""
    analysis = comparison.read(text)
    specific = {*analysis.names, *(number for number, _ in analysis.numbers)} - CHATTER
    ordinary = {term for term in terms(text) if term not in CHATTER} - specific
    return len(ordinary) + SPECIFIC * len(specific)


def tells(message: Message, least_characters: int) -> bool:
    """Return whether a message may hold lasting facts: an instruction, a correction, a slot, or enough words."""
    if message.role not in SPEAKERS:
        return False
    text = message.content[:LOOKED_AT]
    if length(text) >= least_characters and weight(text) >= LEAST:
        return True
    return message.role == "user" and (is_minded(text) or states(text))


def is_minded(text: str) -> bool:
    """Return whether it corrects something or sets a rule for the future: such messages are never skipped."""
    return any(_is_minded(sentence) for sentence in sentences.split(text))


def states(text: str) -> bool:
    """Return whether the rules alone read a fact about its speaker from it, as from `I'm Al`."""
    return any(language.slots(plain) for plain, language in _read(text))


def messages_to_read(window: Window, least_characters: int) -> list[Message]:
    """Return the messages that make a window worth reading: those that may hold lasting facts.

    A "yes" means what was asked, so a question right before the fresh messages counts as one of them.
    """
    questions = [message for message in window.before[-1:] if message.content.rstrip().endswith(("?", "？"))]
    return [message for message in (*questions, *window.fresh) if tells(message, least_characters)]


def _is_minded(sentence: str) -> bool:
    if _MINDED.search(sentence):
        return True
    return any(
        language.instruction.search(plain) or language.change.search(plain) or language.change.search(sentence)
        for plain, language in _read(sentence)
    )


def _read(text: str) -> list[tuple[str, Grammar]]:
    """Return the sentences that assert something, in plain words, with their language."""
    asserted = [sentence for whole in sentences.split(text) if (sentence := sentences.asserted_part(whole))]
    return [
        (language.plain(sentence), language) for sentence in asserted for language in [languages.grammar_of(sentence)]
    ]
