"""Exact and sign-filtered cosine search. Pure.

Large sets are stored as bytes, half the size of the database's half floats, with one bit for each dimension: on which
side of their mean it lies. Counting in how many bits a row and a query agree takes a fortieth of the time of comparing
them, and picks those that may be nearest; these, and whatever else is asked for, are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from core.index.resident.arrays import Flags, Floats, Places

SIGNS_FROM: Final = 5_000
"""Rows from which signs are stored: fewer are compared in less than a millisecond."""

SIGN_CANDIDATES: Final = 3_000
"""Rows picked by their signs: of 100,000 rows of the local model all of the ten nearest, of a hundred 0.99."""

BLOCK: Final = 1_024
"""Rows converted to single floats at a time, so that they stay in the processor's cache."""

MOST_COPIED_BYTES: Final = 16 * 1024 * 1024
"""Single floats of at most so many bytes are held: 10,900 vectors of 384 dimensions, of one user of a process."""

_WORD: Final = 64


@dataclass(frozen=True, slots=True)
class Signs:
    """Side of the centre on which each row lies in each dimension: one line of packed bits for each 64 of these."""

    packed: NDArray[np.uint64]
    centre: Floats

    def nearest(self, vector: Floats, passed: Flags, count: int) -> Places:
        """Return the positions, of those that passed, which agree with a vector in most signs; of equals the first."""
        apart = np.zeros(len(passed), dtype=np.uint16)
        query_signs = _pack_signs((vector / max(float(np.linalg.norm(vector)), 1e-9))[None], self.centre)
        for line, query_line in zip(self.packed, query_signs, strict=True):
            apart += np.bitwise_count(line ^ query_line)
        apart[~passed] = len(self.centre) + 1
        reached = np.cumsum(np.bincount(apart))
        last = min(int(np.searchsorted(reached, count)), len(self.centre))
        picked = apart < last
        picked[np.flatnonzero(apart == last)[: count - np.count_nonzero(picked)]] = True
        return np.flatnonzero(picked)


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Vectors:
    """Vectors, as bytes where there are many. `scales`: 1 by the lengths of the rows, 0 where there is no vector.

    Rounding to bytes moves a cosine of 384 dimensions by 0.0004 (standard deviation).
    """

    values: NDArray[Any]
    scales: Floats
    signs: Signs | None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimension(self) -> int:
        return int(self.values.shape[1])

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.scales.nbytes + (0 if self.signs is None else self.signs.packed.nbytes)

    def rows(self, places: Places) -> Floats:
        """Return some of them, of length 1."""
        return _singles(self.values[places]) * self.scales[places, None]

    def cosines(self, vector: Floats) -> Floats:
        """Return their cosines to a vector of length 1."""
        return _singles(self.values) @ vector * self.scales

    def products(self, vectors: Floats, out: Floats) -> None:
        """Write the cosine of each of them (column) to each vector of length 1 (row)."""
        if self.values.dtype == np.float32:
            np.matmul(vectors, self.values.T, out=out)
        else:
            copied, room = _COPY.of(self), np.empty((BLOCK, self.dimension), dtype=np.float32)
            for start in range(0, len(self), BLOCK):
                block = slice(start, start + BLOCK)
                singles = _singles(self.values[block], room) if copied is None else copied[block]
                np.matmul(vectors, singles.T, out=out[:, block])
        out *= self.scales

    def cosines_of(self, places: Places, vector: Floats) -> Floats:
        """Return the cosines of some of many."""
        cosines = np.empty(len(places), dtype=np.float32)
        for start in range(0, len(places), BLOCK):
            some = places[start : start + BLOCK]
            cosines[start : start + BLOCK] = _singles(self.values[some]) @ vector
        return cosines * self.scales[places]

    def selected(self, mask: Flags) -> Vectors:
        """Return those that the mask selects."""
        return of(self.values[mask], self.scales[mask])


class SinglesCopy:
    """Single floats of the vectors that this process has compared twice in a row: it writes for one user for a while.

    The copy goes with its vectors, or once others are compared.
    """

    def __init__(self) -> None:
        self._held: tuple[ref[Vectors] | None, Floats | None] = None, None

    def of(self, vectors: Vectors) -> Floats | None:
        """Return the single floats of vectors; None: these are compared for the first time, or too many."""
        last, copy = self._held
        if last is None or last() is not vectors:
            self._held = ref(vectors, self._drop), None
            return None
        if copy is None and np.dtype(np.float32).itemsize * vectors.values.size <= MOST_COPIED_BYTES:
            copy = np.concatenate(
                [_singles(vectors.values[start : start + BLOCK]) for start in range(0, len(vectors), BLOCK)]
            )
            self._held = last, copy
        return copy

    def _drop(self, gone: ref[Vectors]) -> None:
        if self._held[0] is gone:
            self._held = None, None


_COPY: Final = SinglesCopy()


def of(values: NDArray[Any], scales: Floats) -> Vectors:
    """Store vectors in the form that suits their number."""
    if len(values) < SIGNS_FROM:
        return Vectors(_singles(values), scales, None)
    numbers, scales = _rounded(values, scales)
    return Vectors(numbers, scales, _signs(numbers, scales))


