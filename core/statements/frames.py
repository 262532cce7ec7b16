"""Sentences of one frame: they open with the same words, a subject and a relation, and end with different values.

"The capital of India is Delhi." and "The capital of India is Agra." are; the second one, said later, contradicts the
first wherever the relation has one value. Pure; no list of relations is known here.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from core.language import languages
from core.language.terms import terms

LONGEST: Final = 240
"""Characters of a sentence that is compared."""

OPENING: Final = 3
"""Words that must be the same at least; a Chinese character counts as a word."""

LONGEST_VALUE: Final = 8
"""Words of a value."""

CLOSING: Final = 1
"""Words behind the value that may be the same: "plays rock music", "plays folk music"."""


_FORMS: Final = [language.statements for language in languages.ALL if language.statements]

INSIDE: Final = frozenset[str]().union(*(forms.inside for forms in _FORMS))
"""Words that values may share; another lower-case word within both means that the sentences differ in two places."""

RELATIONS: Final = frozenset[str]().union(*(forms.relations for forms in _FORMS))

_WORD: Final = re.compile(r"[\u3400-\u9fff]|\w+", re.UNICODE)


class Values(NamedTuple):
    """The values of two sentences of one frame, and the words that both open with."""

    one: str
    other: str
    opening: str


class Sentence(NamedTuple):
    """The words of a sentence as written, and the first ones for comparison."""

    words: list[str]
    opening: list[str]

    @property
    def folded(self) -> list[str]:
        """The words for comparison."""
        return [word.casefold() for word in self.words]


def sentence(text: str) -> Sentence | None:
    """Divide a sentence into words; None: it is too long to be compared."""
    if len(text) > LONGEST:
        return None
    words = _WORD.findall(text)
    return Sentence(words, [word.casefold() for word in words[:OPENING]])


def differing_values(one: Sentence, other: Sentence) -> Values | None:
    """Return the values of two sentences of one frame; None: they are not of one frame, or say the same."""
    if one.opening != other.opening:  # Nearly always.
        return None
    first, second, folded, other_folded = one.words, other.words, one.folded, other.folded
    shorter = min(len(first), len(second))
    begin = _common(folded, other_folded, shorter)
    end = min(_common(folded[::-1], other_folded[::-1], shorter - begin), CLOSING)
    parts = first[begin : len(first) - end], second[begin : len(second) - end]
    if begin < OPENING or not all(0 < len(part) <= LONGEST_VALUE for part in parts) or _differ_twice(*parts):
        return None
    return Values(*(" ".join(part) for part in (*parts, first[:begin])))


def asks_about(query: str, values: Values) -> bool:
    """Return whether a question names one of the values: then it is about that one, whatever holds now.

    Words of the subject name no value: "Who is Carl Darwin married to?" does not ask about "Emma Darwin".
    """
    asked = set(terms(query)) - set(terms(values.opening))
    return any(asked & set(terms(value)) for value in (values.one, values.other))


def _differ_twice(one: list[str], other: list[str]) -> bool:
    """Return whether two parts share a word amid others ("India is Delhi", "Peru is Lima"; not "rap rock", "rock")."""
    shared = {*one[1:-1]} & {*other} | {*other[1:-1]} & {*one}
    return any((word.islower() and word not in INSIDE) or word in RELATIONS for word in shared)


def _common(one: list[str], other: list[str], most: int) -> int:
    """Return how many words two sequences open with alike, for comparison."""
    return next((n for n in range(most) if one[n] != other[n]), most)
