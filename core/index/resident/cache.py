"""Per-owner cache of index rows, validated per query.

No entry is trusted by age. Each query asks the database which of the owner's rows were written by transactions that had
not ended at the last query (triggers note them in `search_changes`), and reads those again. No text is cached: answers
read their texts from the database, in the transaction that asks. An entry idle for `IDLE_SECONDS` is evicted by the
next query of anyone or by the clock (`core.maintenance.cache_sweeper`), as are the longest unused above `MOST_BYTES`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import Engine, text

from core import metrics
from core.baton import REQUESTS
from core.index.resident import loading, segments
from core.index.resident.arrays import Places
from core.index.resident.columns import Columns
from core.index.resident.loading import MEMORIES, MESSAGES_AND_MEMORIES, Citations, Pause, Rows
from core.index.resident.segments import Interners
from core.index.resident.snapshot import EMPTY, NO_PAIRS, Snapshot
from core.index.search_index import owners
from core.storage.db import INTERNAL, Sight, Tx
from core.storage.multiquery import BoundStatement

MOST_BYTES: Final = 512 * 1024 * 1024
"""Limit of a process: some 240,000 rows with vectors of 384 dimensions, 540,000 where owners have many."""

IDLE_SECONDS: Final = 600
"""Seconds after which an idle entry is evicted: rows of a user who has left must not stay in memory."""

SWEEP_SECONDS: Final = 1.0
"""Least time between two searches for entries to evict: with many entries one takes longer than a query."""

CHANGES_KEPT_SECONDS: Final = 3600
"""Age at which `core.maintenance.sweeps` deletes notes of changes: no entry is idle for so long."""

MOST_CHANGES: Final = 2_000
"""Changed rows above which all are read again: naming each would cost as much."""

READS: Final = ("whole", "delta", "nothing", "uncached")
"""Kinds of reads that are counted; the last one is a question that the database has answered."""

EVERYONE: Final = ""
"""Owner of a note that names nobody: rows and notes of a user were erased (`core.erasure.user`), all is read again."""


class Changes(Protocol):
    """The row of `CHANGED`."""

    @property
    def horizon(self) -> int: ...

    @property
    def seen(self) -> str: ...

    @property
    def writes(self) -> bool: ...

    @property
    def types(self) -> Sequence[str] | None: ...

    @property
    def sessions(self) -> Sequence[str] | None: ...

    @property
    def refs(self) -> Sequence[str] | None: ...


@dataclass(frozen=True, slots=True)
class CachedRows:
    """Cached rows, and when they were valid: `horizon` is the oldest transaction that had not ended by then."""

    view: Snapshot
    horizon: int | None
    seen: str | None = None
    """The database's snapshot. It names later transactions that had ended, so that an open one costs no rereads.

    On a standby it names none, so an open one does.
    """


@dataclass(frozen=True, slots=True)
class Validation:
    """The state before it is validated, and the parameters that validate it."""

    state: CachedRows
    rows: Rows
    dimension: int
    written: Sequence[str] = ()
    """Memories that have probably changed since; `expecting` reads them."""

    @property
    def expecting(self) -> list[BoundStatement | None]:
        """Return the statements that read what has probably changed, to be run behind `CHANGED`."""
        return loading.reading_memories(self.rows, self.written, self.dimension) if self.usable else [None, None]

    @property
    def usable(self) -> bool:
        """True if rows were read before, with vectors of this dimension."""
        return self.state.horizon is not None and self.state.view.dimension in {0, self.dimension}

    def valid(self, changes: Changes) -> bool:
        """Return whether the rows are as they were read, by the answer to `CHANGED`."""
        # A database restored to an earlier state counts its transactions from there.
        return self.usable and not changes.types and changes.horizon >= (self.state.horizon or 0)

    def reads_all(self, changes: Changes) -> bool:
        """Return whether all rows must be read."""
        if self.valid(changes):
            return False
        changed = _changed_rows(changes)
        current = self.usable and len(self.state.view) > 0 and changes.horizon >= (self.state.horizon or 0)
        return not current or len(changed) > MOST_CHANGES or any(not ref for _, _, ref in changed)

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of `CHANGED`."""
        return {
            "owners": [EVERYONE, *owners(self.rows.user_id, self.rows.group_id)],
            "kinds": list(self.rows.types),
            "seen": self.state.seen if self.usable else None,
            "most": MOST_CHANGES,
        }


