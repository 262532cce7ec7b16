"""Ranks the newest of contradicting messages first.

Messages that the rules of extraction know no slot for ("The capital of India is Agra.") supersede nothing, and the
older one may match a question better. Where two of the best messages are of one frame (`core.statements.frames`), the
later one is raised to the score of the earlier one; both stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np

from core.index.resident.arrays import Flags, Floats
from core.search.candidates import Candidates
from core.search.ranking import STEP, Scores
from core.statements import frames
from core.types import Message

BEST: Final = 10
"""Best messages that are compared."""

ALIKE: Final = 0.5
"""Cosine from which two messages may be of one frame; only then their texts are read."""


def alike(candidates: Candidates, best: Sequence[int], vectors: Floats) -> list[int]:
    """Return those of the best messages that resemble another one, and were said at another time.

    `vectors`: theirs, of length 1; one of zeros resembles all.
    """
    lacking: Flags = np.asarray(~vectors.any(axis=1))
    times = candidates.at[list(best)]
    near: Flags = np.asarray(vectors @ vectors.T >= ALIKE) | lacking[:, None] | lacking
    near &= np.not_equal.outer(times, times)
    return [position for position, row in zip(best, near.tolist(), strict=True) if any(row)]


def best_messages(candidates: Candidates, scores: Scores) -> list[int]:
    """Return the places of the best messages, best first."""
    messages = np.flatnonzero(~candidates.memory)
    order = np.argsort(-scores.total[messages], kind="stable")[:BEST]
    return [int(position) for position in messages[order]]


def successors(query: str, spoken: Mapping[str, Message]) -> list[tuple[str, str]]:
    """Return pairs of keys: a message, and a later one of the same speaker that gives its value anew."""
    pairs = []
    read = [
        (key, message.occurred_at, sentence)
        for key, message in spoken.items()
        if (sentence := frames.sentence(message.content)) is not None
    ]
    for (first, first_at, sentence), (other, second_at, anew) in combinations(read, 2):
        # What opens alike is rare, and found out without asking for more.
        if (
            sentence.opening != anew.opening
            or first_at == second_at
            or _speaker(spoken[first]) != _speaker(spoken[other])
        ):
            continue
        values = frames.differing_values(sentence, anew)
        if values is not None and not frames.asks_about(query, values):
            pairs.append((other, first) if first_at > second_at else (first, other))
    return pairs


def raise_later(scores: Scores, pairs: Sequence[tuple[int, int]]) -> Scores:
    """Rank the second message of each pair of places above the first."""
    gained = np.zeros(len(scores.total))
    for later in {later for _, later in pairs}:
        earlier = [first for first, other in pairs if other == later]
        least = float(scores.total[earlier].max()) + STEP * len(earlier)
        gained[later] = max(least - float(scores.total[later]), 0.0)
    return Scores(scores.total + gained, scores.own, {**scores.parts, "newest": gained})


def _speaker(message: Message) -> tuple[str, str, str | None]:
    return message.user_id, message.role, message.speaker
