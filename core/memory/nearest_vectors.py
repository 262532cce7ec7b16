"""Exact nearest neighbours from an in-process cache.

What is kept is never trusted by age. Each question reads which rows the database has written since the last one (by
their transaction ids) and how many there are, so that an answer is what a scan over all rows would give at that moment.
What nobody asked about for `KEPT_SECONDS` goes with the next question, as does the longest unused above `KEPT_BYTES`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final
from uuid import UUID
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, text

from core.storage.db import Tx

KEPT_BYTES: Final = 256 * 1024 * 1024
"""Vectors that a process keeps: of 150,000 memories in 384 dimensions."""

KEPT_SECONDS: Final = 600
"""Vectors that were not asked for since so long are let go: a user who is gone shall not stay in memory."""

ASKED: Final = 64
"""Vectors compared at once: with 50,000 memories their cosines take 13 MB."""

SPARE: Final = 1.25
"""Room that is made when a user's vectors outgrow what they have, so that few of them are ever moved."""

Vectors = NDArray[np.float32]
Near = list[tuple[UUID, float]]


def nearest(tx: Tx, user_id: str, vectors: Vectors, limit: int) -> list[Near]:
    """For each vector the user's nearest memories with their cosines, nearest first, whatever their status."""
    if not len(vectors):
        return []
    tenant_id = tx.execute(_TENANT).scalar_one()
    shelf = _of(tx.engine).shelf(tenant_id, user_id)
    with shelf.lock:
        shelf.refresh(tx, user_id, vectors.shape[1])
        return shelf.nearest(vectors, limit)


class _Shelf:
    """One user's vectors, of length 1, in the order in which they were read."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.asked = time.monotonic()
        self.bytes = 0
        self._horizon: str | None = None
        self._clear(0)

    def refresh(self, tx: Tx, user_id: str, dimension: int) -> None:
        """Read what has changed since the last time; all, where something has gone or vectors have another length."""
        if self._horizon is None or self._rows.shape[1] != dimension:
            self._horizon = None
            self._clear(dimension)
        values = {"user": user_id, "dimension": dimension}
        row = tx.execute(CHANGED, values | {"horizon": self._horizon}).one()
        self._take(row.refs, row.vectors)
        if row.rows != len(self._refs):
            self._clear(dimension)
            row = tx.execute(CHANGED, values | {"horizon": None}).one()
            self._take(row.refs, row.vectors)
        # What this transaction itself has written may be rolled back, and is then to be forgotten.
        self._horizon = None if row.writes else row.horizon
        self.bytes = self._rows.nbytes

    def nearest(self, vectors: Vectors, limit: int) -> list[Near]:
        """By one product of matrices for every `ASKED` vectors."""
        asked = _unit(vectors.astype(np.float16).astype(np.float32))
        return [
            near for start in range(0, len(asked), ASKED) for near in self._near(asked[start : start + ASKED], limit)
        ]

    def _near(self, asked: Vectors, limit: int) -> list[Near]:
        count = len(self._refs)
        cosines = asked @ self._rows[:count].T
        kept = min(limit, count)
        best = np.argpartition(cosines, count - kept, axis=1)[:, count - kept :] if kept < count else None
        return [self._sorted(row, range(count) if best is None else best[at]) for at, row in enumerate(cosines)]

    def _sorted(self, cosines: Vectors, places: Sequence[int] | NDArray[np.intp]) -> Near:
        """What lies at a right angle has nothing to do with it, or has no vector at all."""
        found = sorted((-float(cosines[place]), self._refs[place]) for place in places if cosines[place] > 0)
        return [(UUID(ref), -cosine) for cosine, ref in found]

    def _clear(self, dimension: int) -> None:
        self._refs: list[str] = []
        self._places: dict[str, int] = {}
        self._rows = np.empty((0, dimension), dtype=np.float32)

    def _take(self, refs: Sequence[str] | None, halves: bytes | None) -> None:
        """Put vectors on the shelf, a memory's new one in place of its old one."""
        if not refs or halves is None:
            return
        for ref in refs:
            if self._places.setdefault(ref, len(self._refs)) == len(self._refs):
                self._refs.append(ref)
        if len(self._refs) > len(self._rows):
            room = np.empty((int(len(self._refs) * SPARE), self._rows.shape[1]), dtype=np.float32)
            room[: len(self._rows)] = self._rows
            self._rows = room
        read = np.frombuffer(halves, dtype=">f2").reshape(len(refs), -1)
        self._rows[[self._places[ref] for ref in refs]] = _unit(read.astype(np.float32))


class _Shelves:
    """The shelves of one database's users, the longest unused first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: OrderedDict[tuple[str, str], _Shelf] = OrderedDict()

    def shelf(self, tenant_id: str, user_id: str) -> _Shelf:
        """The user's shelf, after those were let go for which there is no time or room."""
        now = time.monotonic()
        with self._lock:
            mine = self._shelves.pop((tenant_id, user_id), None) or _Shelf()
            self._let_go(now, KEPT_BYTES - mine.bytes)
            mine.asked = now
            self._shelves[tenant_id, user_id] = mine
            return mine

    def sweep(self) -> None:
        """Let go of those for which there is no time or room."""
        with self._lock:
            self._let_go(time.monotonic(), KEPT_BYTES)

    def _let_go(self, now: float, room: int) -> None:
        kept = sum(one.bytes for one in self._shelves.values())
        for key, one in list(self._shelves.items()):
            if kept > room or now - one.asked > KEPT_SECONDS:
                kept -= self._shelves.pop(key).bytes


def sweep() -> None:
    """Let go of the vectors of users for whom nothing was judged lately."""
    with _OPENING:
        every = list(_OPEN.values())
    for one in every:
        one.sweep()


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)


def _of(engine: Engine) -> _Shelves:
    """What is kept of a database; it goes with the connections to it."""
    with _OPENING:
        return _OPEN.setdefault(engine, _Shelves())


_OPENING = threading.Lock()
_OPEN: WeakKeyDictionary[Engine, _Shelves] = WeakKeyDictionary()

_TENANT = text("SELECT current_setting('imprint.tenant')")

CHANGED = text("""
    SELECT count(*) AS rows, pg_current_xact_id_if_assigned() IS NOT NULL AS writes,
           (pg_snapshot_xmin(pg_current_snapshot())::text::numeric % 4294967296)::text AS horizon,
           array_agg(i.ref) FILTER (WHERE i.recent) AS refs,
           string_agg(CASE WHEN vector_dims(i.embedding) = :dimension THEN substr(halfvec_send(i.embedding), 5)
                           ELSE decode(repeat('0000', :dimension), 'hex') END, ''::bytea)
               FILTER (WHERE i.recent) AS vectors
    FROM (
        SELECT ref, embedding,
               age(xmin) <= (SELECT coalesce(age(cast(cast(:horizon AS text) AS xid)), 2147483647)) AS recent
        FROM search_index
        WHERE user_id = :user AND type = 'memory'
    ) AS i
""")
"""How many there are, and those written by transactions that had not ended when it was last read.

A row whose transaction had ended by then was read then. One that was deleted since makes the count differ. Without a
vector, or with one of another length, it gets one of noughts, which is near to nothing.
"""