class OwnerCache:
    """Rows of one user, one group, or both."""

    def __init__(self, rows: Rows) -> None:
        self.used_at = time.monotonic()
        self.state = CachedRows(EMPTY, None)
        self.filling = False
        """True while a thread fills it behind the questions (`core.index.resident.filling`)."""
        self.rows = rows
        self.written: Sequence[str] = ()
        """Memories that this process has written last."""
        self._lock = threading.Lock()

    def check(self, dimension: int) -> Validation:
        """Return what `CHANGED` must be asked before the rows are used."""
        written, self.written = self.written, ()  # Read once: the next question finds them unchanged.
        return Validation(self.state, self.rows, dimension, written)

    def discard(self, state: CachedRows) -> None:
        """Give up rows that must all be read again; among them may be some that were erased."""
        if self.state is state:
            self.state = CachedRows(EMPTY, None)

    def view(
        self,
        tx: Tx,
        check: Validation,
        changes: Changes,
        pause: Pause | None = None,
        *,
        few: bool = False,
        expected: Sequence[Sequence[Any]] = (),
    ) -> Snapshot:
        """Return the rows as they are now, by the answer to `CHANGED`. Threads validate at once and read in turn.

        If all rows are read, `pause` is called between pieces; `few`: they are so few that there is one piece.
        `expected`: the answers to `check.expecting`, if it was asked.
        """
        state = check.state
        if check.valid(changes):
            # Threads may overtake each other here: an older horizon only has rows read twice.
            self._keep(CachedRows(state.view, changes.horizon, changes.seen), changes)
            metrics.SEARCH_READS.labels("nothing").inc()
            return state.view
        with REQUESTS.holding(self._lock):
            if self.state is not state:  # Another thread has read: what was read earlier must not replace its rows.
                check = Validation(self.state, check.rows, check.dimension)
                changes, expected = tx.execute(CHANGED, check.values).one(), ()
            return self._read(tx, check, changes, pause, few=few, expected=expected)

    def _read(
        self,
        tx: Tx,
        check: Validation,
        changes: Changes,
        pause: Pause | None,
        *,
        few: bool,
        expected: Sequence[Sequence[Any]],
    ) -> Snapshot:
        """Read what has changed, or all. Under the lock."""
        view, changed = check.state.view, _changed_rows(changes)
        kind = "nothing"
        if check.reads_all(changes):
            kind = "whole"
            view = _load_few(tx, check) if few else _load_snapshot(tx, check, pause)
        elif changed:
            kind = "delta"
            were_expected = bool(expected) and {("memory", "", ref) for ref in check.written} >= set(changed)
            if were_expected:
                read = loading.memories_of(expected, check.dimension)
            else:
                read = loading.load_named(tx, check.rows, changed, check.dimension)
            view = _update_snapshot(tx, view, read, [ref for type_, _, ref in changed if type_ == "memory"], check.rows)
        metrics.SEARCH_READS.labels(kind).inc()
        self._keep(CachedRows(view, changes.horizon, changes.seen), changes)
        return view

    def _keep(self, state: CachedRows, changes: Changes) -> None:
        """Store a state, unless its transaction has written: what it read may be rolled back."""
        if not changes.writes:
            self.state = state


class ResidentCache:
    """The entries of one database, the longest unused first; readers with other labels have others."""

    def __init__(self) -> None:
        for kind in READS:
            metrics.SEARCH_READS.labels(kind)
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, Sight, Rows], OwnerCache] = OrderedDict()
        self._swept_at = 0.0

    def owner(self, tenant_id: str, user_id: str | None, group_id: str | None, sight: Sight = INTERNAL) -> OwnerCache:
        """Return the entry of a user's, a group's or both messages and memories, as far as a reader may see them."""
        with self._lock:
            return self._used(tenant_id, sight, Rows(user_id, group_id, MESSAGES_AND_MEMORIES))

    def memories(self, tenant_id: str, user_id: str, sight: Sight = INTERNAL) -> OwnerCache:
        """Return an entry with all memories of a user: the one with the messages, if searches have filled it."""
        every = Rows(user_id, None, MESSAGES_AND_MEMORIES)
        with self._lock:
            filled = self._entries.get((tenant_id, sight, every))
            there = filled is not None and filled.state.horizon is not None
            return self._used(tenant_id, sight, every if there else Rows(user_id, None, MEMORIES))

    def written(self, tenant_id: str, user_id: str, refs: Sequence[str]) -> None:
        """Note memories that this process has written: the next question asks for them in the same round trip."""
        with self._lock:
            for types in (MEMORIES, MESSAGES_AND_MEMORIES):
                entry = self._entries.get((tenant_id, INTERNAL, Rows(user_id, None, types)))
                if entry is not None:
                    entry.written = refs

    def _used(self, tenant_id: str, sight: Sight, rows: Rows) -> OwnerCache:
        now = time.monotonic()
        entry = self._entries.pop((tenant_id, sight, rows), None)
        if entry is None or now - entry.used_at > IDLE_SECONDS:
            entry = OwnerCache(rows)
        entry.used_at = now
        self._entries[tenant_id, sight, rows] = entry
        if now - self._swept_at >= SWEEP_SECONDS:
            self._swept_at = now
            self._evict(now)
        return entry

    def _evict(self, now: float) -> None:
        total_bytes = sum(entry.state.view.bytes for entry in self._entries.values())
        for key, entry in list(self._entries.items()):
            idle = now - entry.used_at
            # Queries about users that do not exist leave empty entries behind.
            empty = not len(entry.state.view) and not entry.filling
            if total_bytes > MOST_BYTES or idle > IDLE_SECONDS or (empty and idle > SWEEP_SECONDS):
                total_bytes -= self._entries.pop(key).state.view.bytes

    def sweep(self) -> None:
        """Evict what is idle or too much."""
        with self._lock:
            self._evict(time.monotonic())

    def usage(self) -> tuple[int, int]:
        """Return the number of entries and the bytes of their rows."""
        with self._lock:
            return len(self._entries), sum(entry.state.view.bytes for entry in self._entries.values())

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


