"""Novelty of a message against known memories. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.extraction.informativeness import CHATTER
from core.language.terms import terms
from core.statements import comparison


def novelty_of(text: str, near: Sequence[tuple[str, float]]) -> float:
    """Return the minimum novelty of `text` against the nearest statements, each with its cosine."""
    return min((_against(text, statement, cosine) for statement, cosine in near), default=1.0)


def _against(text: str, statement: str, cosine: float) -> float:
    """Return the mean of two distances.

    One of the vectors, and one of the meaningful words: the sine of the angle between the text and the known part of
    it. Either alone misleads: vectors confuse Lisbon with Porto, and words distinguish a statement in the first
    person from the same one in the third.
    """
    known_terms = frozenset(terms(statement))
    if _is_specific(text, statement, known_terms):
        return 1.0
    meant = set(terms(text)) - CHATTER
    unknown = math.sqrt(len(meant - known_terms) / len(meant)) if meant else 0.0
    return min(max((unknown + 1 - cosine) / 2, 0.0), 1.0)


def _is_specific(text: str, statement: str, known_terms: frozenset[str]) -> bool:
    """Return whether the text has a number or a name that the statement has not, or one of them denies."""
    analysis, read = comparison.read(text), comparison.read(statement)
    return (
        bool(analysis.numbers - read.numbers)
        or any(not known_terms.issuperset(terms(name)) for name in analysis.names - CHATTER)
        or comparison.denial(analysis, read) is not None
    )
