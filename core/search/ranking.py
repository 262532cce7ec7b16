"""Weighted scoring. Pure.

    score = words + 0.75·likeness + 1.4·likeness around + (1 - 1.5·breadth)·session + 0.4·answers + 0.4·tells
            + 0.15·names + 0.5·(names a time, if one is asked for) + 1.5·(said at a time that is named) + who

| part | meaning |
| --- | --- |
| words | BM25 over the root of (the best of all x that of a short text with all words): less if nothing fits |
| likeness | the cosine, times the weight of its model, or that of the best memory that cites the message, if higher |
| around | the mean of the cosines of the message and its neighbours (1, 0.5, 0.25) |
| session | the best words of its session; less for broad questions, whose answers are in several |
| answers | the words of the previous message if that is a question: the reply contains the answer |
| tells | terms outside of questions, saturated at 20 |
| names | number of names, saturated at 3 |
| span | how near it was said to a time that the question names: `core.search.time_spans` |
| who | said by the person whom the question names, or by its subject: `core.search.question_analysis` |

A memory is scored like the mean of the messages that it cites, less what its own words and cosine match worse than
those of the best memory that cites the same: of a message with several facts, the one that is asked about ranks first.
One without candidates among the messages that it cites is scored by itself.
The weights were fitted as a softmax over the rows of each question, leaving one conversation out in turn, and
rounded; half or double of any of them changes recall by at most a point. Reciprocal rank fusion
was measured to be worse than the lexical arm alone, because it discards by how much a hit is better than the next.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.index.resident.arrays import Flags, Numbers, Places
from core.index.resident.encoding import ROLES
from core.search import time_spans
from core.search.candidates import NEGLIGIBLE, Candidates
from core.search.question_analysis import PLAIN, Analysis
from core.search.recipes import DAY_SECONDS, DEFAULT, Recipe

LEXICAL = 1.0
COSINE = 0.75
COSINE_AROUND = 1.4
SESSION = 1.0
ANSWERS = 0.4
TOLD = 0.4
NAMES = 0.15
TIME = 0.5
SPAN = 1.5
SPEAKER = 0.05
ROLE = 0.5
LACK = 1.0

AROUND = {1: 0.5, 2: 0.25}  # what the cosine of a message so many places before or after counts
TOLD_ENOUGH = 20  # terms; who tells more is no better a witness
NAMES_ENOUGH = 3
BROAD_SESSION = 1.5  # of a question as broad as can be, the best session counts against itself
BROAD_SPEAKER = 2.0
HIGHEST = 2.2  # of a document's weights: what a term counts that is said over and over
DIGITS = 6  # of a score: what differs behind them comes from the order in which rows were read
STEP = 10.0**-DIGITS  # the least difference of scores: how far a later statement ranks above an earlier one


@dataclass(frozen=True, slots=True)
class RankingQuery:
    """Parameters of the ranking besides words and vector.

    `ideal`: lexical score of a short text with all query terms. `now`: seconds since 1970. `cosine_weight`: that of the
    model that made the vectors.
    """

    analysis: Analysis = PLAIN
    ideal: float = 0.0
    recipe: Recipe = DEFAULT
    now: float = 0.0
    cosine_weight: float = 1.0

    @property
    def vector(self) -> float:
        """Factor of all cosines."""
        return self.recipe.vector * self.cosine_weight


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores of candidates and their parts; `own`: the score of a memory by itself."""

    total: Numbers
    own: Numbers
    parts: Mapping[str, Numbers]


@dataclass(frozen=True, slots=True)
class _Order:
    """Messages by session and position, and which are so many positions apart."""

    places: Places
    apart: Mapping[int, Flags]


