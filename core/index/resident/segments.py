"""Immutable row segments, merged LSM-style. Pure."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Final, Generic, TypeVar

import numpy as np

from core.index.resident import columns as resident_columns
from core.index.resident import vectors
from core.index.resident.arrays import Places, Texts, texts
from core.index.resident.columns import Columns, Place

MERGE_FACTOR: Final = 4
"""A segment is merged with the one below once it is no smaller by this factor: few segments, and few copies."""


K = TypeVar("K", bound=Hashable)


class Interner(Generic[K]):
    """Numbers for texts and the like, in the order in which they came."""

    def __init__(self) -> None:
        self.numbers: dict[K, int] = {}

    def of(self, texts: Sequence[K]) -> Places:
        """Return the numbers of texts and enter new ones. Under the lock of the entry."""
        entered = self.numbers
        new = [text for text in dict.fromkeys(texts) if text not in entered]
        entered.update(zip(new, range(len(entered), len(entered) + len(new)), strict=True))
        return np.fromiter(map(entered.__getitem__, texts), dtype=np.int64, count=len(texts))


@dataclass(frozen=True, slots=True)
class Interners:
    """Interners of row keys, sessions, speakers and places."""

    rows: Interner[str] = field(default_factory=Interner)
    sessions: Interner[str] = field(default_factory=Interner)
    speakers: Interner[str] = field(default_factory=Interner)
    places: Interner[Place] = field(default_factory=Interner)


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows read together, with the numbers of their keys, sessions, speakers and places."""

    columns: Columns
    keys: Texts
    numbers: Places
    sessions: Places
    speakers: Places
    places: Places

    def __len__(self) -> int:
        return len(self.keys)


def segment(interners: Interners, read: Columns) -> Segment:
    """Intern rows and return them as a segment."""
    return Segment(
        read,
        texts(read.keys),
        interners.rows.of(read.keys),
        interners.sessions.of(read.sessions),
        interners.speakers.of(read.speakers),
        interners.places.of(read.places),
    )


def count_unchanged(segments: Sequence[Segment], left: Sequence[Columns], new: int) -> int:
    """Return how many of the lowest segments stay when `new` rows come on top of what is left of each."""
    # A segment that lost a row is merged anew, with all above it.
    same = next((index for index, segment in enumerate(segments) if segment.columns is not left[index]), len(segments))
    size = new
    for index in reversed(range(len(segments))):
        if index < same and len(left[index]) > MERGE_FACTOR * size:
            return index + 1
        size += len(left[index])
    return 0


def without(below: Columns, removed: set[str]) -> Columns:
    """Return the rows without those of these keys."""
    return below if removed.isdisjoint(below.keys) else _select(below, [key not in removed for key in below.keys])


def merge(below: Columns, newest: Columns) -> Columns:
    """Merge two sets of rows; of a row in both the newest counts."""
    old = without(below, set(newest.keys))
    terms = resident_columns.sort_by_term(
        np.concatenate([old.terms.ids, newest.terms.ids]),
        np.concatenate([old.terms.rows, newest.terms.rows + len(old)]),
        np.concatenate([old.terms.weights, newest.terms.weights]),
    )
    return Columns(
        [*old.keys, *newest.keys],
        [*old.sessions, *newest.sessions],
        [*old.speakers, *newest.speakers],
        [*old.tags, *newest.tags],
        [*old.places, *newest.places],
        {name: np.concatenate([values, newest.fields[name]]) for name, values in old.fields.items()},
        vectors.concatenate(old.vectors, newest.vectors),
        terms,
    )


def _select(below: Columns, mask_values: Sequence[bool]) -> Columns:
    """Return the rows that the mask selects."""
    mask = np.array(mask_values, dtype=np.bool_)
    moved = np.cumsum(mask) - 1
    entries = mask[below.terms.rows]
    return Columns(
        list(compress(below.keys, mask_values)),
        list(compress(below.sessions, mask_values)),
        list(compress(below.speakers, mask_values)),
        list(compress(below.tags, mask_values)),
        list(compress(below.places, mask_values)),
        {name: values[mask] for name, values in below.fields.items()},
        below.vectors.selected(mask),
        resident_columns.sort_by_term(
            below.terms.ids[entries], moved[below.terms.rows[entries]], below.terms.weights[entries]
        ),
    )
