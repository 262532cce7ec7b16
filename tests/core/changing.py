"""Changes of one user's memories as the tests of undoing make them, and a picture of all that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import (
    Add,
    Archive,
    Change,
    Confirm,
    Derive,
    Dispute,
    Edit,
    Link,
    Merge,
    Owner,
    Part,
    Pin,
    Replace,
    Restore,
)
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Json, Relation
from core.undo import field_reversal
from core.undo.undo import Undone, carry_out
from tests.factories import EMBEDDER, NOON, a_candidate
from tests.samples import TENANT

PERSON = Author("key:test")

KINDS = (
    "add confirm confirm_two merge absorb replace supersede cut predates dispute derive retire edit archive "
    "restore pin link"
).split()


def an_add(content: str, day: int = 0, **fields: Any) -> Add:
    return Add(a_candidate(content, day, **fields), "because", EMBEDDER.embed([content])[0])


def known_of(row: Any) -> KnownMemory:
    return KnownMemory(row.id, row.version, row.content, row.subject, row.attribute, row.value, row.occurred_at)


@dataclass(slots=True)
class Bench:
    """One user's memories, to be changed and changed back."""

    app: Database
    user: str = "ada"
    turn: int = 0
    enders: set[str] = field(default_factory=set)
    """Memories that were stored together with an ending: they stay when the ending is undone."""

    def apply(self, *wanted: Change) -> None:
        cut = {change.change_id for change in wanted if isinstance(change, Edit)}
        self.enders |= {
            str(add.id)
            for add in wanted
            if isinstance(add, Add) and (add.supersedes or add.past or add.change_id in cut)
        }
        with self.app.tenant(TENANT) as tx:
            writer.apply(tx, TENANT, Owner(self.user), wanted, PERSON)

    def undo(self, change_id: UUID, **how: Any) -> Undone:
        return carry_out(self.app, EMBEDDER, TENANT, change_id, PERSON, **how)

    def others(self) -> Json:
        """Return the picture without what was stored together with an ending."""
        return {key: row for key, row in self.picture().items() if key not in self.enders}

    def row(self, memory_id: UUID) -> Any:
        with self.app.tenant(TENANT) as tx:
            return memories.get(tx, memory_id)

    def known(self, memory_id: UUID) -> KnownMemory:
        return known_of(self.row(memory_id))

    def changes_of(self, memory_id: UUID) -> list[str]:
        with self.app.tenant(TENANT) as tx:
            return [version.change for version in memories.history(tx, memory_id)]

    def quotes(self, memory_id: UUID) -> list[str]:
        with self.app.tenant(TENANT) as tx:
            return [e.message_id for e in memories.evidence(tx, [memory_id]).get(memory_id, [])]

    def rows(self, status: str) -> list[Any]:
        with self.app.tenant(TENANT) as tx:
            return list(tx.execute(_ROWS, {"user": self.user, "status": status}))

    def picture(self) -> Json:
        """All that stands or could stand again: what each memory says, rests on, is related to and found by."""
        with self.app.tenant(TENANT) as tx:
            rows = tx.execute(_ALL, {"user": self.user}).all()
            ids = [row.id for row in rows]
            relations = tx.execute(_RELATIONS, {"ids": ids}).all()
            evidence = tx.execute(_EVIDENCE, {"ids": ids}).all()
            words = {row.ref: tuple(row)[1:] for row in tx.execute(_WORDS, {"refs": [str(one) for one in ids]})}
        return {
            str(row.id): (
                [
                    getattr(row, name)
                    for name in (*field_reversal.FIELDS, "statement_key", "level", "user_id", "group_id")
                ],
                [tuple(e)[1:] for e in evidence if e.memory_id == row.id],
                [tuple(r) for r in relations if row.id in (r.from_id, r.to_id)],
                words[str(row.id)],
                row.fade_at is None,
            )
            for row in rows
        }

    def some_change(self, kind: str, pick: int) -> list[Change]:
        """A change of that kind to one of the memories that are there; nothing where there is none it could be for."""
        self.turn += 1
        active, archived = self.rows("active"), self.rows("archived")
        if kind == "add":
            return [an_add(f"Ada has {self.turn} cats.", self.turn, tags=("pets",), importance=0.6)]
        if kind == "restore":
            kept = [row for row in archived if row.trust != "rejected"]
            return [Restore(kept[pick % len(kept)].id, kept[pick % len(kept)].version, "back")] if kept else []
        if len(active) < 2:
            return []
        one, other = active[pick % len(active)], active[(pick + 1) % len(active)]
        return self._of_two(kind, one, other)

    def _of_two(self, kind: str, one: Any, other: Any) -> list[Change]:
        candidate = a_candidate(f"{one.content} More {self.turn}.", self.turn % 4, tags=(f"t{self.turn}",))
        vector = EMBEDDER.embed([candidate.content])[0]
        known, absorbed = known_of(one), known_of(other)
        parts = [Part(row.id, row.version) for row in (one, other)]
        ending = Add(candidate, "later", vector)
        rest = f"What remains of it after {self.turn}."
        rest_vector = EMBEDDER.embed([rest])[0]
        fields = {"content": candidate.content, "tags": ["edited"], "importance": 0.9, "valid_to": NOON}
        made: dict[str, list[Change]] = {
            "confirm": [Confirm(known, candidate, "again")],
            "confirm_two": [Confirm(known, candidate, "again"), Confirm(known, a_candidate("x", 90), "and again")],
            "merge": [Merge(known, candidate, "says more", vector)],
            "absorb": [Merge(known, candidate, "says more", vector, absorbs=absorbed)],
            "replace": [Replace(known, candidate, "put right", vector)],
            "supersede": [Add(candidate, "later", vector, supersedes=known)],
            "cut": [
                ending,
                Edit(one.id, one.version, {"content": rest}, "what remains", rest_vector, ending.change_id),
            ],
            "predates": [Add(candidate, "earlier", vector, past=NOON)],
            "dispute": [Dispute(known, absorbed, "denied")],
            "derive": [Derive(candidate, parts, "a pattern", vector)],
            "retire": [Derive(candidate, parts, "compressed", vector, retires=True)],
            "edit": [Edit(one.id, one.version, fields, "by hand", vector)],
            "archive": [Archive(one.id, one.version, "old")],
            "pin": [Pin(one.id, one.version, not one.pinned, "dear")],
            "link": [Link(one.id, Relation.FOLLOWS, other.id)],
        }
        return made[kind]


