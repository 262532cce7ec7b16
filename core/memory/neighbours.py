"""Known memories that a candidate is compared with: same statement, same slot, nearest vectors.

Of memories that this process has met, only their ids and the times of their last change are read; their features are in
`core.memory.feature_cache`, and the texts of those that may matter are read when a judgement asks for them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Engine, TextClause, text

from core.errors import Conflict
from core.index.resident import columns
from core.index.resident.columns import Place
from core.index.resident.snapshot import Snapshot
from core.memory import feature_cache, identity, nearest_vectors, stored_features
from core.memory.feature_cache import ReadMemory, StoredRows
from core.memory.identity import KnownMemory
from core.memory.known_set import Described, KnownSet, KnownStatements
from core.memory.memories import ACTIVE_SQL, CROWD, KNOWN, PLACE_SQL, known_of
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from core.types import Candidate, Json

NEAREST: Final = 20
"""Nearest memories that a candidate is compared with: they hold 95 % of those that it ends."""


class Vanished(Conflict):
    """A memory was deleted without its index row, so that no cache was told; with rows read anew it is not found."""


Reopen = Callable[[], AbstractContextManager[Tx]]
"""Opens a transaction of the same tenant."""

Near = list[tuple[str, float]]
"""Ids of memories with their cosines."""


def of(
    tx: Tx,
    user_id: str,
    candidates: Sequence[Candidate],
    vectors: NDArray[np.float32],
    group_id: str | None = None,
    *,
    anywhere: bool = False,
    reopen: Reopen | None = None,
    search: Search | None = None,
    answers: Sequence[Sequence[Any]] = (),
) -> list[KnownSet]:
    """Return for each candidate the active memories to compare it with: nearest, same statement or slot.

    Only those said in the same group (or likewise in none) and to the same audience, that of the first candidate,
    because a confirmed or reworded memory would show one audience what was said to another. `anywhere`: from all.
    `reopen`: texts are read on demand, after the end of this transaction in others; None: all are read now.
    `search`: of these candidates and perhaps others, with the answers to its statements; None: they are run now.
    """
    if search is None:
        bound = nearest_vectors.bound(tx)
        search = Search(tx.engine, bound, user_id, candidates, vectors.shape[1], group_id, anywhere=anywhere)
        answers = run_together(tx, *search.asking)
    standing = _Found(tx, search, eager=reopen is None)
    *cached, same, named = answers
    compared = [dict(pairs) for pairs in _near(standing, search.cached.view(tx, *cached), vectors)]
    for cosines, keys, ids in zip(
        compared, standing.same(same, candidates), standing.named(named, candidates), strict=True
    ):
        for key in (*keys, *ids):
            cosines.setdefault(key, np.nan)
    return standing.sets(compared, reopen)


class Search:
    """Questions to the database that come before candidates are compared with anything.

    `asking`: its statements, to be run together with others.
    """

    def __init__(
        self,
        engine: Engine,
        bound: nearest_vectors.Bound,
        user_id: str,
        candidates: Sequence[Candidate],
        dimension: int,
        group_id: str | None = None,
        *,
        anywhere: bool = False,
    ) -> None:
        labels = sorted(candidates[0].audience_labels) if candidates else []
        self.user_id = user_id
        self.place: Json = {"group": group_id, "labels": labels, "anywhere": anywhere}
        self.said_to: Place | None = None if anywhere else (group_id, tuple(labels))
        self.features = feature_cache.of(engine).user(bound.tenant_id, user_id)
        self.cached = nearest_vectors.CachedMemories(engine, bound, user_id, dimension)
        self._statements = list(dict.fromkeys(map(_statement_of, candidates)))
        keys, subjects, slots = zip(*self._statements, strict=True) if self._statements else ((), (), ())
        parameters: Json = {"user": user_id, **self.place}
        related = list(dict.fromkeys(memory_id for candidate in candidates for memory_id in _related(candidate)))
        of_slots = {"subjects": list(subjects), "attributes": list(slots)} if any(slots) else {}
        self.asking: list[BoundStatement | None] = [
            *self.cached.asking,
            (_SAME if of_slots else _SAME_STATEMENTS, {**parameters, "keys": list(keys), **of_slots}),
            (_NAMED, {**parameters, "ids": related}) if related else None,
        ]

    def place_of(self, candidate: Candidate) -> int:
        """Return the number by which rows with the statement or the slot of a candidate name it."""
        return self._statements.index(_statement_of(candidate)) + 1


def _statement_of(candidate: Candidate) -> tuple[str, str, str | None]:
    """Return the key of a candidate's statement, its subject and its slot."""
    key = identity.statement_key(candidate.subject, candidate.content)
    return key, candidate.subject, identity.slot_of(candidate)


def _related(candidate: Candidate) -> Sequence[UUID]:
    return [memory.id for memory in candidate.relations.named] if candidate.relations else ()


