"""Per-owner cache of index rows, validated per query.

No entry is trusted by age. Each query asks the database which of the owner's rows were written by transactions that had
not ended at the last query (triggers note them in `search_changes`), and reads those again. No text is cached: answers
read their texts from the database, in the transaction that asks. An entry idle for `KEPT_SECONDS` is evicted by the
next query of anyone or by the clock (`core.maintenance.cache_sweeper`), as are the longest unused above `KEPT_BYTES`.
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
from core.index.resident import loading, segments
from core.index.resident.arrays import Places
from core.index.resident.columns import Columns
from core.index.resident.loading import MEMORIES, MESSAGES_AND_MEMORIES, Rows
from core.index.resident.segments import Registers
from core.index.resident.snapshot import NO_PAIRS, NOTHING, View
from core.index.search_index import owners
from core.storage.db import Tx

KEPT_BYTES: Final = 512 * 1024 * 1024
"""Limit of a process: some 240,000 rows with vectors of 384 dimensions, 350,000 where owners have many."""

KEPT_SECONDS: Final = 600
"""An entry idle for so long is evicted: rows of a user who has left shall not stay in memory."""

SWEPT_SECONDS: Final = 1.0
"""Least time between two searches for entries to evict: with many entries one takes longer than a query."""

FORGOTTEN_SECONDS: Final = 3600
"""Age at which `core.maintenance.sweeps` deletes notes of changes: no entry is idle for so long."""

MUCH: Final = 2_000
"""Changed rows above which all are read again: naming each would cost as much."""

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
class State:
    """Cached rows, and when they were valid: `horizon` is the oldest transaction that had not ended by then."""

    view: View
    horizon: int | None
    seen: str | None = None
    """The database's snapshot. It names later transactions that had ended, so that an open one costs no rereads."""


@dataclass(frozen=True, slots=True)
class Check:
    """The state before it is validated, and the parameters that validate it."""

    state: State
    rows: Rows
    dimension: int

    @property
    def usable(self) -> bool:
        """True if rows were read before, with vectors of this dimension."""
        return self.state.horizon is not None and self.state.view.dimension in {0, self.dimension}

    @property
    def values(self) -> dict[str, Any]:
        """The parameters of `CHANGED`."""
        return {
            "owners": [EVERYONE, *owners(self.rows.user_id, self.rows.group_id)],
            "kinds": list(self.rows.types),
            "seen": self.state.seen if self.usable else None,
            "most": MUCH,
        }


class Shelf:
    """Rows of one user, one group, or both."""

    def __init__(self, rows: Rows) -> None:
        self.used_at = time.monotonic()
        self.state = State(NOTHING, None)
        self._rows = rows
        self._lock = threading.Lock()

    def check(self, dimension: int) -> Check:
        """Return what `CHANGED` must be asked before the rows are used."""
        return Check(self.state, self._rows, dimension)

    def view(self, tx: Tx, check: Check, changes: Changes) -> View:
        """Return the rows as they are now, by the answer to `CHANGED`. Threads validate at once and read in turn."""
        state = check.state
        if check.usable and not changes.types and changes.horizon >= (state.horizon or 0):
            # Threads may overtake each other here: an older horizon only has rows read twice.
            self._keep(State(state.view, changes.horizon, changes.seen), changes)
            metrics.SEARCH_READS.labels("nothing").inc()
            return state.view
        with self._lock:
            if self.state is not state:  # Another thread has read: what was read earlier must not replace its rows.
                check = Check(self.state, check.rows, check.dimension)
                changes = tx.execute(CHANGED, check.values).one()
            return self._read(tx, check, changes)

    def _read(self, tx: Tx, check: Check, changes: Changes) -> View:
        """Read what has changed, or all. Under the lock."""
        view, changed = check.state.view, _changed(changes)
        # A database restored to an earlier state counts its transactions from there.
        known = check.usable and len(view) > 0 and changes.horizon >= (check.state.horizon or 0)
        kind = "nothing"
        if not known or len(changed) > MUCH or any(not ref for _, _, ref in changed):
            kind = "whole"
            view = _first(tx, loading.load_all(tx, check.rows, check.dimension), check.rows)
        elif changed:
            kind = "delta"
            read = loading.load_named(tx, check.rows, changed, check.dimension)
            view = _renewed(tx, view, read, [ref for type_, _, ref in changed if type_ == "memory"], check.rows)
        metrics.SEARCH_READS.labels(kind).inc()
        self._keep(State(view, changes.horizon, changes.seen), changes)
        return view

    def _keep(self, state: State, changes: Changes) -> None:
        """Store a state, unless its transaction has written: what it read may be rolled back."""
        if not changes.writes:
            self.state = state


