"""Known memories as columns of numbers, compared with a candidate before any text of them is read. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final, NamedTuple, overload
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.memory.codes import CATEGORIES, LONGEST, code_of, microseconds
from core.memory.identity import KnownMemory
from core.memory.stored_features import StoredFeatures
from core.statements import succession
from core.statements.comparison import OUTLINED, Outline

Places = NDArray[Any]
Flags = NDArray[np.bool_]
Numbers = NDArray[np.float64]

FEATURES: Final = np.dtype(
    [
        ("told", "i8"),
        ("content", "u8"),
        ("subject", "u8"),
        ("attribute", "u8"),
        ("category", "i1"),
        ("long", "?"),
        ("high", "u8"),
        ("low", "u8"),
        ("folded", "u8"),
        ("slot", "u8"),
        ("exact", "u8"),
        ("spelling", "u8"),
        ("words", "u8"),
        ("beginnings", "u4", (OUTLINED,)),
        ("begun", "u1"),
    ]
)
"""Numbers of one memory.

When it was told in microseconds; digests of content, subject and slot; its category; whether it is too long to be
ended; its id; digests of subject and slot in one form, of its keys and of its outline. They tell most memories apart;
what they let through is compared by its text.
"""


Load = Callable[[Sequence[int]], Sequence[KnownMemory]]
"""Reads memories by their places."""

_BEGINNING: Final = 4
"""Bytes of one word in an outline."""
_ROOM: Final = 64
"""Rows by which columns grow at least."""


def features_of(memories: Sequence[KnownMemory]) -> Places:
    """Return the rows of memories."""
    outlines = [memory.outline for memory in memories]
    numbers = [
        (
            microseconds(memory.told_at),
            code_of(memory.content),
            code_of(memory.subject),
            code_of(memory.attribute),
            CATEGORIES.index(memory.category),
            len(memory.content) > LONGEST,
            *_halves(memory.id),
            code_of(succession.folded(memory.subject)),
            slot_code(memory.attribute),
            memory.keys.exact[0],
            memory.keys.spelling[0],
            outline.words,
            np.frombuffer(outline.beginnings.ljust(OUTLINED * _BEGINNING, b"\0"), dtype="<u4"),
            len(outline.beginnings) // _BEGINNING,
        )
        for memory, outline in zip(memories, outlines, strict=True)
    ]
    return np.array(numbers, dtype=FEATURES)


class Described(NamedTuple):
    """Columns of several memories: their ids, when they were told in microseconds, and what each is about."""

    keys: Sequence[str]
    told_at: Sequence[int]
    subjects: Sequence[str]
    attributes: Sequence[str | None]
    categories: Sequence[str | None]


def features_of_stored(memories: Described, stored: StoredFeatures) -> Places:
    """Return the rows of memories of whose words the features are stored."""
    rows = np.zeros(len(memories.keys), dtype=FEATURES)
    halves = np.frombuffer(bytes.fromhex("".join(memories.keys).replace("-", "")), dtype=">u8").reshape(-1, 2)
    rows["high"], rows["low"], rows["told"] = halves[:, 0], halves[:, 1], memories.told_at
    columns: tuple[tuple[str, Callable[[Any], int], Sequence[str | None]], ...] = (
        ("subject", code_of, memories.subjects),
        ("folded", lambda subject: code_of(succession.folded(subject)), memories.subjects),
        ("attribute", code_of, memories.attributes),
        ("slot", slot_code, memories.attributes),
        ("category", CATEGORIES.index, memories.categories),
    )
    for name, of, column in columns:
        codes = {value: of(value) for value in set(column)}
        rows[name] = np.array([codes[value] for value in column], dtype=FEATURES[name])
    for name in _OF_WORDS:
        rows[name] = stored.heads[name]
    rows["beginnings"] = stored.beginnings
    return rows


_OF_WORDS: Final = ("content", "long", "exact", "spelling", "words", "begun")


def _halves(memory_id: UUID) -> tuple[int, int]:
    return divmod(memory_id.int, 2**64)


def slot_code(attribute: str | None) -> int:
    """Return a digest of a slot's name in one spelling; 0: no slot."""
    return code_of(succession.slot_name(attribute))


def beginnings(outline: Outline) -> Places:
    """Return the digests of an outline's words as numbers."""
    return np.frombuffer(outline.beginnings, dtype="<u4")


