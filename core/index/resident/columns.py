"""Rows as columns. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.index.resident import vectors as resident_vectors
from core.index.resident.arrays import Flags, Floats, Places, Texts, texts
from core.index.resident.encoding import ENUMERATED, SEPARATOR
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
"""Numbers of one row as `core.index.resident.loading.field_bytes` encodes them. Times are seconds since 1970; `since`
and `until` bound its validity.

Only memories have those from `status` on. Enumerated ones are positions of their values in
`core.index.resident.encoding.ENUMERATED`, from 1.
"""

STORED: Final[Mapping[str, np.dtype[Any]]] = {
    **{name: np.dtype("i1") if name in ENUMERATED else FIELDS[name].newbyteorder("=") for name in FIELDS.names or ()},
    "changed": np.dtype("i8"),
}
"""Types of the columns. `changed`: when a memory was changed last, in microseconds since 1970; of a message 0."""

Place = tuple[str | None, tuple[str, ...]]
"""The group to which a memory was said, and the labels of its audience."""

NO_PLACE: Final[Place] = None, ()


class Row(NamedTuple):
    """A row of the index as the database sends it: fixed-width numbers as its bytes, times as its microseconds."""

    type: str
    session_id: str
    ref: str
    speaker: str | None
    role: str | None
    timed: bytes
    asks: bytes
    told: bytes
    names: bytes
    position: bytes
    at: bytes
    vector: bytes | None
    terms: bytes


class StatedRow(NamedTuple):
    """Fields of a memory's row that come from `memories`, likewise."""

    id: str
    session_id: str | None
    tags: Sequence[str] | None
    status: str
    trust: str
    kind: str
    category: str
    topic: str
    importance: bytes
    since: bytes
    until: bytes
    expires: bytes
    changed: bytes
    group_id: str | None
    labels: Sequence[str] | None


_VECTOR_HEAD: Final = 4
"""Bytes before the numbers of a vector: its dimension and an unused one."""

