"""A user's rows kept at hand in the process, as they stand in the database at each question.

What is kept is never trusted by age. Each question asks the database which of the owner's rows were written by
transactions that had not ended when it was asked last (triggers note them in `search_changes`), and reads those anew.
No text is kept: what a search answers is read from the database, in the transaction that asks. What nobody asked about
for `KEPT_SECONDS` is let go with the next question of anyone, as is the longest unused above `KEPT_BYTES`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, text

from core.db import Tx
from core.search import columns
from core.search.candidates import Floats, Places, Texts
from core.search.columns import FIELDS, Columns
from core.search.index import owners

KEPT_BYTES: Final = 512 * 1024 * 1024
"""What a process keeps at the most: some 200,000 rows with vectors of 384 dimensions."""

KEPT_SECONDS: Final = 600
"""What was not asked for since so long is let go: a user who is gone shall not stay in memory."""

SWEPT_SECONDS: Final = 1.0
"""So often it is looked for what to let go: with many users at hand that takes longer than a question."""

FORGOTTEN_SECONDS: Final = 3600
"""Notes of changes older than this are deleted (`core.upkeep`): nothing is kept so long without being asked."""

MUCH: Final = 2_000
"""Changed rows from which on all are read anew: naming each would cost as much."""

EVERYONE: Final = ""
"""The owner of a note that names nobody: someone's rows and notes have gone (`core.erase_user`), all is read anew."""

LAYERS: Final = 4
"""A layer of rows is merged with the one below once it is no smaller by this factor: few layers, and few copies."""

ROW_BYTES: Final = 400
"""What a row takes besides its vector and its words: its key, and places."""


class Register:
    """A number for each of some texts, in the order in which they came."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def of(self, texts: Iterable[str], count: int) -> Places:
        """The numbers of texts; new ones are entered. Under the shelf's lock."""
        entered = self.numbers
        return np.fromiter((entered.setdefault(one, len(entered)) for one in texts), dtype=np.int64, count=count)


@dataclass(frozen=True, slots=True)
class Registers:
    """Of rows by their keys, of sessions and of speakers."""

    rows: Register = field(default_factory=Register)
    sessions: Register = field(default_factory=Register)
    speakers: Register = field(default_factory=Register)


def _joined(parts: Sequence[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    """One array of several; the only one as it is."""
    return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, dtype)])


@dataclass(frozen=True, slots=True)
class Layer:
    """Rows that were read together, with the numbers of their keys, sessions and speakers."""

    columns: Columns
    keys: Texts
    numbers: Places
    sessions: Places
    speakers: Places

    def __len__(self) -> int:
        return len(self.keys)


class View:
    """What was at hand at a moment; it never changes. A row that was read anew later is dead in its first layer.

    `cites`: pairs of a memory and a message that it rests on, by the numbers of their keys.
    """

    def __init__(self, registers: Registers, layers: Sequence[Layer], cites: Places) -> None:
        self.registers = registers
        self.layers = layers
        self.cites = cites
        self.starts = np.cumsum([0, *map(len, layers)])
        sent = _joined([one.columns.fields for one in layers], FIELDS)
        self.fields: Mapping[str, NDArray[Any]] = {
            name: np.ascontiguousarray(sent[name], FIELDS[name].newbyteorder("=")) for name in FIELDS.names or ()
        }
        self.keys: Texts = _joined([one.keys for one in layers], object)
        self.sessions: Places = _joined([one.sessions for one in layers], np.int64)
        self.speakers: Places = _joined([one.speakers for one in layers], np.int64)
        numbers: Places = _joined([one.numbers for one in layers], np.int64)
        self._row_of = np.full(len(registers.rows.numbers), -1, dtype=np.int64)
        self._row_of[numbers] = np.arange(len(numbers))  # Of a row that stands twice it is the last place.
        self.alive: NDArray[np.bool_] = self._row_of[numbers] == np.arange(len(numbers))
        both = self._row_of[cites].reshape(-1, 2)
        self.citations: Places = both[(both >= 0).all(axis=1)]
        """Pairs of places: a memory, and a message at hand that it rests on."""

    def __len__(self) -> int:
        return len(self.keys)

    def place(self, key: str) -> int | None:
        """Where a row stands; None: it is not there."""
        number = self.registers.rows.numbers.get(key, len(self._row_of))
        row = int(self._row_of[number]) if number < len(self._row_of) else -1
        return row if row >= 0 else None

    def tags(self, at: int) -> Sequence[str]:
        """The tags of the row at a place."""
        layer = int(np.searchsorted(self.starts, at, side="right")) - 1
        return self.layers[layer].columns.tags[at - int(self.starts[layer])]

    def lexical(self, asked: Mapping[int, float]) -> Floats:
        """How well the words of each row fit."""
        return _joined([one.columns.terms.products(asked, len(one)) for one in self.layers], np.float32)

    def cosines(self, vector: Floats | None) -> Floats:
        """How near each row's vector is; not a number where there is none."""
        if vector is None:
            return np.full(len(self), np.nan, dtype=np.float32)
        found = _joined([one.columns.vectors @ vector for one in self.layers], np.float32)
        found[~self.fields["embedded"]] = np.nan
        return found

    def vectors(self, places: Places) -> Floats:
        """The vectors of some rows."""
        found = np.empty((len(places), self.dimension), dtype=np.float32)
        for start, layer in zip(self.starts.tolist(), self.layers, strict=False):
            here = (places >= start) & (places < start + len(layer))
            found[here] = layer.columns.vectors[places[here] - start]
        return found

    @property
    def dimension(self) -> int:
        return self.layers[0].columns.vectors.shape[1] if self.layers else 0

    @cached_property
    def bytes(self) -> int:
        of_layers = (
            one.columns.vectors.nbytes + one.columns.terms.ids.nbytes * 4 + len(one) * ROW_BYTES for one in self.layers
        )
        return sum(of_layers)