def of(engine: Engine) -> ResidentCache:
    """Return the cache of a database; it goes with the connections to it."""
    with _LOCK:
        return _CACHES.setdefault(engine, ResidentCache())


def sweep() -> None:
    """Evict idle entries of all databases, and publish what is left as metrics."""
    with _LOCK:
        every = list(_CACHES.values())
    for cache in every:
        cache.sweep()
    usage = [cache.usage() for cache in every]
    metrics.SEARCH_KEPT_USERS.set(sum(entries for entries, _ in usage))
    metrics.SEARCH_KEPT_BYTES.set(sum(size for _, size in usage))


def _changed_rows(changes: Changes) -> list[tuple[str, str, str]]:
    """Return type, session and id of each row written since the last horizon."""
    if not changes.types:
        return []
    return list(dict.fromkeys(zip(changes.types, changes.sessions or (), changes.refs or (), strict=True)))


def _load_snapshot(tx: Tx, check: Validation, pause: Pause | None) -> Snapshot:
    interners, read = Interners(), loading.load_all(tx, check.rows, check.dimension, pause)
    only = segments.segment(interners, read)
    memories = only.keys[read.fields["memory"]].tolist()
    return Snapshot(interners, [only], _citations(tx, interners, memories, check.rows))


def _load_few(tx: Tx, check: Validation) -> Snapshot:
    interners = Interners()
    read, cited = loading.load_few(tx, check.rows, check.dimension)
    return Snapshot(interners, [segments.segment(interners, read)], _as_numbers(interners, cited))


def _update_snapshot(tx: Tx, view: Snapshot, read: Columns, memories: Sequence[str], rows: Rows) -> Snapshot:
    """Return a snapshot with the rows read in the place of the old ones, without memories that have gone."""
    interners = view.interners
    left = [segment.columns for segment in view.segments]
    removed = set(memories) - set(read.keys)
    if any(view.place(key) is not None for key in removed):
        left = [segments.without(columns, removed) for columns in left]
    unchanged = view.segments[: segments.count_unchanged(view.segments, left, len(read))]
    top = read
    for below in reversed(left[len(unchanged) :]):
        top = segments.merge(below, top)
    others = view.cites[~np.isin(view.cites[:, 0], interners.rows.of(memories))]
    cites = _citations(tx, interners, [key for key in memories if key not in removed], rows)
    return Snapshot(interners, [*unchanged, segments.segment(interners, top)], np.concatenate([others, cites]))


def _citations(tx: Tx, interners: Interners, memories: Sequence[str], rows: Rows) -> Places:
    """Return the pairs of these memories and the messages they cite; none where no messages are cached."""
    if "message" not in rows.types:
        return NO_PAIRS
    return _as_numbers(interners, loading.citations(tx, memories))


def _as_numbers(interners: Interners, pairs: Citations) -> Places:
    """Return pairs by the numbers of their keys."""
    of = interners.rows.of
    return np.concatenate([NO_PAIRS, *(np.stack([of(citing), of(cited)], axis=1) for citing, cited in pairs)])


_LOCK = threading.Lock()
_CACHES: WeakKeyDictionary[Engine, ResidentCache] = WeakKeyDictionary()

CHANGED = text(f"""
    SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon,
           CASE WHEN cast(pg_current_snapshot() AS text) LIKE '%:'
               THEN format('%1$s:%1$s:', pg_snapshot_xmin(pg_current_snapshot()))
               ELSE cast(pg_current_snapshot() AS text) END AS seen,
           pg_current_xact_id_if_assigned() IS NOT NULL AS writes,
           c.types, c.sessions, c.refs
    FROM (SELECT array_agg(type) AS types, array_agg(session_id) AS sessions, array_agg(ref) AS refs
          FROM (SELECT DISTINCT type, session_id, ref FROM search_changes
                WHERE owner = ANY(:owners) AND (type = ANY(:kinds) OR owner = '{EVERYONE}')
                  AND at >= cast(cast(pg_snapshot_xmin(cast(cast(:seen AS text) AS pg_snapshot)) AS text) AS bigint)
                  AND NOT pg_visible_in_snapshot(
                      cast(cast(at AS text) AS xid8), cast(cast(:seen AS text) AS pg_snapshot))
                LIMIT :most + 1) AS c) AS c
""")
"""Notes of transactions from the horizon on: those before had all ended, and were visible, when it was taken.

A standby's snapshot names no open transaction, though `xmin` is the oldest one: all from there on count as open, and
their rows are read again. Where none is open, a primary's snapshot has nothing between `xmin` and `xmax` either.
"""
