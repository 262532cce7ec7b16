"""Ranking of memories by a formula of similarity, decay and importance, instead of by words and neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from sqlalchemy import text

from core.index.resident.arrays import Numbers
from core.memory import as_of, decay, retention
from core.memory.decay import Facts
from core.search import ranking
from core.search.candidates import Candidates
from core.search.ranking import Scores
from core.search.recipes import Formula
from core.storage.db import Tx

REPLACED = frozenset({"own", "cited", "lacking"})
"""Parts of a memory's usual score, which do not count here."""


def blend(
    tx: Tx, formula: Formula, candidates: Candidates, scores: Scores, now: datetime, known_at: datetime | None
) -> Scores:
    """Rank memories by a formula at a moment; `known_at`: by what was recorded of them then.

    A memory without a vector counts as near as the others are on average.
    """
    rows = _rows(tx, [UUID(key) for key in candidates.keys[candidates.memory].tolist()], known_at)
    faded, important = np.zeros((2, len(candidates)))
    for position in np.flatnonzero(candidates.memory).tolist():
        row = rows.get(UUID(candidates.keys[position]))
        if row is not None:
            curve = decay.FORMULAS[formula](Facts(row.importance, row.category, pinned=row.pinned))
            faded[position] = curve.strength(retention.since(row), now) - curve.floor
            important[position] = curve.floor
    return _scores(candidates, scores, faded, important)


def _scores(candidates: Candidates, scores: Scores, faded: Numbers, important: Numbers) -> Scores:
    parts = {
        "similarity": np.where(candidates.memory, decay.SIMILARITY * ranking.fill_missing(candidates.cosine), 0.0),
        "decay": faded,
        "importance": important,
    }
    total = np.where(candidates.memory, ranking.rounded(np.sum(list(parts.values()), axis=0)), scores.total)
    usual = {name: values for name, values in scores.parts.items() if name not in REPLACED}
    return Scores(total, total, usual | parts)


def _rows(tx: Tx, ids: Sequence[UUID], known_at: datetime | None) -> Mapping[UUID, Any]:
    if known_at is not None:
        return as_of.of_ids(tx, ids, known_at)
    return {row.id: row for row in tx.execute(_WEIGHED, {"ids": list(ids)})} if ids else {}


_WEIGHED = text("""
    SELECT id, importance, category, pinned, last_used_at, recorded_at FROM memories WHERE id = ANY(:ids)
""")
