"""Orders scored candidates and cuts one page. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from core.index.resident.arrays import Floats, Numbers, Places, Texts, texts
from core.search.candidates import Candidates, Hit
from core.search.pagination import RankPlace
from core.search.ranking import COSINE, DIGITS, LEXICAL, RankingQuery, Scores, best_lexical, fill_missing, scale

DIVERSE: Final = 200
"""First results of a ranking that are reordered, or thinned out, so that they repeat each other less."""

TYPES: Final = ("memory", "message", "document", "unit")

OF_MEMORIES: Final = frozenset(
    {"own", "cited", "lacking", "association", "succession", "similarity", "decay", "importance"}
)
"""Score parts that only a memory has."""

Vectors = Callable[[Places], Floats]


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A ranked hit, with each part of its score and its rank in each arm, from 1."""

    hit: Hit
    score: float
    parts: dict[str, float]
    ranks: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PageCut:
    """Part of a ranking: `limit` results behind a place; `each`: so many of each type, from the start.

    `diversity` (0 … 1): weight of the likeness to a result ranked before.
    Source: Carbonell & Goldstein 1998, "The Use of MMR, Diversity-Based Reranking".
    `share`, `distinct`: as in `core.search.recipes.Recipe`.
    """

    limit: int
    each: bool = False
    after: RankPlace | None = None
    diversity: float = 0.0
    share: float = 0.0
    distinct: bool = False

    @property
    def depth(self) -> int:
        """Results whose order must be known, at least."""
        return max(self.limit, DIVERSE) if self.diversity or self.distinct else self.limit


@dataclass(frozen=True, slots=True)
class _SortKeys:
    """Sort keys of candidates, followed by passages."""

    total: Numbers
    own: Numbers
    type: Places
    keys: Texts


@dataclass(frozen=True)
class RankedPage:
    """A page, best first: types and keys in `keys`, score details in `ranked`."""

    keys: Sequence[tuple[str, str]]
    candidates: Candidates
    scores: Scores
    passages: Sequence[RankedHit]
    places: Places

    @cached_property
    def ranked(self) -> list[RankedHit]:
        """The results with the parts of their scores."""
        count = len(self.candidates)
        own = _describe(self.candidates, self.scores, self.places[self.places < count])
        return [next(own) if index < count else self.passages[index - count] for index in self.places.tolist()]

    def at(self, position: int) -> RankedHit:
        """Return one candidate, or passage, whether it is on the page or not."""
        count = len(self.candidates)
        if position >= count:
            return self.passages[position - count]
        return next(_describe(self.candidates, self.scores, np.array([position], dtype=np.int64)))


def cut_page(
    candidates: Candidates, scores: Scores, passages: Sequence[RankedHit], page: PageCut, vectors: Vectors
) -> RankedPage:
    """Return one page; at equal scores memories first, the best matching first, passages and units last.

    `vectors` returns the vectors of candidates, of length 1.
    """
    everything = _SortKeys(
        total=np.concatenate([scores.total, np.array([passage.score for passage in passages], dtype=np.float64)]),
        own=np.concatenate([scores.own, np.zeros(len(passages))]),
        type=np.concatenate(
            [
                np.where(candidates.memory, 0, 1),
                np.array([TYPES.index(passage.hit.type) for passage in passages], dtype=np.int64),
            ]
        ),
        keys=np.concatenate([candidates.keys, texts([passage.hit.key for passage in passages])]),
    )
    places = _sort(everything, len(everything.keys) if page.each or page.after else page.depth)
    if page.share:
        places = _near_best(places, everything.total, page.share)
    if page.distinct:
        places = _distinct(places, candidates)
    if page.diversity:
        places = _diversify(places, everything.total, page.diversity, len(candidates), vectors)
    begin = _page_start(everything, places, page.after)
    on_it = _of_each(everything, places, page.limit) if page.each else places[begin : begin + page.limit]
    keys = [
        (TYPES[type_], key) for type_, key in zip(everything.type[on_it].tolist(), everything.keys[on_it], strict=True)
    ]
    return RankedPage(keys, candidates, scores, passages, on_it)


def score_passages(
    passages: Sequence[Hit], candidates: Candidates, scores: Scores, ranking_query: RankingQuery
) -> list[RankedHit]:
    """Rank passages, or units, by their own words and cosine, on the scale of the messages."""
    messages = ~candidates.memory
    by = scale(max([best_lexical(candidates), *(hit.lexical for hit in passages)]), ranking_query.ideal)
    alone = scores.parts["lexical"] + scores.parts["vector"]
    gained = _gain_over_match(scores.total[messages], alone[messages])
    cosines = fill_missing(
        np.array([np.nan if hit.cosine is None else hit.cosine for hit in passages], dtype=np.float64)
    )
    ranked = []
    for hit, cosine in zip(passages, cosines.tolist(), strict=True):
        share = hit.lexical / by if by else 0.0
        parts = {"lexical": gained * LEXICAL * share, "vector": gained * COSINE * ranking_query.vector * cosine}
        ranked.append(RankedHit(hit, round(sum(parts.values()), DIGITS), parts))
    return ranked


