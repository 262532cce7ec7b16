"""Clusters statements by key and vector. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from core.index.vector_notation import vector_of

BOUNDS: Final = (0.65, 0.55)
"""Cosines from which statements under one heading are about one thing, and about related ones; see docs/fading.md."""

MOST: Final = 64
"""Maximum members of a group: more cannot be summarized in a sentence."""

ROWS: Final = 1024
"""Statements that are compared with all others at once: 10,000 of them take 40 MB."""

Vectors = NDArray[np.float32]
Group = list[int]


def vectors_of(literals: Sequence[str | None]) -> Vectors:
    """Parse vectors from pgvector's notation; zeros for a missing one, or one of another length than the last."""
    read = [None if literal is None else vector_of(literal) for literal in literals]
    length = next((len(vector) for vector in reversed(read) if vector is not None), 1)
    rows = np.zeros((len(read), length), dtype=np.float32)
    for row, vector in zip(rows, read, strict=True):
        if vector is not None and len(vector) == length:
            row[:] = vector / max(float(np.linalg.norm(vector)), 1e-9)
    return rows


def groups(
    keys: Sequence[Hashable], vectors: Vectors, smallest: int = 2, bounds: Sequence[float] = BOUNDS
) -> list[Group]:
    """Return groups of `smallest` and more, the largest first, each as positions in the input; its middle comes first.

    Members share one key, lie within a bound of the middle, and on average within it of each other when they join:
    a chain of neighbours is not one group. Statements in no group by the first bound are tried with the next one.
    Vectors have length 1; a statement without one (all zeros) stays alone.
    """
    clusters: list[Group] = []
    taken: set[int] = set()
    for bound in bounds:
        by_key: defaultdict[Hashable, list[int]] = defaultdict(list)
        for index, key in enumerate(keys):
            if index not in taken:
                by_key[key].append(index)
        grouped = [
            [positions[index] for index in group]
            for positions in by_key.values()
            for group in _groups_within(vectors[positions], bound)
        ]
        clusters += [group for group in grouped if len(group) >= smallest]
        taken.update(index for group in clusters for index in group)
    return sorted(clusters, key=lambda group: (-len(group), min(group)))


def bunches(vectors: Vectors, count: int) -> list[Group]:
    """Partition all vectors into at most `count` groups, each around one of the most distant statements."""
    middles = [int(np.argmax(vectors @ vectors.sum(axis=0)))]
    while len(middles) < min(count, len(vectors)):
        nearest = (vectors @ vectors[middles].T).max(axis=1)
        nearest[middles] = np.inf
        middles.append(int(np.argmin(nearest)))
    around = np.argmax(vectors @ vectors[middles].T, axis=1)
    around[middles] = np.arange(len(middles))
    return [[int(index) for index in np.flatnonzero(around == bunch)] for bunch in range(len(middles))]


def _groups_within(vectors: Vectors, bound: float) -> Iterator[Group]:
    """Yield groups: the one with the most and nearest neighbours begins, ungrouped neighbours follow, nearest first."""
    near = list(_near(vectors, bound))
    taken: set[int] = set()
    for middle in sorted(range(len(near)), key=lambda index: (-near[index][1], index)):
        if middle in taken:
            continue
        group = _around(middle, [neighbour for neighbour in near[middle][0] if neighbour not in taken], vectors, bound)
        taken.update(group)
        if len(group) > 1:
            yield group


def _around(middle: int, others: Sequence[int], vectors: Vectors, bound: float) -> Group:
    group, total = [middle], vectors[middle].copy()
    for other in others:
        if float(total @ vectors[other]) >= bound * len(group):
            group.append(other)
            total += vectors[other]
    return group


def _near(vectors: Vectors, bound: float) -> Iterator[tuple[list[int], float]]:
    """Yield, for each statement, the nearest others within the bound (`MOST` with itself), and their cosines' sum."""
    for start in range(0, len(vectors), ROWS):
        cosines = vectors[start : start + ROWS] @ vectors.T
        for row_index, row in enumerate(cosines):
            row[start + row_index] = -np.inf
            within = np.flatnonzero(row >= bound)
            nearest = within[np.argsort(-row[within], kind="stable")]
            yield [int(index) for index in nearest[: MOST - 1]], round(float(row[within].sum()), 4)
