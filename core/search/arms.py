"""The ranked list of each arm of a search: what it found by itself, before the fusion. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from core.index.resident.arrays import Numbers
from core.search.ordering import RankedPage

TOP: Final = 20
"""Candidates of each list."""

PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "time": ("time", "span"),
    "recency": ("recency",),
    "who": ("who",),
    "session": ("session",),
    "association": ("association",),
    "succession": ("succession",),
}
"""Arms that are parts of the score, beside words and meaning; those that found nothing are left out."""


@dataclass(frozen=True, slots=True)
class ArmCandidate:
    """A candidate in the list of an arm, by its own measure."""

    rank: int
    type: str
    key: str
    score: float


def of(page: RankedPage, top: int = TOP) -> dict[str, list[ArmCandidate]]:
    """Return the best candidates of each arm: BM25 weights by words, cosines by meaning, parts of the score."""
    nothing = np.full(len(page.passages), np.nan)
    lexical = _with_passages(page.candidates.lexical, [passage.hit.lexical for passage in page.passages])
    cosine = _with_passages(page.candidates.cosine, [passage.hit.cosine for passage in page.passages])
    lists = {"lexical": _best(page, np.where(lexical > 0, lexical, np.nan), top), "vector": _best(page, cosine, top)}
    for name, parts in PARTS.items():
        gained = np.zeros(len(page.candidates))
        for part in parts:
            gained = gained + page.scores.parts.get(part, 0.0)
        hits = _best(page, np.concatenate([np.where(gained > 0, gained, np.nan), nothing]), top)
        lists |= {name: hits} if hits else {}
    return lists


def _with_passages(values: Numbers, more: list[float] | list[float | None]) -> Numbers:
    numbers = [np.nan if value is None else value for value in more]
    return np.concatenate([values, np.array(numbers, dtype=np.float64)])


def _best(page: RankedPage, values: Numbers, top: int) -> list[ArmCandidate]:
    places = np.flatnonzero(~np.isnan(values))
    best = places[np.argsort(-values[places], kind="stable")[:top]]
    hits = ((page.at(int(position)).hit, float(values[position])) for position in best)
    return [ArmCandidate(n, hit.type, hit.key, round(score, 6)) for n, (hit, score) in enumerate(hits, start=1)]