def concatenate(below: Vectors, above: Vectors) -> Vectors:
    """Concatenate two sets of vectors."""
    parts = [(vectors.values, vectors.scales) for vectors in (below, above)]
    if len(below) + len(above) >= SIGNS_FROM:
        parts = [_rounded(*part) for part in parts]  # Each by itself: what is rounded already is only copied.
    return of(*map(np.concatenate, zip(*parts, strict=True)))


def _rounded(values: NDArray[Any], scales: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return vectors as bytes, the largest of each row 127, and their scales. Rounding again changes nothing."""
    if values.dtype == np.int8:
        return values, scales
    numbers, steps = np.empty(values.shape, dtype=np.int8), np.ones(len(values), dtype=np.float32)
    for start in range(0, len(values), BLOCK):
        block = slice(start, start + BLOCK)
        singles = _singles(values[block])
        largest = np.maximum(singles.max(axis=1, initial=0), -singles.min(axis=1, initial=0))
        np.divide(largest, _LARGEST, out=steps[block], where=largest > 0)
        numbers[block] = np.rint(singles / steps[block, None])
    return numbers, scales * steps


def scales(halves: NDArray[np.float16]) -> Floats:
    """Return 1 by the length of each; 1 for zero vectors."""
    singles = _singles(halves)
    lengths = np.sqrt(np.einsum("ij,ij->i", singles, singles))
    return np.asarray(1 / np.where(lengths > 0, lengths, 1), dtype=np.float32)


class Cosines:
    """Cosines of rows to a query, computed as far as they are asked for; NaN where there is no vector."""

    def __init__(self, parts: Sequence[Vectors], embedded: Flags, vector: Floats | None) -> None:
        self.asked = vector is not None
        """False without a query vector."""
        self._embedded = embedded
        self._values: Floats = np.full(len(embedded), np.nan, dtype=np.float32)
        self._open: Flags | None = None
        """Rows of large segments not compared yet; None: all have been."""
        if vector is None:
            return
        self._vector = vector
        starts = np.cumsum([0, *map(len, parts)]).tolist()
        self._placed = list(zip(starts, parts, strict=False))
        for start, part in self._placed:
            if part.signs is None:
                self._values[start : start + len(part)] = part.cosines(vector)
            elif self._open is None:
                self._open = embedded.copy()
        self._values[~embedded] = np.nan

    def of(self, places: Places) -> Floats:
        """Return the cosines of the rows at these positions."""
        if self._open is not None:
            left = places[self._open[places]]
            for start, part in self._placed:
                if part.signs is not None:
                    here = left[(left >= start) & (left < start + len(part))]
                    self._values[here] = part.cosines_of(here - start, self._vector)
                    self._open[here] = False
        return self._values[places]

    def nearest(self, places: Places) -> Places:
        """Return the positions that may be nearest: in large segments by signs, in others all that have a vector."""
        passed = np.zeros(len(self._embedded), dtype=np.bool_)
        passed[places] = True
        passed &= self._embedded
        near_positions = []
        for start, part in self._placed:
            here = passed[start : start + len(part)]
            near = (
                np.flatnonzero(here) if part.signs is None else part.signs.nearest(self._vector, here, SIGN_CANDIDATES)
            )
            near_positions.append(near + start)
        return np.concatenate([*near_positions, np.empty(0, np.int64)])


def _singles(values: NDArray[Any], room: Floats | None = None) -> Floats:
    """Convert bytes or half floats to single floats; halves by shifting bits: four times as fast as numpy does.

    `room`: for the result, which lasts until the next one is written there.
    """
    if values.dtype == np.float32:
        return values
    singles = np.empty(values.shape, dtype=np.float32) if room is None else room[: len(values)]
    if values.dtype == np.int8:
        np.copyto(singles, values)
        return singles
    bits = singles.view(np.int32)
    np.left_shift(np.ascontiguousarray(values).view(np.int16), 13, out=bits, dtype=np.int32)
    bits &= _SIGN_AND_NUMBER
    singles *= _EXPONENTS_APART
    return singles


_LARGEST: Final = np.float32(127)

_SIGN_AND_NUMBER: Final = np.array(0x8FFFE000, dtype=np.uint32).view(np.int32)
_EXPONENTS_APART: Final = np.float32(2.0**112)
"""A half float biases its exponent by 15, a single one by 127."""


def _signs(numbers: NDArray[np.int8], scales: Floats) -> Signs:
    count, dimension = numbers.shape
    centre = np.zeros(dimension, dtype=np.float32)
    for start in range(0, count, BLOCK):
        centre += scales[start : start + BLOCK] @ _singles(numbers[start : start + BLOCK])
    centre /= max(int(np.count_nonzero(scales)), 1)
    packed = np.empty((-(-dimension // _WORD), count), dtype=np.uint64)
    for start in range(0, count, BLOCK):
        block = slice(start, start + BLOCK)
        packed[:, block] = _pack_signs(_singles(numbers[block]) * scales[block, None], centre)
    return Signs(packed, centre)


def _pack_signs(rows: Floats, centre: Floats) -> NDArray[np.uint64]:
    bits = np.zeros((len(rows), -(-len(centre) // _WORD) * _WORD), dtype=np.bool_)
    np.greater(rows, centre, out=bits[:, : len(centre)])
    return np.packbits(bits, axis=1).view(np.uint64).T