@dataclass(frozen=True, slots=True)
class State:
    """What is at hand, and since when it may be out of date: `horizon` is the oldest transaction not seen to end."""

    view: View
    horizon: int | None
    seen: str | None = None
    """The snapshot: which later ones had ended nevertheless. One that stays open has nothing else read again."""


_NO_PAIRS: Final = np.empty((0, 2), dtype=np.int64)

NOTHING: Final = View(Registers(), (), _NO_PAIRS)


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

    def now(self, tx: Tx, user_id: str | None, group_id: str | None, dimension: int) -> View:
        """All rows as they are, read from the database as far as they are not at hand."""
        check = self.check(user_id, group_id, dimension)
        return self.view(tx, check, tx.execute(CHANGED, check.values).one())

    def check(self, user_id: str | None, group_id: str | None, dimension: int) -> Check:
        """What is to be asked, by `CHANGED`, before the rows are used."""
        whose = {"user": user_id, "group": group_id, "owners": [EVERYONE, *owners(user_id, group_id)]}
        return Check(self.state, whose, dimension)

    def view(self, tx: Tx, check: Check, answer: Any) -> View:
        """All rows as they are, by what was answered. Threads may check at once, and read one after the other."""
        state, (horizon, changed, there), seen = check.state, _told(answer), str(answer.seen)
        if check.usable and not changed and (there or not len(state.view)) and horizon >= (state.horizon or 0):
            # Threads may overtake each other here: an older horizon only has rows read twice.
            self.state = State(state.view, horizon, seen)
            return state.view
        with self._lock:
            return self._read(tx, Check(self.state, check.whose, check.dimension))

    def _read(self, tx: Tx, check: Check) -> View:
        """Under the lock, so that what was read earlier never takes the place of what was read later."""
        answer = tx.execute(CHANGED, check.values).one()
        horizon, changed, there = _told(answer)
        user_id, group_id, view = check.whose["user"], check.whose["group"], check.state.view
        # A database that was put back to an earlier state counts its transactions from there.
        known = check.usable and len(view) > 0 and horizon >= (check.state.horizon or 0)
        if not there:
            view = NOTHING
        elif not known or len(changed) > MUCH or any(not ref for _, _, ref in changed):
            view = _first(tx, columns.owned(tx, user_id, group_id, check.dimension))
        elif changed:
            read = columns.named(tx, user_id, group_id, changed, check.dimension)
            view = _renewed(tx, view, read, [ref for type_, _, ref in changed if type_ == "memory"])
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

    def clear(self) -> None:
        """Let go of everything."""
        with self._lock:
            self._shelves.clear()


def of(engine: Engine) -> Shelves:
    """What is kept of a database; it goes with the connections to it."""
    with _OPENING:
        return _OPEN.setdefault(engine, Shelves())


def _told(answer: Any) -> tuple[int, list[tuple[str, str, str]], bool]:
    """From when on rows may change unseen; those written since the last horizon; whether the owner has any at all."""
    notes = zip(answer.types, answer.sessions, answer.refs, strict=True) if answer.types else ()
    return int(answer.horizon), list(dict.fromkeys(notes)), bool(answer.there)


def _first(tx: Tx, read: Columns) -> View:
    registers = Registers()
    layer = _layer(registers, read)
    memories = layer.keys[read.fields["memory"]].tolist()
    return View(registers, [layer], _cites(tx, registers, memories))


