"""One ranking from both arms: a weighted sum of calibrated scores. Pure: no database, no model, no clock.

    score = lexical/best + 0.5·cosine + 0.6·(cosine with its neighbours) + 0.6·(its session's three best lexical)
            + 0.4·(names a time, if one is asked for) + 0.9·(how much it tells) + 0.3·(best memory that cites it)

`best` is the highest lexical score of a message. A memory's own score is lexical/best + 0.5·cosine; it lends that to
the messages it cites and stands at the place of the best of them. A passage has no company that tells more of it, so it
stands where a message would that fits as well: its own score, times what the best message comes to over what the best
of them does by itself. What fits half as well as the best has half its score, however many passages there are.
The weights were fitted as a softmax over the rows of each question, leaving one conversation out in turn, and rounded;
half or double of any of them changes recall by about a point. Fusion by ranks (reciprocal rank fusion) was measured to
be worse than the lexical arm alone: it forgets by how much one hit is better than the next.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

LEXICAL = 1.0
COSINE = 0.5
COSINE_AROUND = 0.6
SESSION = 0.6
TIME = 0.4
TOLD = 0.9
MEMORY = 0.3

AROUND = {1: 0.5, 2: 0.25}  # what the cosine of a message so many places before or after counts
SESSION_BEST = 3
TOLD_ENOUGH = 40  # terms; who tells more is no better a witness

_ORDER = ("memory", "message", "document")


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate: a message, a memory that `cites` messages by their keys, or a passage of a document.

    `key` tells it from all others; `lexical` is the inner product of the sparse vectors; `cosine` is None while it has
    no vector; `told` and `timed` come from `evidence`; `position` counts within `session_id`.
    """

    key: str
    type: Literal["memory", "message", "document"]
    lexical: float
    cosine: float | None
    session_id: str | None = None
    position: int = 0
    told: int = 0
    timed: bool = False
    cites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranked:
    """A hit in its place, with what each part gave to its score."""

    hit: Hit
    score: float
    parts: dict[str, float]


def rank(hits: Sequence[Hit], *, wants_time: bool, limit: int, each: bool = False) -> list[Ranked]:
    """The best `limit` of `hits`, best first; of equal scores memories first, the best fitting before, passages last.

    `each`: so many of each type.

    `wants_time` says whether the question asks for a time. `hits` may be all of a user's rows or the best of each arm:
    what is left out only stops lending to its neighbours.
    """
    messages = [hit for hit in hits if hit.type == "message"]
    memories = [hit for hit in hits if hit.type == "memory"]
    best = max((hit.lexical for hit in messages or memories), default=0.0)
    parts = _parts(messages, best, wants_time=wants_time)
    own = {hit.key: LEXICAL * _share(hit.lexical, best) + COSINE * (hit.cosine or 0.0) for hit in memories}
    parts["memory"] = MEMORY * _lent(messages, memories, own)
    scores = np.sum(list(parts.values()), axis=0)
    ranked = _described(messages, scores, parts, limit)
    placed = _placed(memories, own, dict(zip((hit.key for hit in messages), scores.tolist(), strict=True)))
    passages = [hit for hit in hits if hit.type == "document"]
    shelved = _shelved(passages, best, _gained(scores, parts["lexical"] + parts["vector"]))
    if not each:
        return sorted(ranked + placed + shelved, key=_place)[:limit]
    best_of_each = [one for ones in (ranked, placed, shelved) for one in sorted(ones, key=_place)[:limit]]
    return sorted(best_of_each, key=_place)


def _place(item: Ranked) -> tuple[float, int, float, str]:
    """Best first; of memories that cite the same message, the one that fits the question best by itself."""
    return -item.score, _ORDER.index(item.hit.type), -item.parts.get("own", 0.0), item.hit.key


def _gained(scores: Numbers, own: Numbers) -> float:
    """How much more the best message comes to than the best of them does by itself."""
    by_itself = float(own.max(initial=0.0))
    return max(1.0, float(scores.max(initial=0.0)) / by_itself) if by_itself > 0 else 1.0


def _shelved(passages: Sequence[Hit], best: float, gained: float) -> list[Ranked]:
    """Passages by how well each fits by itself, on the scale of the messages."""
    best = max([best, *(hit.lexical for hit in passages)])
    shelved = []
    for hit, cosine in zip(passages, _cosines(passages).tolist(), strict=True):
        parts = {"lexical": gained * LEXICAL * _share(hit.lexical, best), "vector": gained * COSINE * cosine}
        shelved.append(Ranked(hit, sum(parts.values()), parts))
    return shelved


