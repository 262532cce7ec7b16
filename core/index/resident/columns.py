"""Rows as columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from core.index.resident import vectors as resident_vectors
from core.index.resident.arrays import Floats, Places
from core.index.resident.vectors import Vectors

FIELDS: Final = np.dtype(
    [
        ("memory", "?"),
        ("embedded", "?"),
        ("timed", "?"),
        ("asks", "?"),
        ("role", ">i2"),
        ("told", ">i2"),
        ("names", ">i2"),
        ("position", ">i4"),
        ("at", ">f8"),
        ("status", ">i2"),
        ("trust", ">i2"),
        ("kind", ">i2"),
        ("category", ">i2"),
        ("topic", ">i2"),
        ("importance", ">f4"),
        ("since", ">f8"),
        ("until", ">f8"),
        ("expires", ">f8"),
    ]
)
"""Numbers of one row as the database sends them. Times are seconds since 1970; `since` and `until` bound its validity.

Only memories have those from `status` on. Enumerated ones are positions of their values in
`core.index.resident.encoding.ENUMERATED`, from 1.
"""

_SPARSE_HEAD: Final = 3
"""Integers before the entries of a sparse vector: its dimension, number of entries, and an unused one."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Inverted index of sparse vectors: entries in the order of their terms."""

    ids: NDArray[np.int32]
    rows: Places
    weights: Floats

    def products(self, query_terms: Mapping[int, float], count: int) -> Floats:
        """Return each row's inner product with a query."""
        total = np.zeros(count, dtype=np.float32)
        term_ids = np.fromiter(query_terms, dtype=np.int32, count=len(query_terms))
        starts, ends = np.searchsorted(self.ids, term_ids), np.searchsorted(self.ids, term_ids, side="right")
        for start, end, weight in zip(starts.tolist(), ends.tolist(), query_terms.values(), strict=True):
            total[self.rows[start:end]] += np.float32(weight) * self.weights[start:end]
        return total


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows read together: keys, numbers, vectors and terms.

    `sessions`: of a message its own, of a memory the one it was extracted from, or empty.
    """

    keys: Sequence[str]
    sessions: Sequence[str]
    speakers: Sequence[str]
    tags: Sequence[Sequence[str]]
    fields: Mapping[str, NDArray[Any]]
    vectors: Vectors
    terms: Terms

    def __len__(self) -> int:
        return len(self.keys)


def none(dimension: int) -> Columns:
    """Return no rows."""
    return ColumnsBuilder(dimension).columns()


def sort_by_term(terms: Terms) -> Terms:
    """Sort entries by term, in place."""
    order = np.argsort(terms.ids, kind="stable")
    for values in (terms.ids, terms.rows, terms.weights):
        values[:] = values[order]
    return terms


class _GrowingArray:
    """An array that grows in place: concatenating its parts in the end would take twice the memory."""

    def __init__(self, nothing: NDArray[Any]) -> None:
        self._rows, self._count = nothing, 0

    def add(self, rows: NDArray[Any]) -> None:
        end = self._count + len(rows)
        if end > len(self._rows):
            self._sized(end + end // 4)
        self._rows[self._count : end] = rows
        self._count = end

    def whole(self) -> NDArray[Any]:
        self._sized(self._count)
        return self._rows

    def _sized(self, count: int) -> None:
        self._rows.resize((count, *self._rows.shape[1:]), refcheck=False)  # Nobody else has seen it yet.


class ColumnsBuilder:
    """Builder of columns from batches of rows."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._keys: list[str] = []
        self._sessions: list[str] = []
        self._speakers: list[str] = []
        self._tags: list[Sequence[str]] = []
        self._fields = _GrowingArray(np.empty(0, FIELDS))
        self._halves = _GrowingArray(np.empty((0, dimension), np.float16))
        self._scales = _GrowingArray(np.empty(0, np.float32))
        self._ids = _GrowingArray(np.empty(0, np.int32))
        self._rows = _GrowingArray(np.empty(0, np.int64))
        self._weights = _GrowingArray(np.empty(0, np.float32))

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        keys, sessions, speakers, tags, fields, halves, sparse = zip(*rows, strict=True)
        read = np.frombuffer(b"".join(fields), FIELDS)
        values, scales = _vectors(read["embedded"], halves, self._dimension)
        ids, of, weights = _entries(sparse)
        once: dict[str, str] = {}  # Of many rows of one session its name is kept once.
        self._rows.add(of + len(self._keys))
        self._keys += keys
        self._sessions += [once.setdefault(one, one) for one in sessions]
        self._speakers += [once.setdefault(one, one) for one in speakers]
        self._tags += [some or () for some in tags]
        for grown, more in (
            (self._fields, read),
            (self._halves, values),
            (self._scales, scales),
            (self._ids, ids),
            (self._weights, weights),
        ):
            grown.add(more)

    def columns(self) -> Columns:
        fields = self._fields.whole()
        return Columns(
            self._keys,
            self._sessions,
            self._speakers,
            self._tags,
            {name: np.ascontiguousarray(fields[name], FIELDS[name].newbyteorder("=")) for name in FIELDS.names or ()},
            resident_vectors.of(self._halves.whole(), self._scales.whole()),
            sort_by_term(Terms(self._ids.whole(), self._rows.whole(), self._weights.whole())),
        )


def _vectors(
    embedded: NDArray[np.bool_], halves: Sequence[bytes | None], dimension: int
) -> tuple[NDArray[np.float16], Floats]:
    """Return the vectors, zeros where there is none, and the inverse of their lengths."""
    values = np.zeros((len(embedded), dimension), dtype=np.float16)
    scales = np.zeros(len(embedded), dtype=np.float32)
    there = b"".join([half for half in halves if half is not None])
    read = np.frombuffer(there, dtype=">f2").reshape(-1, dimension).astype(np.float16)
    values[embedded], scales[embedded] = read, resident_vectors.scales(read)
    return values, scales


def _entries(sparse: Sequence[bytes]) -> tuple[NDArray[np.int32], Places, Floats]:
    """Return the entries of sparse vectors, row by row: term, row and weight."""
    counts = np.array([len(one) // 8 - 1 for one in sparse], dtype=np.int64)  # 12 bytes of head, 8 an entry
    numbers = np.frombuffer(b"".join(sparse), dtype=">i4")
    sizes = _SPARSE_HEAD + 2 * counts
    first = np.cumsum(sizes) - sizes + _SPARSE_HEAD
    rows = np.repeat(np.arange(len(counts)), counts)
    offsets = np.repeat(first, counts) + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = numbers[offsets].astype(np.int32) + 1  # sent from nought, written from one
    return ids, rows, numbers[offsets + np.repeat(counts, counts)].view(">f4").astype(np.float32)
