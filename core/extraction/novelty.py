"""Novelty of a message against known memories. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.extraction.informativeness import CHATTER
from core.language.terms import terms
from core.statements import comparison


def novelty_of(text: str, near: Sequence[tuple[str, float]]) -> float:
    """Return the least novelty of `text` against any of the nearest statements, each with its cosine."""
    return min((_against(text, statement, cosine) for statement, cosine in near), default=1.0)


def _against(text: str, statement: str, cosine: float) -> float:
    """Return the mean of two distances.

    Of the vectors, and of the words that mean something, where it is the sine of the angle between the text and that
    part of it which is known. Either alone is mistaken: vectors take Lisbon for Porto, and a statement in the first
    person for another one than the same in the third.
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