def _parts(messages: Sequence[Hit], best: float, *, wants_time: bool) -> dict[str, Numbers]:
    """What each part gives to each message."""
    lexical = np.array([_share(hit.lexical, best) for hit in messages], dtype=np.float64)
    cosine = _cosines(messages)
    sessions = _codes(messages)
    told = np.array([hit.told for hit in messages], dtype=np.float64)
    timed = np.array([hit.timed and wants_time for hit in messages], dtype=np.float64)
    return {
        "lexical": LEXICAL * lexical,
        "vector": COSINE * cosine,
        "vector_around": COSINE_AROUND * _with_neighbours(cosine, sessions, [hit.position for hit in messages]),
        "session": SESSION * _session_best(lexical, sessions),
        "time": TIME * timed,
        "told": TOLD * np.minimum(np.log1p(told) / math.log1p(TOLD_ENOUGH), 1.0),
    }


def _share(lexical: float, best: float) -> float:
    return lexical / best if best > 0 else 0.0


def _cosines(messages: Sequence[Hit]) -> Numbers:
    """The cosines; what has no vector yet gets the mean of the others, so that it neither wins nor loses by that."""
    cosine = np.array([np.nan if hit.cosine is None else hit.cosine for hit in messages], dtype=np.float64)
    missing = np.isnan(cosine)
    cosine[missing] = 0.0 if missing.all() else cosine[~missing].mean()
    return cosine


def _codes(messages: Sequence[Hit]) -> NDArray[np.int64]:
    codes: dict[str | None, int] = {}
    return np.array([codes.setdefault(hit.session_id, len(codes)) for hit in messages], dtype=np.int64)


def _with_neighbours(values: Numbers, sessions: NDArray[np.int64], positions: Sequence[int]) -> Numbers:
    """Each value with those of its neighbours in the session, weighted; the sum, for company is worth something."""
    places = sessions * 2**32 + np.array(positions, dtype=np.int64)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    total = values.copy()
    for distance, weight in AROUND.items():
        for offset in (-distance, distance) if len(values) else ():
            at = np.minimum(np.searchsorted(ordered, places + offset), len(values) - 1)
            there = ordered[at] == places + offset
            total[there] += weight * values[order[at[there]]]
    return total


def _session_best(values: Numbers, sessions: NDArray[np.int64]) -> Numbers:
    """For each message the mean of the three best values of its session."""
    order = np.lexsort((-values, sessions))
    starts = np.searchsorted(sessions[order], sessions)
    sizes = np.bincount(sessions, minlength=1)[sessions] if len(values) else sessions
    total = np.zeros(len(values))
    for place in range(SESSION_BEST):
        within = place < sizes
        total[within] += values[order[starts[within] + place]]
    return np.divide(total, np.minimum(sizes, SESSION_BEST), out=total, where=sizes > 0)


def _lent(messages: Sequence[Hit], memories: Sequence[Hit], own: dict[str, float]) -> Numbers:
    """For each message the best score of a memory that cites it."""
    best: dict[str, float] = {}
    for memory in memories:
        for cited in memory.cites:
            best[cited] = max(best.get(cited, 0.0), own[memory.key])
    return np.array([best.get(hit.key, 0.0) for hit in messages], dtype=np.float64)


def _placed(memories: Sequence[Hit], own: dict[str, float], scores: dict[str, float]) -> list[Ranked]:
    """Memories at the place of the best message they cite; one that cites none at hand stands by its own score."""
    placed = []
    for memory in memories:
        cited = [scores[key] for key in memory.cites if key in scores]
        score = max(cited) if cited else own[memory.key]
        placed.append(Ranked(memory, score, {"own": own[memory.key], "cited": max(cited, default=0.0)}))
    return placed


def _described(messages: Sequence[Hit], scores: Numbers, parts: dict[str, Numbers], limit: int) -> list[Ranked]:
    """The best of the messages with what made their scores."""
    keys = np.array([hit.key for hit in messages])
    return [
        Ranked(messages[at], float(scores[at]), {name: float(values[at]) for name, values in parts.items()})
        for at in np.lexsort((keys, -scores))[:limit].tolist()
    ]