_SPARSE_HEAD: Final = 3
"""Integers before the entries of a sparse vector: its dimension, number of entries, and an unused one."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Inverted index of sparse vectors: the entries of `term_ids[n]` are from `starts[n]` to `starts[n + 1]`."""

    term_ids: NDArray[np.int32]
    starts: Places
    rows: NDArray[np.int32]
    weights: Floats

    @property
    def ids(self) -> NDArray[np.int32]:
        """The term of each entry."""
        return np.repeat(self.term_ids, np.diff(self.starts))

    @property
    def nbytes(self) -> int:
        return self.term_ids.nbytes + self.starts[:-1].nbytes + self.rows.nbytes + self.weights.nbytes

    def products(self, query_terms: Mapping[int, float], count: int) -> Floats:
        """Return each row's inner product with a query."""
        total = np.zeros(count, dtype=np.float32)
        if not len(self.term_ids):
            return total
        term_ids = np.fromiter(query_terms, dtype=np.int32, count=len(query_terms))
        indexes = np.minimum(np.searchsorted(self.term_ids, term_ids), len(self.term_ids) - 1)
        occurring = (self.term_ids[indexes] == term_ids).tolist()
        for at, here, weight in zip(indexes.tolist(), occurring, query_terms.values(), strict=True):
            if here:
                entries = slice(self.starts[at], self.starts[at + 1])
                total[self.rows[entries]] += np.float32(weight) * self.weights[entries]
        return total


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows read together: keys, numbers, vectors and terms.

    `sessions`: of a message its own, of a memory the one it was extracted from, or empty. `places`: of memories.
    """

    keys: Sequence[str]
    sessions: Sequence[str]
    speakers: Sequence[str]
    tags: Sequence[Sequence[str]]
    places: Sequence[Place]
    fields: Mapping[str, NDArray[Any]]
    vectors: Vectors
    terms: Terms

    def __len__(self) -> int:
        return len(self.keys)


def none(dimension: int) -> Columns:
    """Return no rows."""
    return ColumnsBuilder(dimension).columns()


def sort_by_term(ids: NDArray[np.int32], rows: NDArray[Any], weights: Floats) -> Terms:
    """Index entries by term; those of a term keep their order."""
    # numpy sorts numbers of 16 bits by radix: two such sorts take a third of the time of one of 32 bits.
    order = np.argsort(ids.astype(np.uint16), kind="stable")
    order = order[np.argsort((ids >> 16).astype(np.uint16)[order], kind="stable")]
    in_order = ids[order]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]])) if len(ids) else np.empty(0, int)
    return Terms(
        in_order[starts], np.append(starts, len(ids)), rows[order].astype(np.int32, copy=False), weights[order]
    )


def _turned(rows: Iterable[tuple[Any, ...]]) -> Any:
    """Return the columns of rows."""
    return zip(*rows, strict=True)


def _each(values: Iterable[object]) -> Texts:
    """Return an array of objects that may be sequences, which numpy would take apart."""
    return np.fromiter(values, dtype=object)


class _GrowingArray:
    """An array that grows in place: concatenating its parts in the end would take twice the memory."""

    def __init__(self, nothing: NDArray[Any]) -> None:
        self._rows, self._count = nothing, 0
        self._only: NDArray[Any] | None = None

    def add(self, rows: NDArray[Any]) -> None:
        if self._count == 0 and self._only is None:
            self._only = rows  # Of few rows there is one part, which need not be copied.
            return
        if self._only is not None:
            first, self._only = self._only, None
            self._append(first)
        self._append(rows)

    def whole(self) -> NDArray[Any]:
        if self._only is not None:
            return np.asarray(self._only, self._rows.dtype)
        self._sized(self._count)
        return self._rows

    def _append(self, rows: NDArray[Any]) -> None:
        end = self._count + len(rows)
        if end > len(self._rows):
            self._sized(end + end // 4)
        self._rows[self._count : end] = rows
        self._count = end

    def _sized(self, count: int) -> None:
        self._rows.resize((count, *self._rows.shape[1:]), refcheck=False)  # Nobody else has seen it yet.


class Stated:
    """Columns of memories by their ids: a hundred bytes each, until they are joined with the rows of the index."""

    def __init__(self, parts: Iterable[Sequence[tuple[Any, ...]]]) -> None:
        once: dict[str, str] = {}
        placed: dict[Place, Place] = {}
        ids, sessions, tags = _GrowingArray(np.empty(0, _ID)), _GrowingArray(texts(())), _GrowingArray(texts(()))
        places = _GrowingArray(texts(()))
        fields = {name: _GrowingArray(np.empty(0, STORED[name])) for name in _OF_MEMORY}
        for rows in parts:
            read: Any = StatedRow(*_turned(rows))
            ids.add(np.array(read.id, _ID))
            sessions.add(texts([once.setdefault(session_id or "", session_id or "") for session_id in read.session_id]))
            tags.add(_each(some or () for some in read.tags))
            said_to = [(group, tuple(some or ())) for group, some in zip(read.group_id, read.labels, strict=True)]
            places.add(_each(placed.setdefault(audience, audience) for audience in said_to))
            for name, more in _fields(read, _OF_MEMORY).items():
                fields[name].add(more)
        self._order = np.argsort(ids.whole(), kind="stable")
        self._ids = ids.whole()[self._order]
        self.sessions, self.tags, self.said_to = sessions.whole(), tags.whole(), places.whole()
        self.fields = {name: values.whole() for name, values in fields.items()}

    def places(self, refs: Sequence[str]) -> Places:
        """Return where these memories stand; -1: they are not among them."""
        if not len(self._ids):
            return np.full(len(refs), -1, dtype=np.int64)
        ids = np.array(refs, _ID)
        indexes = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return np.where(self._ids[indexes] == ids, self._order[indexes], -1)


_ID: Final = "S36"


class ColumnsBuilder:
    """Builder of columns from batches of rows; of a memory only if `stated` has it."""

    def __init__(self, dimension: int, stated: Stated | None = None) -> None:
        self._dimension = dimension
        self._stated = Stated(()) if stated is None else stated
        self._keys: list[str] = []
        self._sessions: list[str] = []
        self._speakers: list[str] = []
        self._tags: list[Sequence[str]] = []
        self._places: list[Place] = []
        self._fields = {name: _GrowingArray(np.empty(0, dtype)) for name, dtype in STORED.items()}
        self._halves = _GrowingArray(np.empty((0, dimension), np.float16))
        self._scales = _GrowingArray(np.empty(0, np.float32))
        self._ids = _GrowingArray(np.empty(0, np.int32))
        self._rows = _GrowingArray(np.empty(0, np.int32))
        self._weights = _GrowingArray(np.empty(0, np.float32))

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Append rows, each with the values of a `Row`."""
        memory = np.array([row[0] == "memory" for row in rows], dtype=np.bool_)
        places = np.full(len(rows), -1, dtype=np.int64)
        places[memory] = self._stated.places([row[2] for row in rows if row[0] == "memory"])
        visible = ~memory | (places >= 0)
        if not visible.any():
            return
        if not visible.all():
            rows, memory, places = list(compress(rows, visible.tolist())), memory[visible], places[visible]
        read: Any = Row(*_turned(rows))
        fields = self._joined(read, memory, places[memory])
        values, scales = _vectors(fields["embedded"], read.vector, self._dimension)
        ids, of, weights = _entries(read.terms)
        self._rows.add(of + len(self._keys))
        self._name(read, memory, places[memory])
        for name, more in fields.items():
            self._fields[name].add(more)
        for grown, more in (
            (self._halves, values),
            (self._scales, scales),
            (self._ids, ids),
            (self._weights, weights),
        ):
            grown.add(more)

    def _joined(self, read: Any, memory: Flags, stated: Places) -> dict[str, NDArray[Any]]:
        """Return the numbers of rows, column by column."""
        fields = {
            "memory": memory,
            "embedded": np.array([vector is not None for vector in read.vector], dtype=np.bool_),
            **_fields(read, _OF_INDEX),
        }
        for name, nothing in _OF_MEMORY.items():
            fields[name] = np.full(len(memory), nothing, STORED[name])
            fields[name][memory] = self._stated.fields[name][stated]
        return fields

    def _name(self, read: Any, memory: Flags, stated: Places) -> None:
        """Append keys, sessions, speakers and tags."""
        once: dict[str, str] = {}  # Of many rows of one session its name is kept once.
        sessions = texts([once.setdefault(session_id, session_id) for session_id in read.session_id])
        sessions[memory] = self._stated.sessions[stated]
        tags = _each(() for _ in read.type)
        tags[memory] = self._stated.tags[stated]
        places = _each(NO_PLACE for _ in read.type)
        places[memory] = self._stated.said_to[stated]
        self._keys += [
            ref if of_memory else f"{session}{SEPARATOR}{ref}"
            for of_memory, session, ref in zip(memory.tolist(), read.session_id, read.ref, strict=True)
        ]
        self._sessions += sessions.tolist()
        self._speakers += [once.setdefault(speaker or "", speaker or "") for speaker in read.speaker]
        self._tags += tags.tolist()
        self._places += places.tolist()

    def columns(self) -> Columns:
        return Columns(
            self._keys,
            self._sessions,
            self._speakers,
            self._tags,
            self._places,
            {name: values.whole() for name, values in self._fields.items()},
            resident_vectors.of(self._halves.whole(), self._scales.whole()),
            sort_by_term(self._ids.whole(), self._rows.whole(), self._weights.whole()),
        )