class Shelves:
    """The entries of one database, the longest unused first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[tuple[str, Rows], Shelf] = OrderedDict()
        self._swept_at = 0.0

    def owner(self, tenant_id: str, user_id: str | None, group_id: str | None) -> Shelf:
        """Return the entry of a user's, a group's or both messages and memories."""
        with self._lock:
            return self._used(tenant_id, Rows(user_id, group_id, MESSAGES_AND_MEMORIES))

    def memories(self, tenant_id: str, user_id: str) -> Shelf:
        """Return an entry with all memories of a user: the one with the messages, if searches have filled it."""
        every = Rows(user_id, None, MESSAGES_AND_MEMORIES)
        with self._lock:
            filled = self._entries.get((tenant_id, every))
            there = filled is not None and filled.state.horizon is not None
            return self._used(tenant_id, every if there else Rows(user_id, None, MEMORIES))

    def _used(self, tenant_id: str, rows: Rows) -> Shelf:
        now = time.monotonic()
        mine = self._entries.pop((tenant_id, rows), None)
        if mine is None or now - mine.used_at > KEPT_SECONDS:
            mine = Shelf(rows)
        mine.used_at = now
        self._entries[tenant_id, rows] = mine
        if now - self._swept_at >= SWEPT_SECONDS:
            self._swept_at = now
            self._evict(now)
        return mine

    def _evict(self, now: float) -> None:
        kept = sum(one.state.view.bytes for one in self._entries.values())
        for key, one in list(self._entries.items()):
            idle = now - one.used_at
            # Queries about users that do not exist leave empty entries behind.
            if kept > KEPT_BYTES or idle > KEPT_SECONDS or (not len(one.state.view) and idle > SWEPT_SECONDS):
                kept -= self._entries.pop(key).state.view.bytes

    def sweep(self) -> None:
        """Evict what is idle or too much."""
        with self._lock:
            self._evict(time.monotonic())

    def usage(self) -> tuple[int, int]:
        """Return the number of entries and the bytes of their rows."""
        with self._lock:
            return len(self._entries), sum(one.state.view.bytes for one in self._entries.values())

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()


def of(engine: Engine) -> Shelves:
    """Return the cache of a database; it goes with the connections to it."""
    with _OPENING:
        return _OPEN.setdefault(engine, Shelves())


def sweep() -> None:
    """Evict idle entries of all databases, and publish what is left as metrics."""
    with _OPENING:
        every = list(_OPEN.values())
    for one in every:
        one.sweep()
    usage = [one.usage() for one in every]
    metrics.SEARCH_KEPT_USERS.set(sum(entries for entries, _ in usage))
    metrics.SEARCH_KEPT_BYTES.set(sum(size for _, size in usage))


def _changed(changes: Changes) -> list[tuple[str, str, str]]:
    """Return type, session and id of each row written since the last horizon."""
    if not changes.types:
        return []
    return list(dict.fromkeys(zip(changes.types, changes.sessions or (), changes.refs or (), strict=True)))


def _first(tx: Tx, read: Columns, rows: Rows) -> View:
    registers = Registers()
    only = segments.layer(registers, read)
    memories = only.keys[read.fields["memory"]].tolist()
    return View(registers, [only], _cites(tx, registers, memories, rows))


def _renewed(tx: Tx, view: View, read: Columns, memories: Sequence[str], rows: Rows) -> View:
    """Return a snapshot with the rows read in the place of the old ones, without memories that have gone."""
    registers = view.registers
    left = [one.columns for one in view.layers]
    gone = set(memories) - set(read.keys)
    if any(view.place(key) is not None for key in gone):
        left = [segments.without(one, gone) for one in left]
    kept = view.layers[: segments.untouched(view.layers, left, len(read))]
    top = read
    for below in reversed(left[len(kept) :]):
        top = segments.merged(below, top)
    others = view.cites[~np.isin(view.cites[:, 0], registers.rows.of(memories))]
    cites = _cites(tx, registers, [key for key in memories if key not in gone], rows)
    return View(registers, [*kept, segments.layer(registers, top)], np.concatenate([others, cites]))


def _cites(tx: Tx, registers: Registers, memories: Sequence[str], rows: Rows) -> Places:
    """Return the pairs of these memories and the messages they cite; none where no messages are cached."""
    if "message" not in rows.types:
        return NO_PAIRS
    pairs, of = loading.citations(tx, memories), registers.rows.of
    read = [np.stack([of(citing), of(cited)], axis=1) for citing, cited in pairs]
    return np.concatenate([NO_PAIRS, *read])


_OPENING = threading.Lock()
_OPEN: WeakKeyDictionary[Engine, Shelves] = WeakKeyDictionary()

CHANGED = text(f"""
    SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon,
           cast(pg_current_snapshot() AS text) AS seen, pg_current_xact_id_if_assigned() IS NOT NULL AS writes,
           c.types, c.sessions, c.refs
    FROM (SELECT array_agg(type) AS types, array_agg(session_id) AS sessions, array_agg(ref) AS refs
          FROM (SELECT DISTINCT type, session_id, ref FROM search_changes
                WHERE owner = ANY(:owners) AND (type = ANY(:kinds) OR owner = '{EVERYONE}')
                  AND at >= cast(cast(pg_snapshot_xmin(cast(cast(:seen AS text) AS pg_snapshot)) AS text) AS bigint)
                  AND NOT pg_visible_in_snapshot(
                      cast(cast(at AS text) AS xid8), cast(cast(:seen AS text) AS pg_snapshot))
                LIMIT :most + 1) AS c) AS c
""")
"""Notes of transactions from the horizon on: those before had all ended, and were visible, when it was taken."""
