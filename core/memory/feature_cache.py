"""Per-user cache of what the numbers of `core.memory.known_set` say of memories, by id and time of the last change.

It holds digests of this process and numbers, no text and no word. Rows that no judgement has asked for within
`memoize.KEPT_SECONDS` are dropped, those of erased memories among them, by the next `sweep`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import Engine

from core.memoize import KEPT_SECONDS, digest
from core.memory import known_set, stored_features
from core.memory.codes import microseconds
from core.memory.identity import KnownMemory
from core.memory.known_set import FEATURES, Described, Places
from core.memory.rows import MemoryRow

MOST: Final = 32_768
"""Memories of all users together: 20 MB."""

_MOST_AT_ONCE: Final = MOST // 2
"""Memories of a user that are read at once; each takes half of the time that it takes to read it by its id."""

_ROOM: Final = 1_024
"""Rows by which the columns of a user grow at least."""


class ReadMemory(NamedTuple):
    """A memory as it was read, with the time of its last change and its stored features, if it has any."""

    stamp: int
    memory: KnownMemory
    stored: bytes | None = None


class StoredRows(NamedTuple):
    """Memories whose features are stored, without their texts: what describes them, the times of their last changes."""

    described: Described
    stamps: Sequence[int]
    stored: Sequence[bytes]

    def taken(self, places: Sequence[int]) -> StoredRows:
        """Return some of them."""
        columns: Any = ([column[n] for n in places] for column in self.described)
        return StoredRows(Described(*columns), [self.stamps[n] for n in places], [self.stored[n] for n in places])


class UserFeatures:
    """Features of the memories of one user, and when each was asked for last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[str, int] = {}
        self._stamps: list[int] = []
        self._used = np.zeros(0)
        self._rows = np.zeros(0, dtype=FEATURES)

    def __len__(self) -> int:
        return len(self._stamps)

    def stamps(self, keys: Sequence[str]) -> list[int]:
        """Return when each memory was changed last, as far as it is known here; else 0."""
        with self._lock:
            places = self._places
            return [self._stamps[places[key]] if key in places else 0 for key in keys]

    def take(self, keys: Sequence[str], read: Mapping[str, ReadMemory]) -> Places | None:
        """Return the rows of memories, of those in `read` by their stamps and texts.

        None: some are neither read nor known, because they were dropped in the meantime.
        """
        with self._lock:
            new = [key for key, entry in read.items() if self._stamp(key) != entry.stamp]
            stored = [(key, read[key]) for key in new if stored_features.is_current(read[key].stored)]
            if stored:
                self._add_stored(_stored_rows(stored))
            if len(stored) < len(new):
                self._add_read([(key, read[key]) for key in new if not stored_features.is_current(read[key].stored)])
            if not all(key in self._places for key in keys):
                return None
            places = np.array([self._places[key] for key in keys], dtype=np.int64)
            self._used[places] = time.monotonic()
            return self._rows.take(places)

    def lacks_most(self, count: int) -> bool:
        """Return whether so many memories should be read at once, because a quarter of them is known, but not most."""
        return count <= _MOST_AT_ONCE and count <= 4 * len(self._places) <= 3 * count

    def add(self, rows: StoredRows) -> None:
        """Add memories that are not known as they are now."""
        with self._lock:
            keys = rows.described.keys
            new = [n for n, key in enumerate(keys) if self._stamp(key) != rows.stamps[n]]
            if new:
                self._add_stored(rows.taken(new))

    def drop(self, until: float, most: int) -> None:
        """Drop what was asked for last before then, and the longest unused above `most`."""
        with self._lock:
            used = self._used[: len(self)]
            kept = used > until
            kept[list(set(range(len(self))) - set(self._places.values()))] = False  # There is a later row of the same.
            if np.count_nonzero(kept) > most:
                kept &= used >= np.sort(used)[-most]
            if not kept.all():
                self._keep(np.flatnonzero(kept))

    def _stamp(self, key: str) -> int:
        position = self._places.get(key)
        return 0 if position is None else self._stamps[position]

    def _add_read(self, new: Sequence[tuple[str, ReadMemory]]) -> None:
        rows = known_set.features_of([entry.memory for _, entry in new])
        self._add([key for key, _ in new], [entry.stamp for _, entry in new], rows)

    def _add_stored(self, new: StoredRows) -> None:
        rows = known_set.features_of_stored(new.described, stored_features.decoded(new.stored))
        self._add(new.described.keys, new.stamps, rows)

    def _add(self, keys: Sequence[str], stamps: Sequence[int], rows: Places) -> None:
        start, end = len(self), len(self) + len(keys)
        if end > len(self._rows):
            self._grow(end)
        self._rows[start:end] = rows
        self._used[start:end] = time.monotonic()
        self._stamps += stamps
        self._places.update(zip(keys, range(start, end), strict=True))

    def _grow(self, rows: int) -> None:
        count, height = len(self), rows + max(_ROOM, rows // 4)
        taller, used = np.zeros(height, dtype=FEATURES), np.zeros(height)
        taller[:count], used[:count] = self._rows[:count], self._used[:count]
        self._rows, self._used = taller, used

    def _keep(self, places: Places) -> None:
        self._rows, self._used = self._rows[places], self._used[places]
        moved = dict(zip(places.tolist(), range(len(places)), strict=True))
        self._stamps = [self._stamps[position] for position in moved]
        self._places = {key: moved[position] for key, position in self._places.items() if position in moved}


def _stored_rows(read: Sequence[tuple[str, ReadMemory]]) -> StoredRows:
    described = _described([key for key, _ in read], [entry.memory for _, entry in read])
    return StoredRows(described, [entry.stamp for _, entry in read], [entry.stored or b"" for _, entry in read])


def _written_rows(rows: Sequence[MemoryRow]) -> StoredRows:
    described = _described([str(row.id) for row in rows], rows)
    return StoredRows(described, [microseconds(row.updated_at) for row in rows], [row.features or b"" for row in rows])


def _described(keys: Sequence[str], memories: Sequence[KnownMemory] | Sequence[MemoryRow]) -> Described:
    return Described(
        keys,
        [microseconds(memory.said_at or memory.occurred_at) for memory in memories],
        [memory.subject for memory in memories],
        [memory.attribute for memory in memories],
        [memory.category for memory in memories],
    )


class FeatureCache:
    """The users of one database, the longest unused first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: OrderedDict[bytes, UserFeatures] = OrderedDict()

    def user(self, tenant_id: str, user_id: str) -> UserFeatures:
        """Return the features of a user's memories."""
        name = digest(tenant_id, user_id)
        with self._lock:
            features = self._users.pop(name, None)
            if features is None:
                features = UserFeatures()
            self._users[name] = features
            total = sum(map(len, self._users.values()))
            while total > MOST and len(self._users) > 1:
                total -= len(self._users.popitem(last=False)[1])
        if total > MOST:
            features.drop(0.0, MOST // 2)
        return features

    def written(self, tenant_id: str, user_id: str, rows: Iterable[MemoryRow]) -> None:
        """Take over what this process writes of a user whose memories it compares.

        If it is rolled back, nobody ever asks for these ids and times.
        """
        with self._lock:
            features = self._users.get(digest(tenant_id, user_id))
        if features is not None:
            features.add(_written_rows([row for row in rows if stored_features.is_current(row.features)]))

    def sweep(self) -> None:
        """Drop what nobody has asked for lately."""
        until = time.monotonic() - KEPT_SECONDS
        with self._lock:
            users = list(self._users.items())
        for _, features in users:
            features.drop(until, MOST)
        with self._lock:
            for key, features in users:
                if not len(features) and self._users.get(key) is features:
                    del self._users[key]


def of(engine: Engine) -> FeatureCache:
    """Return the cache of a database; it goes with the connections to it."""
    with _LOCK:
        return _CACHES.setdefault(engine, FeatureCache())


def sweep() -> None:
    """Drop what nobody has asked for lately, of all databases."""
    with _LOCK:
        every = list(_CACHES.values())
    for cache in every:
        cache.sweep()


_LOCK = threading.Lock()
_CACHES: WeakKeyDictionary[Engine, FeatureCache] = WeakKeyDictionary()