def score_candidates(candidates: Candidates, ranking_query: RankingQuery) -> Scores:
    """Score messages and memories.

    `candidates` may be all rows of a user or the best of each arm: rows left out only stop lending to their neighbours.
    """
    lexical, messages = _words(candidates, ranking_query), ~candidates.memory
    cosine = ranking_query.vector * fill_missing(candidates.cosine)
    recency = _recency(candidates, ranking_query)
    match = ranking_query.recipe.lexical * LEXICAL * lexical + COSINE * cosine
    own = np.where(messages, 0.0, match + recency)
    parts = _parts(candidates, lexical, np.where(messages, cosine, 0.0), ranking_query)
    parts["vector"] = COSINE * np.maximum(parts["vector"], _best_citing(candidates, cosine))
    if ranking_query.recipe.recency:
        parts["recency"] = recency
    parts = {name: np.where(messages, values, 0.0) for name, values in parts.items()}
    total = np.sum(list(parts.values()), axis=0)
    cited_score = _mean_of_cited(candidates, total)
    lacking = LACK * np.minimum(match - _mean_of_cited(candidates, _best_citing(candidates, match)), 0.0)
    total = np.where(messages, total, np.where(np.isnan(cited_score), own, cited_score + lacking))
    of_memories = {"own": own, "cited": np.nan_to_num(cited_score), "lacking": np.nan_to_num(lacking)}
    return Scores(rounded(total), rounded(own), parts | of_memories)


def rounded(values: Numbers) -> Numbers:
    """Round scores, so that the order in which rows were read does not decide between equal ones."""
    return np.asarray(np.round(values, DIGITS), dtype=np.float64)


def picking_weights(recipe: Recipe, ideal: float, cosine_weight: float) -> tuple[float, float]:
    """Return what a row's own words and its cosine count in its score, before the best row is known.

    The cosine counts once more among those of its neighbours, as much as its share in their mean.
    """
    own_share = 1 / (1 + 2 * sum(AROUND.values()))
    meaning = recipe.vector * cosine_weight * (COSINE + COSINE_AROUND * own_share)
    return recipe.lexical * LEXICAL / ideal if ideal else 0.0, meaning


def add_gains(candidates: Candidates, scores: Scores, gained: Mapping[str, float], part: str = "association") -> Scores:
    """Add gains by key, as a part of that name."""
    more = np.array([gained.get(key, 0.0) for key in candidates.keys], dtype=np.float64)
    return Scores(scores.total + more, scores.own, {**scores.parts, part: more})


def raise_successors(candidates: Candidates, scores: Scores, successors: Sequence[tuple[str, str]]) -> Scores:
    """Raise memories above the messages whose statement they superseded, and so above what else these say.

    `successors`: pairs of a message's key and that of a memory.
    """
    index_of = {key: index for index, key in enumerate(candidates.keys)}
    least: dict[str, float] = {}
    for message, memory in successors:
        if message in index_of and memory in index_of:
            least[memory] = max(least.get(memory, 0.0), float(scores.total[index_of[message]]) + STEP)
    gained = {key: score - own for key, score in least.items() if (own := float(scores.total[index_of[key]])) < score}
    return add_gains(candidates, scores, gained, "succession") if gained else scores


def fill_missing(cosine: Numbers) -> Numbers:
    """Replace missing cosines by the mean of the others, so that a row neither wins nor loses by it."""
    missing = np.isnan(cosine)
    return np.where(missing, 0.0 if missing.all() else cosine[~missing].mean(), cosine) if missing.any() else cosine


def scale(best: float, ideal: float) -> float:
    """Return the divisor of lexical scores; 0: nothing matches."""
    return math.sqrt(best * max(ideal, best / HIGHEST)) if best > NEGLIGIBLE else 0.0


def best_lexical(candidates: Candidates) -> float:
    """Return the best lexical score of a message; without messages, of a memory."""
    return float(
        candidates.lexical[candidates.memory if candidates.memory.all() else ~candidates.memory].max(initial=0.0)
    )


def _words(candidates: Candidates, ranking_query: RankingQuery) -> Numbers:
    by = scale(best_lexical(candidates), ranking_query.ideal)
    return candidates.lexical / by if by else np.zeros(len(candidates))