def _near(standing: _Found, view: Snapshot, vectors: NDArray[np.float32]) -> list[Near]:
    """Return the nearest of each vector that stand.

    Those that have expired may crowd them out: see `nearest_active`.
    """
    near: list[Near] = [[] for _ in vectors]
    pending, reach = list(range(len(vectors))), NEAREST
    while pending:
        nearest = nearest_vectors.nearest_keys(view, vectors[pending], reach, active=True, audience=standing.said_to)
        standing.look(view, [key for ones in nearest for key, _ in ones])
        for at, ones in zip(pending, nearest, strict=True):
            near[at] = [pair for pair in ones if pair[0] in standing.stamps][:NEAREST]
        crowded = [
            at for at, ones in zip(pending, nearest, strict=True) if len(near[at]) < NEAREST and len(ones) == reach
        ]
        pending, reach = crowded if reach < NEAREST * CROWD else [], reach * 4
    return near


class _Found:
    """Memories that stand at the place asked for, by id, with their stamps; `read`: those whose rows were read."""

    def __init__(self, tx: Tx, search: Search, *, eager: bool) -> None:
        self.tx = tx
        self.stamps: dict[str, int] = {}
        self.read: dict[str, ReadMemory] = {}
        self._search = search
        self.said_to = search.said_to
        self._features = search.features
        self._eager = eager
        self._absent: set[str] = set()

    def look(self, view: Snapshot, keys: Iterable[str]) -> None:
        """Find which of these memories stand; read the rows of those that are not known, or were changed.

        The cached rows tell it of most: every change of a memory is noted for them.
        """
        new = [key for key in dict.fromkeys(keys) if key not in self.stamps and key not in self._absent]
        known_stamps = self._known_stamps(new)
        if not self._eager and not all(known_stamps) and self._features.lacks_most(view.memories):
            self._read_all()
            known_stamps = self._known_stamps(new)
        self.stamps.update(zip(new, known_stamps, strict=True))
        unread = np.flatnonzero(~_are_as_known(view, new, known_stamps)).tolist()
        new, known_stamps = [new[n] for n in unread], [known_stamps[n] for n in unread]
        values = {"ids": _array(new), "stamps": _array(map(str, known_stamps)), **self._search.place}
        for row in _rows(self.tx, _CHANGED, values) if new else ():
            if row.id is None:
                self._absent.add(new[row.place - 1])
                del self.stamps[new[row.place - 1]]
            else:
                self._put(row)

    def same(self, answer: Sequence[Any], candidates: Sequence[Candidate]) -> list[list[str]]:
        """Return for each candidate the memories that make the same statement or fill the same slot."""
        places: defaultdict[int, list[str]] = defaultdict(list)
        for row in answer:
            places[row.place].append(self._put(row))
        return [places[self._search.place_of(candidate)] for candidate in candidates]

    def named(self, answer: Sequence[Any], candidates: Sequence[Candidate]) -> list[list[str]]:
        """Return for each candidate the memories that its relations name."""
        standing = {self._put(row) for row in answer}
        return [[key for key in map(str, _related(candidate)) if key in standing] for candidate in candidates]

    def sets(self, compared: Sequence[dict[str, float]], reopen: Reopen | None) -> list[KnownSet]:
        """Return the memories of each candidate as a set."""
        order = {key: position for position, key in enumerate(dict.fromkeys(key for ones in compared for key in ones))}
        keys = list(order)
        rows = self._features.take(keys, self.read)
        while rows is None:  # Another thread has dropped some since they were found to be known.
            for row in _rows(self.tx, _ROWS, {"ids": _array(keys)}):
                self._put(row)
            rows = self._features.take(keys, self.read)
        stamps = [self.stamps[key] for key in keys]
        load = partial(_load, keys, stamps, self.tx, reopen, self._search.cached)
        read = {order[key]: entry.memory for key, entry in self.read.items() if key in order}
        source = KnownStatements(rows, read, load)
        return [
            KnownSet(
                source,
                np.array([order[key] for key in ones], dtype=np.int64),
                np.array(list(ones.values()), dtype=np.float64),
            )
            for ones in compared
        ]

    def _read_all(self) -> None:
        """Read the stored features of all memories of the user."""
        ((every,),) = run_together(self.tx, (_ALL_FEATURES, {"user": self._search.user_id}))
        keys, changed, told_at, subjects, attributes, categories, lengths, features = every
        if keys is None:
            return
        described = Described(keys.split(), columns.microseconds([told_at]).tolist(), subjects, attributes, categories)
        ends = np.cumsum(np.frombuffer(lengths, dtype=">i4")).tolist()
        stored = [features[start:end] for start, end in pairwise([0, *ends])]
        rows = StoredRows(described, columns.microseconds([changed]).tolist(), stored)
        self._features.add(rows.taken([n for n, entry in enumerate(stored) if stored_features.is_current(entry)]))

    def _known_stamps(self, keys: Sequence[str]) -> list[int]:
        return [0] * len(keys) if self._eager else self._features.stamps(keys)

    def _put(self, row: Any) -> str:
        key = str(row.id)
        self.stamps[key] = row.stamp
        self.read[key] = ReadMemory(row.stamp, known_of(row), row.features)
        return key


