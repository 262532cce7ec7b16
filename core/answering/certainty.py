"""Certainty of statements to answer a question, from the cosine of each part. Embeds outside of transactions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.answering.statements import Statement
from core.inference.embedders import Embedder
from core.search import wordings
from core.search.question import Question

Floats = NDArray[np.float64]

STEEPNESS: Final = 6.0
MIDDLE: Final = 0.5
"""Logistic curve from cosine to certainty: its steepness, and the cosine at a certainty of one half.

Fitted to the development half with the multilingual model (`python -m bench.answers --half dev --fit`).
"""

BY_SCORE: Final = 0.06
"""Weight of the score of the search beside the cosine, where one of several statements is chosen."""


OUTDATED: Final = 0.05
"""By so much less is a statement preferred that may no longer hold."""


def cosines(embedder: Embedder, question: Question, statements: Sequence[Statement]) -> Floats:
    """Return the cosine of each statement and a question in all its wordings.

    A result that is one statement has it from the search.
    """
    parts = Counter(id(statement.result) for statement in statements)
    stored = [
        statement.result.ranked.hit.cosine if parts[id(statement.result)] == 1 else None for statement in statements
    ]
    unread = [at for at, cosine in enumerate(stored) if cosine is None]
    result = np.array([np.nan if cosine is None else cosine for cosine in stored], dtype=np.float64)
    if unread:
        vector = wordings.vector(embedder, question).astype(np.float64)
        result[unread] = np.asarray(embedder.embed([statements[at].attributed for at in unread])) @ vector
    return result


def certainties(nearness: Floats) -> Floats:
    """Return the certainty, from 0 to 1, of statements with these cosines to answer a question."""
    certain: Floats = 1 / (1 + np.exp(-STEEPNESS * (nearness - MIDDLE)))
    return certain


def preference(nearness: Floats, statements: Sequence[Statement]) -> Floats:
    """Return what orders statements: the cosine, how the search ranks their results, and whether they may be over."""
    scores = np.array([statement.result.ranked.score for statement in statements])
    outdated = np.array([statement.outdated for statement in statements], dtype=np.float64)
    best: Floats = nearness + BY_SCORE * scores / (scores.max(initial=0.0) or 1.0) - OUTDATED * outdated
    return best