def _parts(
    candidates: Candidates, lexical: Numbers, cosine: Numbers, ranking_query: RankingQuery
) -> dict[str, Numbers]:
    """Return each part of the messages' scores; memories neither give nor get anything here."""
    analysis, order = ranking_query.analysis, _order(candidates)
    who, lends = _who(candidates, analysis)
    return {
        "lexical": ranking_query.recipe.lexical * LEXICAL * lexical,
        "vector": cosine,
        "vector_around": COSINE_AROUND * _mean_around(cosine, order),
        "session": SESSION * (1 - BROAD_SESSION * analysis.breadth) * _session_best(candidates, lexical),
        "answers": ANSWERS * lends * _from_question_before(lexical * candidates.asks, order),
        "told": TOLD * np.minimum(np.log1p(candidates.told) / math.log1p(TOLD_ENOUGH), 1.0),
        "names": NAMES * lends * np.minimum(candidates.names / NAMES_ENOUGH, 1.0),
        "time": TIME * (candidates.timed & analysis.wants_time).astype(np.float64),
        "span": SPAN * time_spans.fit(analysis.spans, candidates.at),
        "who": who,
    }


def _who(candidates: Candidates, analysis: Analysis) -> tuple[Numbers, Numbers | float]:
    """Return a message's gain by its speaker, and the factor of its other signals."""
    if analysis.speaker is not None:
        gain = SPEAKER * (1 + BROAD_SPEAKER * analysis.breadth)
        return gain * (candidates.speaker == candidates.speakers[analysis.speaker]), 1.0
    if analysis.role:
        match = (candidates.role == ROLES.index(analysis.role)).astype(np.float64)
        return ROLE * match, match
    return np.zeros(len(candidates)), 1.0


def _recency(candidates: Candidates, ranking_query: RankingQuery) -> Numbers:
    """Return the gain by age; the future counts as now."""
    if not ranking_query.recipe.recency:
        return np.zeros(len(candidates))
    days = np.maximum(ranking_query.now - candidates.at, 0.0) / DAY_SECONDS
    gained: Numbers = ranking_query.recipe.recency * 0.5 ** (days / ranking_query.recipe.half_life_days)
    return gained


def _order(candidates: Candidates) -> _Order:
    messages = np.flatnonzero(~candidates.memory)
    keys = candidates.sessions[messages] * 2**32 + candidates.position[messages]
    sorting = np.argsort(keys, kind="stable")
    ordered = keys[sorting]
    # Positions and places may differ, where rows are left out: those between lend nothing then.
    return _Order(messages[sorting], {n: ordered[n:] - ordered[:-n] == n for n in AROUND})


def _mean_around(values: Numbers, order: _Order) -> Numbers:
    """Return the weighted mean of each value and its neighbours."""
    own = values[order.places]
    total, weight = own.copy(), np.ones(len(own))
    for distance, counts in AROUND.items():
        share = counts * order.apart[distance]
        total[:-distance] += share * own[distance:]
        total[distance:] += share * own[:-distance]
        weight[:-distance] += share
        weight[distance:] += share
    around = np.zeros(len(values))
    around[order.places] = total / weight
    return around


def _from_question_before(asking: Numbers, order: _Order) -> Numbers:
    """Return the value of the message before, if that asks."""
    own = asking[order.places]
    lent = np.zeros(len(asking))
    lent[order.places[1:]] = own[:-1] * order.apart[1]
    return lent


def _session_best(candidates: Candidates, lexical: Numbers) -> Numbers:
    """Return the best value in each message's session."""
    best = np.zeros(int(candidates.sessions.max(initial=0)) + 1)
    np.maximum.at(best, candidates.sessions, np.where(candidates.memory, 0.0, lexical))
    return best[candidates.sessions]


def _best_citing(candidates: Candidates, values: Numbers) -> Numbers:
    """Return the best value of a memory citing each message; -1: none does."""
    citing, cited = candidates.citations.T
    best = np.full(len(candidates), -1.0)
    np.maximum.at(best, cited, values[citing])
    return best


def _mean_of_cited(candidates: Candidates, values: Numbers) -> Numbers:
    """Return the mean value of the messages each memory cites; NaN if none of them is a candidate.

    Not the best: a summary of twenty messages would rank before the intended one.
    """
    citing, cited = candidates.citations.T
    total = np.bincount(citing, weights=values[cited], minlength=len(candidates))
    count = np.bincount(citing, minlength=len(candidates))
    mean: Numbers = np.divide(total, count, out=np.full(len(candidates), np.nan), where=count > 0)
    return mean