class KnownStatements:
    """Known memories of a unit of work by their places: numbers of all, texts of those that were asked for."""

    def __init__(self, rows: Places, read: Mapping[int, KnownMemory], load: Load | None = None) -> None:
        """`rows`: of `FEATURES`. `load` None: all have been read."""
        self._rows, self._count = rows, len(rows)
        self._read = dict(read)
        self._load = load
        self._places: dict[KnownMemory, int] = {}
        self._met: dict[int, tuple[KnownMemory, int]] = {}
        """Memories that were asked for by `place`, by identity: their hash takes longer than all else."""

    @property
    def rows(self) -> Places:
        return self._rows[: self._count]

    def place(self, memory: KnownMemory) -> int:
        """Return the place of a memory that was not among these, such as one that this unit of work adds."""
        met = self._met.get(id(memory))
        if met is not None:
            return met[1]
        plain = memory if memory.similarity is None else replace(memory, similarity=None)
        if plain not in self._places:
            self._add(plain)
        if plain is memory:
            self._met[id(memory)] = memory, self._places[memory]
        return self._places[plain]

    def read(self, places: Sequence[int]) -> list[KnownMemory]:
        """Return the memories at these places, without a cosine."""
        missing = [position for position in dict.fromkeys(places) if position not in self._read]
        if missing:
            if self._load is None:
                raise LookupError("These memories have not been read.")
            self._read.update(zip(missing, self._load(missing), strict=True))
        return [self._read[position] for position in places]

    def _add(self, memory: KnownMemory) -> None:
        if self._count == len(self._rows):
            taller = np.zeros(self._count + max(_ROOM, self._count // 4), dtype=FEATURES)
            taller[: self._count] = self._rows
            self._rows = taller
        position, self._count = self._count, self._count + 1
        self._rows[position : position + 1] = features_of([memory])
        self._read[position] = memory
        self._places[memory] = position


class KnownSet(Sequence[KnownMemory]):
    """Memories that one candidate is compared with, in order, with their cosines; NaN: not known."""

    def __init__(self, source: KnownStatements, places: Places, cosines: Numbers) -> None:
        self.source = source
        self.places = places
        self.cosines = cosines

    @classmethod
    def of(cls, memories: Sequence[KnownMemory]) -> KnownSet:
        """Return these memories as a set."""
        if isinstance(memories, KnownSet):
            return memories
        plain = [memory if memory.similarity is None else replace(memory, similarity=None) for memory in memories]
        source = KnownStatements(features_of(memories), dict(enumerate(plain)))
        return cls(source, np.arange(len(memories)), _cosines(memories))

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> KnownMemory: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[KnownMemory]: ...
    def __getitem__(self, index: int | slice) -> KnownMemory | Sequence[KnownMemory]:
        if isinstance(index, slice):
            return self.taken(np.arange(len(self))[index])
        (memory,) = self.source.read([int(self.places[index])])
        cosine = float(self.cosines[index])
        return memory if cosine != cosine else replace(memory, similarity=cosine)  # noqa: PLR0124 - NaN

    def __iter__(self) -> Iterator[KnownMemory]:
        return iter(self.at(np.arange(len(self))))

    def at(self, indexes: Places) -> list[KnownMemory]:
        """Return the memories at some indexes; their texts are read together."""
        self.source.read(self.places[indexes].tolist())
        return [self[index] for index in indexes.tolist()]

    def taken(self, mask: Places) -> KnownSet:
        """Return those that a mask or indexes select."""
        if mask.dtype == np.bool_ and mask.all():
            return self
        return KnownSet(self.source, self.places[mask], self.cosines[mask])

    def more(self, memories: Sequence[KnownMemory]) -> KnownSet:
        """Return these and others."""
        if not memories:
            return self
        places = np.array([self.source.place(memory) for memory in memories], dtype=np.int64)
        return KnownSet(
            self.source, np.concatenate([self.places, places]), np.concatenate([self.cosines, _cosines(memories)])
        )

    def without(self, ids: Collection[UUID]) -> KnownSet:
        """Return those with other ids."""
        if not ids:
            return self
        mask = np.zeros(len(self), dtype=np.bool_)
        for memory_id in ids:
            mask |= self._is(memory_id)
        return self.taken(~mask)

    def worded(self, memory_id: UUID, memory: KnownMemory) -> KnownSet:
        """Return the set with another wording of a memory in its place, if it is among them."""
        mask = self._is(memory_id)
        if not mask.any():
            return self
        (cosine,) = _cosines([memory])
        return KnownSet(
            self.source, np.where(mask, self.source.place(memory), self.places), np.where(mask, cosine, self.cosines)
        )

    def ids(self, chosen: Places) -> list[UUID]:
        """Return the ids of some."""
        rows = self.rows[chosen]
        return [
            UUID(int=high << 64 | low) for high, low in zip(rows["high"].tolist(), rows["low"].tolist(), strict=True)
        ]

    def named(self, ids: Iterable[UUID]) -> list[KnownMemory]:
        """Return the memories with some ids, as far as they are here."""
        return [memory for memory_id in ids for memory in self.at(np.flatnonzero(self._is(memory_id)))]

    def _is(self, memory_id: UUID) -> Flags:
        high, low = _halves(memory_id)
        return np.asarray((self.rows["high"] == high) & (self.rows["low"] == low))

    @cached_property
    def rows(self) -> Places:
        """The numbers of each."""
        return self.source.rows.take(self.places)  # An index takes ten times as long, field by field.

    @cached_property
    def likeness(self) -> Numbers:
        """The cosine of each; 0 where it is not known."""
        return np.where(np.isnan(self.cosines), 0.0, self.cosines)

    def about(self, subject: str) -> Flags:
        """Return which are about a subject, however it is written."""
        return np.asarray(self.rows["folded"] == code_of(succession.folded(subject)))

    def may_be_alike(self, indexes: Places, other: Outline) -> Flags:
        """Return of which `comparison.may_be_alike` holds."""
        rows, begun = self.rows.take(indexes), beginnings(other)
        same = np.logical_and.accumulate(rows["beginnings"][:, : len(begun)] == begun, axis=1).sum(axis=1)
        whole = same >= np.minimum(rows["begun"], len(begun))
        return np.asarray((rows["words"] == other.words) | whole)

    def nearest_first(self, chosen: Flags) -> Places:
        """Return the indexes of some, the nearest first, of equals by id."""
        indexes = np.flatnonzero(chosen)
        rows = self.rows.take(indexes)
        return indexes[np.lexsort((rows["low"], rows["high"], -self.likeness[indexes]))]


def _cosines(memories: Sequence[KnownMemory]) -> Numbers:
    return np.array(
        [np.nan if memory.similarity is None else memory.similarity for memory in memories], dtype=np.float64
    )