def _renewed(tx: Tx, view: View, read: Columns, memories: Sequence[str]) -> View:
    """With what was read in the place of what was there; memories that are no longer there go."""
    registers = view.registers
    layers = [one.columns for one in view.layers]
    gone = set(memories) - set(read.keys)
    if any(view.place(key) is not None for key in gone):
        layers = [without(one, gone) for one in layers]
    kept = view.layers[: _untouched(view.layers, layers, len(read))]
    top = read
    for below in reversed(layers[len(kept) :]):
        top = _merged(below, top)
    others = view.cites[~np.isin(view.cites[:, 0], registers.rows.of(memories, len(memories)))]
    cites = _cites(tx, registers, [key for key in memories if key not in gone])
    return View(registers, [*kept, _layer(registers, top)], np.concatenate([others, cites]))


def _untouched(layers: Sequence[Layer], left: Sequence[Columns], new: int) -> int:
    """How many of the lowest layers stay as they are when `new` rows come on top."""
    # What lost a row, and all above it, is put together anew.
    same = next((at for at, one in enumerate(layers) if one.columns is not left[at]), len(layers))
    size = new
    for at in reversed(range(len(layers))):
        if at < same and len(left[at]) > LAYERS * size:
            return at + 1
        size += len(left[at])
    return 0


def _layer(registers: Registers, read: Columns) -> Layer:
    count = len(read)
    keys = np.empty(count, dtype=object)
    keys[:] = read.keys
    return Layer(
        read,
        keys,
        registers.rows.of(read.keys, count),
        registers.sessions.of(read.sessions, count),
        registers.speakers.of(read.speakers, count),
    )


def _cites(tx: Tx, registers: Registers, memories: Sequence[str]) -> Places:
    citing, cited = columns.cited(tx, memories)
    rows = registers.rows
    return np.stack([rows.of(citing, len(citing)), rows.of(cited, len(cited))], axis=1)


def in_place_of(view: View, read: Columns) -> View:
    """Other rows under the same keys, in one layer; not under the lock, so that no shared register may grow."""
    registers = Registers(view.registers.rows)
    return View(registers, [_layer(registers, read)], view.cites)


def whole(view: View) -> Columns:
    """All rows that live, in one."""
    read = columns.none(view.dimension)
    for layer in view.layers:
        read = _merged(read, layer.columns)
    return read


def without(below: Columns, gone: set[str]) -> Columns:
    """The rows less those of some keys."""
    return below if gone.isdisjoint(below.keys) else _kept(below, [key not in gone for key in below.keys])


def _merged(below: Columns, newest: Columns) -> Columns:
    """One layer of two; a row that is in both is as in the newest."""
    new = set(newest.keys)
    old = below if new.isdisjoint(below.keys) else _kept(below, [key not in new for key in below.keys])
    ids = np.concatenate([old.terms.ids, newest.terms.ids])
    order = np.argsort(ids, kind="stable")
    return Columns(
        [*old.keys, *newest.keys],
        [*old.sessions, *newest.sessions],
        [*old.speakers, *newest.speakers],
        [*old.tags, *newest.tags],
        np.concatenate([old.fields, newest.fields]),
        np.concatenate([old.vectors, newest.vectors]),
        columns.Terms(
            ids[order],
            np.concatenate([old.terms.rows, newest.terms.rows + len(old)])[order],
            np.concatenate([old.terms.weights, newest.terms.weights])[order],
        ),
    )


def _kept(below: Columns, wanted: Sequence[bool]) -> Columns:
    """Some of the rows."""
    mask = np.array(wanted, dtype=np.bool_)
    moved = np.cumsum(mask) - 1
    entries = mask[below.terms.rows]
    return Columns(
        list(compress(below.keys, wanted)),
        list(compress(below.sessions, wanted)),
        list(compress(below.speakers, wanted)),
        list(compress(below.tags, wanted)),
        below.fields[mask],
        below.vectors[mask],
        columns.Terms(below.terms.ids[entries], moved[below.terms.rows[entries]], below.terms.weights[entries]),
    )


_OPENING = threading.Lock()
_OPEN: WeakKeyDictionary[Engine, Shelves] = WeakKeyDictionary()

CHANGED = text("""
    SELECT cast(cast(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint) AS horizon,
           cast(pg_current_snapshot() AS text) AS seen,
           EXISTS (SELECT FROM search_index WHERE user_id = :user AND type IN ('message', 'memory'))
           OR EXISTS (SELECT FROM search_index WHERE group_id = :group AND type IN ('message', 'memory')) AS there,
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
