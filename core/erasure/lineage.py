"""Derivation closure: memories that must be erased together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx

ABSORBED = "merge"
RETIRED = "archive"
"""Changes that archive a part in favour of what was derived from it; without one of them the part stays active."""


@dataclass(frozen=True, slots=True)
class ErasedLineage:
    """Memories erased together.

    `equal`: the given ones and those that say the same. `derived`: those derived from them, and episodes that retell
    them. `parts`: other sources of the derived ones, which remain. `waiting`: those of the parts that were archived
    into a derived one, with the change that did so.
    """

    equal: frozenset[UUID]
    derived: frozenset[UUID]
    parts: frozenset[UUID]
    waiting: frozenset[tuple[UUID, UUID]]

    @property
    def ids(self) -> list[UUID]:
        return sorted(self.equal | self.derived)


@dataclass(frozen=True, slots=True)
class _Edge:
    """A derivation: `how` and by which change the part was archived into the whole, if it was."""

    whole: UUID
    part: UUID
    how: str | None
    change_id: UUID | None


def of(tx: Tx, ids: Sequence[UUID], *, silenced: bool = False) -> ErasedLineage:
    """Return the memories to erase with these.

    `silenced`: the messages that they cite lose their text, so that other users' episodes of them are included.
    """
    seeds = set(tx.execute(_EQUAL, {"ids": list(ids)}).scalars()) | set(ids)
    equal = _closure(tx, seeds, _says_the_same)
    retold = set(tx.execute(_RETOLD, {"ids": list(equal), "others": silenced}).scalars())
    derived = _closure(tx, equal | retold, _rests_on) - equal
    edges = [e for e in _edges(tx, derived) if e.whole in derived and e.part not in equal | derived]
    waiting = frozenset((e.part, e.change_id) for e in edges if e.how and e.change_id)
    return ErasedLineage(frozenset(equal), frozenset(derived), frozenset(e.part for e in edges), waiting)


def _says_the_same(edge: _Edge, closure: set[UUID]) -> UUID | None:
    """Return the other end if the two count as one statement: a merge, or a compression with its parts."""
    if edge.how == ABSORBED and edge.part in closure:
        return edge.whole
    return edge.part if edge.how in {ABSORBED, RETIRED} and edge.whole in closure else None


def _rests_on(edge: _Edge, closure: set[UUID]) -> UUID | None:
    if edge.part in closure:
        return edge.whole
    return edge.part if edge.how == ABSORBED and edge.whole in closure else None


def _closure(tx: Tx, begin: Iterable[UUID], step: Callable[[_Edge, set[UUID]], UUID | None]) -> set[UUID]:
    closure = set(begin)
    fresh = set(closure)
    while fresh:
        reached = {memory_id for edge in _edges(tx, fresh) if (memory_id := step(edge, closure)) is not None}
        fresh = reached - closure
        closure |= fresh
    return closure


def _edges(tx: Tx, ids: Iterable[UUID]) -> list[_Edge]:
    rows = tx.execute(_EDGES, {"ids": list(ids), "how": [ABSORBED, RETIRED]})
    return [_Edge(row.from_id, row.to_id, row.how, row.change_id) for row in rows]


_EQUAL = text("""
    SELECT o.id FROM memories m
    JOIN memories o ON o.user_id = m.user_id AND o.statement_key = m.statement_key AND o.subject = m.subject
    WHERE m.id = ANY(:ids)
""")

_RETOLD = text("""
    SELECT DISTINCT o.id FROM memories m
    JOIN evidence mine ON mine.memory_id = m.id AND mine.session_id <> ''
    JOIN evidence theirs ON theirs.session_id = mine.session_id
    JOIN memories o ON o.id = theirs.memory_id AND (o.user_id = m.user_id OR :others)
    WHERE m.id = ANY(:ids) AND m.category <> 'episode' AND o.category = 'episode'
""")
"""Episodes of the conversations in which it was said: they retell all of it."""

_EDGES = text("""
    SELECT r.from_id, r.to_id, r.change_id, v.change AS how FROM relations r
    LEFT JOIN memory_versions v
           ON v.memory_id = r.to_id AND v.change_id = r.change_id AND v.change = ANY(:how)
    WHERE r.relation = 'derived_from' AND (r.from_id = ANY(:ids) OR r.to_id = ANY(:ids))
""")