def _gain_over_match(scores: Numbers, own: Numbers) -> float:
    """Return the ratio of the best message's score to its own match, at least 1."""
    by_itself = float(own.max(initial=0.0))
    return max(1.0, float(scores.max(initial=0.0)) / by_itself) if by_itself > 0 else 1.0


def _sort(everything: _SortKeys, sure: int) -> Places:
    """Return the first positions, and those equal to the last; memories citing one message by their own match.

    Ties are broken by key.
    """
    best = _at_least_last(everything.total, sure)
    places: Places = best[np.lexsort((-everything.own[best], everything.type[best], -everything.total[best]))]
    total, own, type_ = everything.total[places], everything.own[places], everything.type[places]
    differs = (total[1:] != total[:-1]) | (own[1:] != own[:-1]) | (type_[1:] != type_[:-1])
    for start, end in pairwise([0, *(np.flatnonzero(differs) + 1).tolist(), len(places)]):
        if end - start > 1:
            places[start:end] = sorted(places[start:end].tolist(), key=everything.keys.__getitem__)
    return places


def _at_least_last(total: Numbers, sure: int) -> Places:
    """Return positions that score at least as well as the last of so many."""
    if sure >= len(total):
        return np.arange(len(total))
    return np.flatnonzero(total >= np.partition(total, len(total) - sure)[len(total) - sure])


def _diversify(places: Places, total: Numbers, diversity: float, count: int, vectors: Vectors) -> Places:
    """Reorder the first by score less likeness to those before (MMR); a passage is like nothing."""
    first = places[:DIVERSE]
    scores = total[first]
    span = max(float(np.ptp(scores)) if len(first) else 0.0, 1e-9)
    worth = (1 - diversity) * (scores - scores.min(initial=np.inf)) / span if len(first) else scores
    rows = np.zeros((len(first), 0), dtype=np.float32)
    inside = first < count
    if inside.any():
        read = vectors(first[inside])
        rows = np.zeros((len(first), read.shape[1]), dtype=np.float32)
        rows[inside] = read
    likeness = rows @ rows.T
    repeats, left, chosen = np.zeros(len(first)), np.ones(len(first), dtype=np.bool_), []
    for _ in range(len(first)):
        index = int(np.argmax(np.where(left, worth - diversity * repeats, -np.inf)))
        chosen.append(index)
        left[index] = False
        repeats = np.maximum(repeats, likeness[index])
    return np.concatenate([first[chosen], places[DIVERSE:]])


def _near_best(places: Places, total: Numbers, share: float) -> Places:
    """Return the places that reach this share of the best score."""
    scores = total[places]
    return places[scores >= share * scores[0]] if len(places) and scores[0] > 0 else places


def _distinct(places: Places, candidates: Candidates) -> Places:
    """Return the places without those that cite only messages shown before; passages and units cite none."""
    cited = [{position} for position in range(len(candidates))]
    for memory in np.flatnonzero(candidates.memory).tolist():
        cited[memory] = set()
    for memory, message in candidates.citations.tolist():
        cited[memory].add(message)
    seen_messages: set[int] = set()
    kept = []
    for at, position in enumerate(places.tolist()):
        own = cited[position] if position < len(candidates) and at < DIVERSE else set()
        if not own or not own <= seen_messages:
            kept.append(at)
        seen_messages |= own
    return places[np.array(kept, dtype=np.int64)]


def _page_start(everything: _SortKeys, places: Places, after: RankPlace | None) -> int:
    """Return the start of the page behind a place; if its result is gone, the first with a lower score."""
    if after is None:
        return 0
    matches = (everything.keys[places] == after.key) & (everything.type[places] == TYPES.index(after.type))
    if matches.any():
        return int(np.argmax(matches)) + 1
    lesser = everything.total[places] < after.score
    return int(np.argmax(lesser)) if lesser.any() else len(places)


def _of_each(everything: _SortKeys, places: Places, limit: int) -> Places:
    best = [np.flatnonzero(everything.type[places] == type_)[:limit] for type_ in range(len(TYPES))]
    chosen: Places = places[np.sort(np.concatenate(best))]
    return chosen


def _describe(candidates: Candidates, scores: Scores, places: Places) -> Iterator[RankedHit]:
    """Yield the candidates at these positions with the parts of their scores."""
    parts = [(name, name in OF_MEMORIES, values[places].tolist()) for name, values in scores.parts.items()]
    arms = {"lexical": _ranks(candidates.lexical, places), "vector": _ranks(candidates.cosine, places)}
    for n, (hit, score) in enumerate(zip(candidates.hits(places), scores.total[places].tolist(), strict=True)):
        of_memory = hit.type == "memory"
        made = {name: values[n] for name, of_memories, values in parts if of_memories == of_memory}
        yield RankedHit(hit, score, made, {name: rank for name, ranks in arms.items() if (rank := ranks[n])})


def _ranks(values: Numbers, places: Places) -> list[int]:
    """Return ranks from 1; 0 where there is no value."""
    present = np.sort(values[~np.isnan(values)])
    ranks = 1 + len(present) - np.searchsorted(present, values[places], side="right")
    return np.where(np.isnan(values[places]), 0, ranks).tolist()  # type: ignore[no-any-return]