def _load(
    keys: Sequence[str],
    stamps: Sequence[int],
    tx: Tx,
    reopen: Reopen | None,
    cached: nearest_vectors.CachedMemories,
    places: Sequence[int],
) -> list[KnownMemory]:
    """Return the memories at these places. Conflict: one was changed since it was found."""
    if reopen is None:
        raise LookupError("All memories were read before.")
    chosen_keys = [keys[position] for position in places]
    with reopen() if tx.closed else nullcontext(tx) as reading:
        rows = {str(row.id): row for row in _rows(reading, _ROWS, {"ids": _array(chosen_keys)})}
    if any(key not in rows for key in chosen_keys):
        cached.discard()
        raise Vanished("A memory that the cached rows still had is gone.")
    if any(rows[key].stamp != stamps[position] for key, position in zip(chosen_keys, places, strict=True)):
        raise Conflict("A memory was changed while a statement was compared with it.")
    return [known_of(rows[key]) for key in chosen_keys]


def _are_as_known(view: Snapshot, keys: Sequence[str], stamps: Sequence[int]) -> NDArray[np.bool_]:
    """Return which memories cached rows show as they were at their last known changes, and do not expire."""
    rows = view.rows_of(keys)
    as_known = (rows >= 0) & (np.array(stamps, dtype=np.int64) != 0)
    known_rows = rows[as_known]
    same = view.fields["changed"][known_rows] == np.array(stamps, dtype=np.int64)[as_known]
    as_known[as_known] = same & (view.fields["expires"][known_rows] == np.inf)
    return np.asarray(as_known)


def _rows(tx: Tx, statement: TextClause, values: Json) -> list[Any]:
    (rows,) = run_together(tx, (statement, values))
    return rows


def _array(values: Iterable[str]) -> str:
    """Return texts without special characters as PostgreSQL writes an array of them."""
    return f"{{{','.join(values)}}}"


_STAMP: Final = "cast(extract(epoch FROM m.updated_at) * 1000000 AS bigint) AS stamp"
"""Time of the last change of a memory, in microseconds: each of its versions has another one."""

_CHANGED = text(f"""
    SELECT asked.place, m.*
    FROM unnest(cast(:ids AS uuid[]), cast(:stamps AS bigint[])) WITH ORDINALITY AS asked (id, stamp, place)
    LEFT JOIN LATERAL (
        SELECT {KNOWN}, {_STAMP} FROM memories m WHERE m.id = asked.id AND {ACTIVE_SQL} AND {PLACE_SQL} OFFSET 0) AS m
    ON true WHERE m.stamp IS DISTINCT FROM asked.stamp
""")
"""Without an id for those that do not stand. By the primary key, one by one: with `ANY` of so many ids, planning takes
twice as long as reading."""

_ROWS = text(f"""
    SELECT m.* FROM unnest(cast(:ids AS uuid[])) AS asked (id) CROSS JOIN LATERAL (
        SELECT {KNOWN}, {_STAMP} FROM memories m WHERE m.id = asked.id OFFSET 0) AS m
""")

_ALL_FEATURES = text("""
    SELECT string_agg(cast(id AS text), ' '), string_agg(timestamptz_send(updated_at), ''),
           string_agg(timestamptz_send(coalesce(said_at, occurred_at)), ''), array_agg(subject), array_agg(attribute),
           array_agg(category), string_agg(int4send(length(features)), ''), string_agg(features, '')
    FROM memories WHERE user_id = :user AND status = 'active' AND features IS NOT NULL
""")
"""Columns as one value each: of 10,000 rows the driver reads them in a tenth of the time."""

_SAME_STATEMENT = f"""
    SELECT c.place, {KNOWN}, {_STAMP} FROM asked c JOIN memories m ON m.user_id = :user AND m.statement_key = c.key
    WHERE {ACTIVE_SQL} AND {PLACE_SQL}
"""

_SAME_STATEMENTS = text(f"""
    WITH asked AS MATERIALIZED (SELECT * FROM unnest(cast(:keys AS text[])) WITH ORDINALITY AS c (key, place))
    {_SAME_STATEMENT}
""")
"""Active memories with the statement of each candidate, where none has a slot: planned in half the time."""

_NAMED = text(f"""
    SELECT {KNOWN}, {_STAMP} FROM memories m
    WHERE m.id = ANY(cast(:ids AS uuid[])) AND m.user_id = :user AND {ACTIVE_SQL} AND {PLACE_SQL}
""")

_SAME = text(f"""
    WITH asked AS MATERIALIZED (
        SELECT * FROM unnest(cast(:keys AS text[]), cast(:subjects AS text[]), cast(:attributes AS text[]))
                      WITH ORDINALITY AS c (key, subject, attribute, place)
    )
    {_SAME_STATEMENT}
    UNION
    SELECT c.place, {KNOWN}, {_STAMP} FROM asked c
    JOIN memories m ON m.user_id = :user AND m.subject = c.subject AND m.attribute = c.attribute
    WHERE {ACTIVE_SQL} AND {PLACE_SQL}
""")
"""Active memories with the statement or the slot of each candidate."""