def _fields(read: Any, names: Iterable[str]) -> dict[str, NDArray[Any]]:
    """Return numbers of rows read, column by column."""
    fields: dict[str, NDArray[Any]] = {}
    for name in names:
        if (codes := _CODES.get(name)) is not None:
            fields[name] = np.array([codes[value] for value in getattr(read, name)], dtype=np.int8)
        elif name == "changed":
            fields[name] = microseconds(read.changed)
        elif name in _TIMES:
            fields[name] = _seconds(np.frombuffer(b"".join(getattr(read, name)), ">i8").astype(np.int64))
        else:
            fields[name] = np.frombuffer(b"".join(getattr(read, name)), FIELDS[name])
    return fields


def microseconds(sent: Iterable[bytes]) -> NDArray[np.int64]:
    """Return microseconds since 1970 for times as the database sends them."""
    return np.frombuffer(b"".join(sent), ">i8").astype(np.int64) + _YEAR_2000


def _seconds(microseconds: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return seconds since 1970 for PostgreSQL's microseconds since 2000; infinite times stay so."""
    seconds = (microseconds + _YEAR_2000) / 1e6
    seconds[microseconds == _FOREVER.max] = np.inf
    seconds[microseconds == _FOREVER.min] = -np.inf
    return seconds


class _Codes(dict[str | None, int]):
    """Positions of the values of an enumeration, from 1; another value has the given code."""

    def __init__(self, values: Sequence[str], otherwise: int) -> None:
        super().__init__((value, code) for code, value in enumerate(values, start=1))
        self[None] = otherwise
        self._otherwise = otherwise

    def __missing__(self, value: str | None) -> int:
        return self._otherwise


_CODES: Final = {name: _Codes(values, int(name == "role")) for name, values in ENUMERATED.items()}
"""An unknown role is `other`; a message has no status."""

_TIMES: Final = ("at", "since", "until", "expires")
_OF_INDEX: Final = ("role", "timed", "asks", "told", "names", "position", "at")
_OF_MEMORY: Final[Mapping[str, float]] = {
    "status": 0,
    "trust": 0,
    "kind": 0,
    "category": 0,
    "topic": 0,
    "importance": 0,
    "since": -np.inf,
    "until": np.inf,
    "expires": np.inf,
    "changed": 0,
}
"""Columns of memories alone, and what a message has there."""

_FOREVER: Final = np.iinfo(np.int64)
_YEAR_2000: Final = 946_684_800_000_000


def _vectors(embedded: NDArray[np.bool_], sent: Any, dimension: int) -> tuple[NDArray[np.float16], Floats]:
    """Return the vectors, zeros where there is none, and the inverse of their lengths."""
    there = np.frombuffer(b"".join([vector for vector in sent if vector is not None]), dtype=np.uint8)
    numbers = there.reshape(-1, _VECTOR_HEAD + 2 * dimension)[:, _VECTOR_HEAD:]
    read = np.ascontiguousarray(numbers).view(">f2").astype(np.float16)
    lengths = resident_vectors.scales(read)
    if len(read) == len(embedded):
        return read, lengths
    values = np.zeros((len(embedded), dimension), dtype=np.float16)
    scales = np.zeros(len(embedded), dtype=np.float32)
    values[embedded], scales[embedded] = read, lengths
    return values, scales


def _entries(sparse: Any) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Return the entries of sparse vectors, row by row: term, row and weight."""
    counts = np.array([len(vector) // 8 - 1 for vector in sparse], dtype=np.int64)  # 12 bytes of head, 8 an entry
    numbers = np.frombuffer(b"".join(sparse), dtype=">i4")
    sizes = _SPARSE_HEAD + 2 * counts
    first = np.cumsum(sizes) - sizes + _SPARSE_HEAD
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    offsets = np.repeat(first, counts) + np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    ids = numbers[offsets].astype(np.int32) + 1  # sent from nought, written from one
    return ids, rows, numbers[offsets + np.repeat(counts, counts)].view(">f4").astype(np.float32)
