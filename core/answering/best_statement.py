"""The statement that answers a question best; or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from core.answering import certainty
from core.answering.statements import Statement
from core.inference.embedders import Embedder
from core.search.question import Question

NEAR: Final = 0.01
"""Preference by which a statement may fall short of the best and be the answer, if it was said last."""


@dataclass(frozen=True, slots=True)
class BestStatement:
    """A statement, and how certain it is to answer the question, from 0 to 1."""

    statement: Statement
    certainty: float


def choose(
    embedder: Embedder, question: Question, statements: Sequence[Statement], least: float
) -> BestStatement | None:
    """Return the best of the statements that are so certain; else the most certain one; None: there are none.

    Of several that are about as good it is the one that was said last: what people told before may have changed.
    """
    if not statements:
        return None
    nearness = certainty.cosines(embedder, question, statements)
    certainties = certainty.certainties(nearness).tolist()
    preference = certainty.preference(nearness, statements).tolist()
    rated = list(zip(statements, certainties, preference, strict=True))
    enough = [each for each in rated if each[1] >= least]
    if not enough:
        return BestStatement(*max(rated, key=lambda each: each[1])[:2])
    best = max(value for _, _, value in enough)
    near = [each for each in enough if each[2] >= best - NEAR]
    return BestStatement(*max(near, key=lambda each: (not each[0].outdated, each[0].said_at, each[2]))[:2])
