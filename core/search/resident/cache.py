"""Per-owner cache of index rows, validated per query.

What is kept is never trusted by age. Each question asks the database which of the owner's rows were written by
transactions that had not ended when it was asked last (triggers note them in `search_changes`), and reads those anew.
No text is kept: what a search answers is read from the database, in the transaction that asks. What nobody asked about
for `KEPT_SECONDS` is let go, with the next question of anyone or by the clock (`core.maintenance.cache_sweeper`), as is
the longest unused above `KEPT_BYTES`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from sqlalchemy import Engine, text

from core import metrics
from core.index.search_index import owners
from core.search.resident import loading, segments
from core.search.resident.candidates import Places
from core.search.resident.columns import Columns
from core.search.resident.segments import Registers
from core.search.resident.snapshot import NO_PAIRS, NOTHING, View
from core.storage.db import Tx

KEPT_BYTES: Final = 512 * 1024 * 1024
"""What a process keeps at the most: some 240,000 rows with vectors of 384 dimensions, of large users 350,000."""

KEPT_SECONDS: Final = 600
"""What was not asked for since so long is let go: a user who is gone shall not stay in memory."""

SWEPT_SECONDS: Final = 1.0
"""So often it is looked for what to let go: with many users at hand that takes longer than a question."""

FORGOTTEN_SECONDS: Final = 3600
"""Notes of changes older than this are deleted by `core.maintenance.sweeps`: no cache is idle for so long."""

MUCH: Final = 2_000
"""Changed rows from which on all are read anew: naming each would cost as much."""

EVERYONE: Final = ""
"""The owner of a note that names nobody: someone's rows and notes have gone (`core.erasure.user`), all is read anew."""


@dataclass(frozen=True, slots=True)
class State:
    """What is at hand, and since when it may be out of date: `horizon` is the oldest transaction not seen to end."""

    view: View
    horizon: int | None
    seen: str | None = None
    """The snapshot: which later ones had ended nevertheless. One that stays open has nothing else read again."""


@dataclass(frozen=True, slots=True)
class Check:
    """What is at hand of whom, before it is known whether it still holds."""

    state: State
    whose: Mapping[str, Any]
    dimension: int

    @property
    def usable(self) -> bool:
        """Whether anything was read before, with vectors of this length."""
        return self.state.horizon is not None and self.state.view.dimension in {0, self.dimension}

    @property
    def values(self) -> dict[str, Any]:
        """What `CHANGED` is asked with."""
        return {**self.whose, "seen": self.state.seen if self.usable else None, "most": MUCH}


class Shelf:
    """The rows of one user, one group, or both."""

    def __init__(self) -> None:
        self.asked = time.monotonic()
        self.state = State(NOTHING, None)
        self._lock = threading.Lock()

    def check(self, user_id: str | None, group_id: str | None, dimension: int) -> Check:
        """What is to be asked, by `CHANGED`, before the rows are used."""
        whose = {"user": user_id, "group": group_id, "owners": [EVERYONE, *owners(user_id, group_id)]}
        return Check(self.state, whose, dimension)

    def view(self, tx: Tx, check: Check, answer: Any) -> View:
        """All rows as they are, by what was answered. Threads may check at once, and read one after the other."""
        state, (horizon, changed), seen = check.state, _told(answer), str(answer.seen)
        if check.usable and not changed and horizon >= (state.horizon or 0):
            # Threads may overtake each other here: an older horizon only has rows read twice.
            self.state = State(state.view, horizon, seen)
            metrics.SEARCH_READS.labels("nothing").inc()
            return state.view
        with self._lock:
            return self._read(tx, Check(self.state, check.whose, check.dimension))

    def _read(self, tx: Tx, check: Check) -> View:
        """Under the lock, so that what was read earlier never takes the place of what was read later."""
        answer = tx.execute(CHANGED, check.values).one()
        horizon, changed = _told(answer)
        user_id, group_id, view = check.whose["user"], check.whose["group"], check.state.view
        # A database that was put back to an earlier state counts its transactions from there.
        known = check.usable and len(view) > 0 and horizon >= (check.state.horizon or 0)
        kind = "nothing"
        if not known or len(changed) > MUCH or any(not ref for _, _, ref in changed):
            kind = "whole"
            view = _first(tx, loading.owned(tx, user_id, group_id, check.dimension))
        elif changed:
            kind = "delta"
            read = loading.named(tx, user_id, group_id, changed, check.dimension)
            view = _renewed(tx, view, read, [ref for type_, _, ref in changed if type_ == "memory"])
        metrics.SEARCH_READS.labels(kind).inc()
        self.state = State(view, horizon, str(answer.seen))
        return view


