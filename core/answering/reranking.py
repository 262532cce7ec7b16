"""Results of a search in the order of their certainty to answer the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from core.answering import certainty
from core.answering import statements as answering_statements
from core.inference.embedders import Embedder
from core.search.question import Question, SearchResult

READ: Final = 20
"""Results, the best of the search, that are read, and so the most that are returned."""

LEAST: Final = 0.3
"""Certainty below which a result is left out."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """A result, and its certainty to answer the query, from 0 to 1; None: it has no statements."""

    result: SearchResult
    certainty: float | None


def wider(question: Question) -> Question:
    """Return a question for as many results as are read, none of them left out for its score."""
    return replace(question, limit=READ, recipe=replace(question.recipe, share=0.0))


def rerank(embedder: Embedder, question: Question, results: Sequence[SearchResult]) -> list[Reranked]:
    """Return the results that may answer a query, the most certain first, then those without statements."""
    rated = by_certainty(embedder, question, results)
    return [each for each in rated if each.certainty is None or each.certainty >= LEAST]


def by_certainty(embedder: Embedder, question: Question, results: Sequence[SearchResult]) -> list[Reranked]:
    """Return the results, the most certain first, behind them units of conversations, which have no statements."""
    statements = answering_statements.for_question(question, results[:READ])
    best = {id(result): None if result.unit is not None else 0.0 for result in results}
    nearness = certainty.cosines(embedder, question, statements)
    certainties = certainty.certainties(nearness).tolist()
    for statement, value in zip(statements, certainties, strict=True):
        best[id(statement.result)] = max(best[id(statement.result)] or 0.0, value)
    rated = [Reranked(result, best[id(result)]) for result in results]
    return sorted(rated, key=lambda each: -1.0 if each.certainty is None else each.certainty, reverse=True)