def two(ada: Bench) -> tuple[Add, Add]:
    """Two memories, the second of which says more."""
    less, more = an_add("Ada likes coffee.", tags=("taste",)), an_add("Ada likes coffee, black.", 1, tags=("drinks",))
    ada.apply(less, more)
    return less, more


def absorbed(ada: Bench) -> tuple[Add, Add, Merge]:
    """The same, when the first has absorbed the second."""
    less, more = two(ada)
    change = Merge(ada.known(less.id), more.candidate, "says more", more.vector, absorbs=ada.known(more.id))
    ada.apply(change)
    return less, more, change


def ids_of(wanted: Sequence[Change]) -> list[UUID]:
    return list(dict.fromkeys(change.change_id for change in wanted if hasattr(change, "change_id")))


_ROWS = text("""
    SELECT * FROM memories WHERE user_id = :user AND status = :status AND trust NOT IN ('rejected', 'quarantined')
    ORDER BY id
""")

_ALL = text("SELECT * FROM memories WHERE user_id = :user AND trust <> 'rejected' ORDER BY id")

_EVIDENCE = text("""
    SELECT memory_id, session_id, message_id, event_id, quote FROM evidence WHERE memory_id = ANY(:ids)
    ORDER BY memory_id, session_id, message_id
""")

_RELATIONS = text("""
    SELECT from_id, relation, to_id FROM relations WHERE from_id = ANY(:ids) OR to_id = ANY(:ids) ORDER BY 1, 2, 3
""")

_WORDS = text("""
    SELECT ref, terms::text, embedding::text, occurred_at, user_id FROM search_index
    WHERE type = 'memory' AND ref = ANY(:refs)
""")