class Shelves:
    """The shelves of one database, the longest unused first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: OrderedDict[tuple[str, str | None, str | None], Shelf] = OrderedDict()
        self._swept = 0.0

    def shelf(self, tenant_id: str, user_id: str | None, group_id: str | None) -> Shelf:
        """That of a user, a group or both; now and then those are let go for which there is no time or room."""
        now, key = time.monotonic(), (tenant_id, user_id, group_id)
        with self._lock:
            mine = self._shelves.pop(key, None)
            if mine is None or now - mine.asked > KEPT_SECONDS:
                mine = Shelf()
            mine.asked = now
            self._shelves[key] = mine
            if now - self._swept >= SWEPT_SECONDS:
                self._swept = now
                self._let_go(now)
            return mine

    def _let_go(self, now: float) -> None:
        kept = sum(one.state.view.bytes for one in self._shelves.values())
        for key, one in list(self._shelves.items()):
            idle = now - one.asked
            # Whoever asks about users that do not exist leaves empty shelves behind.
            if kept > KEPT_BYTES or idle > KEPT_SECONDS or (not len(one.state.view) and idle > SWEPT_SECONDS):
                kept -= self._shelves.pop(key).state.view.bytes

    def sweep(self) -> None:
        """Let go of those for which there is no time or room."""
        with self._lock:
            self._let_go(time.monotonic())

    def kept(self) -> tuple[int, int]:
        """Users at hand, and the bytes of their rows."""
        with self._lock:
            return len(self._shelves), sum(one.state.view.bytes for one in self._shelves.values())

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._shelves.clear()


def of(engine: Engine) -> Shelves:
    """What is kept of a database; it goes with the connections to it."""
    with _OPENING:
        return _OPEN.setdefault(engine, Shelves())


def sweep() -> None:
    """Let go of what nobody asks about, in all databases, and show what is left."""
    with _OPENING:
        every = list(_OPEN.values())
    for one in every:
        one.sweep()
    kept = [one.kept() for one in every]
    metrics.SEARCH_KEPT_USERS.set(sum(users for users, _ in kept))
    metrics.SEARCH_KEPT_BYTES.set(sum(size for _, size in kept))


def _told(answer: Any) -> tuple[int, list[tuple[str, str, str]]]:
    """From when on rows may change unseen, and those written since the last horizon."""
    notes = zip(answer.types, answer.sessions, answer.refs, strict=True) if answer.types else ()
    return int(answer.horizon), list(dict.fromkeys(notes))


def _first(tx: Tx, read: Columns) -> View:
    registers = Registers()
    only = segments.layer(registers, read)
    memories = only.keys[read.fields["memory"]].tolist()
    return View(registers, [only], _cites(tx, registers, memories))


def _renewed(tx: Tx, view: View, read: Columns, memories: Sequence[str]) -> View:
    """With what was read in the place of what was there; memories that are no longer there go."""
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
    cites = _cites(tx, registers, [key for key in memories if key not in gone])
    return View(registers, [*kept, segments.layer(registers, top)], np.concatenate([others, cites]))


def _cites(tx: Tx, registers: Registers, memories: Sequence[str]) -> Places:
    rows = registers.rows
    read = [np.stack([rows.of(citing), rows.of(cited)], axis=1) for citing, cited in loading.cited(tx, memories)]
    return np.concatenate([NO_PAIRS, *read])


_OPENING = threading.Lock()
_OPEN: WeakKeyDictionary[Engine, Shelves] = WeakKeyDictionary()

CHANGED = text("""
    SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon,
           cast(pg_current_snapshot() AS text) AS seen,
           c.types, c.sessions, c.refs
    FROM (SELECT array_agg(type) AS types, array_agg(session_id) AS sessions, array_agg(ref) AS refs
          FROM (SELECT DISTINCT type, session_id, ref FROM search_changes
                WHERE owner = ANY(:owners)
                  AND at >= cast(cast(pg_snapshot_xmin(cast(cast(:seen AS text) AS pg_snapshot)) AS text) AS bigint)
                  AND NOT pg_visible_in_snapshot(
                      cast(cast(at AS text) AS xid8), cast(cast(:seen AS text) AS pg_snapshot))
                LIMIT :most + 1) AS c) AS c
""")
"""Notes of transactions from the horizon on: those before had all ended, and could be seen, when it was taken."""
