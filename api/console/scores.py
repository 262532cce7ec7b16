"""Sums of which the score of a search result is made, for bars and for a line of arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from core.types import Json

UNSEEN: Final = 1e-4
"""A difference below this comes from rounding."""

GAINED: Final = ("association", "succession")
FORMULA: Final = ("similarity", "decay", "importance")

Rule = Literal["parts", "cited", "own", "formula"]
"""Terms of the sum: parts of a message; of a memory those by what it cites, its own match, or a formula."""


@dataclass(frozen=True, slots=True)
class ScoreSegment:
    """A part of a score, and its place in a bar of 100 that is as long as the best score."""

    name: str
    value: float
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The parts that add up to a score; `beside`: parts that were computed and do not count."""

    rule: Rule
    score: float
    segments: Sequence[ScoreSegment]
    beside: Mapping[str, float]


def of(score: float, parts: Mapping[str, float], *, is_memory: bool, best: float) -> Breakdown:
    """Return how the parts of a result add up. `best`: the score that fills the bar."""
    rule = _rule(parts, is_memory=is_memory)
    names = {"parts": tuple(parts), "formula": FORMULA, "cited": ("cited", "lacking"), "own": ("own",)}[rule]
    counted = {name: parts[name] for name in (*names, *(GAINED if rule != "parts" else ())) if parts.get(name)}
    rest = score - sum(counted.values())
    if abs(rest) > UNSEEN:
        counted["rest"] = rest
    beside = {name: value for name, value in parts.items() if value and name not in counted}
    return Breakdown(rule, score, list(_segments(counted, best)), beside)


def of_result(result: Json, best: float) -> Breakdown:
    """Return how the score of a result of `POST /v1/search` adds up."""
    return of(result["score"], result["scores"]["parts"], is_memory=result["type"] == "memory", best=best)


def of_hit(hit: Json | None, best: float) -> Breakdown | None:
    """Return how the score of a hit of `POST /v1/search/why` adds up."""
    return None if hit is None else of(hit["score"], hit["parts"], is_memory=hit["type"] == "memory", best=best)


def _rule(parts: Mapping[str, float], *, is_memory: bool) -> Rule:
    if not is_memory:
        return "parts"
    if "similarity" in parts:
        return "formula"
    return "cited" if parts.get("cited") else "own"


def _segments(counted: Mapping[str, float], best: float) -> Iterator[ScoreSegment]:
    """Yield the parts one behind the other; what is taken off has no length."""
    x = 0.0
    for name, value in sorted(counted.items(), key=lambda part: -part[1]):
        width = max(0.0, 100 * value / best) if best > 0 else 0.0
        yield ScoreSegment(name, value, round(x, 3), round(min(width, 100 - x), 3))
        x = min(100.0, x + width)
