"""Relations of a memory, as people read and write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.errors import Invalid, NotFound, Problem
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Edit, Link, Owner, Unlink
from core.memory.rows import MemoryRow
from core.storage.db import Tx
from core.types import Relation, Status, Trust

WRITABLE: Final = frozenset({Relation.SUPPORTS, Relation.REFINES, Relation.ABOUT, Relation.FOLLOWS})
"""Relations that say nothing about whether a memory holds; the others follow from verdicts, merges and compression."""

REMOVABLE: Final = WRITABLE | {Relation.MAY_SUPERSEDE}
"""A doubt that a person does not share is removed."""

MOST: Final = 500
"""Relations of a memory that are listed, the newest ones."""


@dataclass(frozen=True, slots=True)
class StoredRelation:
    """A relation between two memories; `strength`: share of the weight of its kind."""

    from_id: UUID
    relation: str
    to_id: UUID
    strength: float
    at: datetime
    change_id: UUID | None


def of_memory(tx: Tx, memory_id: UUID) -> list[StoredRelation]:
    """Return the relations from and to a memory, newest first. NotFound: there is no such memory."""
    memories.get(tx, memory_id)
    return [StoredRelation(*row) for row in tx.execute(_OF_MEMORY, {"id": memory_id, "most": MOST})]


def write(tx: Tx, tenant_id: str, link: Link, reason: str, author: Author) -> StoredRelation:
    """Relate two active memories of one owner, or change the strength of their relation; a version says so.

    Invalid: the relation is not one that people write, or one end cannot have it. NotFound: one of them is not there.
    """
    row, other = memories.get(tx, link.from_id), memories.get(tx, link.to_id)
    _require_linkable(row, other, link.relation)
    explanation = reason or f"Related: {link.relation} {link.to_id}."
    edit = Edit(row.id, row.version, {}, explanation, change_id=link.change_id)
    writer.apply(tx, tenant_id, Owner(row.user_id, row.group_id), [edit, link], author)
    return StoredRelation(*tx.execute(_ONE, _ends(link)).one())


def remove(tx: Tx, tenant_id: str, unlink: Unlink, reason: str, author: Author) -> None:
    """Remove a relation; a version says so. NotFound: there is none. Invalid: it follows from a verdict."""
    row = memories.get(tx, unlink.from_id)
    if unlink.relation not in REMOVABLE:
        raise _refusal(unlink.relation)
    if tx.execute(_ONE, _ends(unlink)).one_or_none() is None:
        raise NotFound(f"Memory {unlink.from_id} has no relation {unlink.relation} to {unlink.to_id}.")
    explanation = reason or f"No longer related: {unlink.relation} {unlink.to_id}."
    edit = Edit(row.id, row.version, {}, explanation, change_id=unlink.change_id)
    writer.apply(tx, tenant_id, Owner(row.user_id, row.group_id), [edit, unlink], author)


def _require_linkable(row: MemoryRow, other: MemoryRow, relation: Relation) -> None:
    if relation not in WRITABLE:
        raise _refusal(relation)
    problems: list[Problem] = []
    if row.id == other.id:
        problems.append(Problem("/to", "is the memory itself; name another one"))
    elif (row.user_id, row.group_id) != (other.user_id, other.group_id):
        problems.append(Problem("/to", "belongs to another user or group; relate memories of one owner"))
    elif other.status != Status.ACTIVE or other.trust in _UNSERVED:
        problems.append(Problem("/to", f"is {other.status} and {other.trust}; restore or confirm it first"))
    if row.status != Status.ACTIVE or row.trust in _UNSERVED:
        problems.append(Problem("/id", f"is {row.status} and {row.trust}; restore or confirm it first"))
    if problems:
        raise Invalid(problems)


def _refusal(relation: str) -> Invalid:
    allowed = ", ".join(sorted(WRITABLE))
    return Invalid([Problem("/relation", f"{relation} follows from what the service decides; write one of {allowed}")])


def _ends(link: Link | Unlink) -> dict[str, object]:
    return {"from": link.from_id, "relation": link.relation, "to": link.to_id}


_UNSERVED: Final[Sequence[str]] = (Trust.REJECTED, Trust.QUARANTINED)

_COLUMNS = "from_id, relation, to_id, strength, at, change_id"

_OF_MEMORY = text(f"""
    SELECT {_COLUMNS} FROM (
        (SELECT {_COLUMNS} FROM relations WHERE from_id = :id ORDER BY at DESC LIMIT :most)
        UNION (SELECT {_COLUMNS} FROM relations WHERE to_id = :id ORDER BY at DESC LIMIT :most)
      ) AS ends ORDER BY at DESC, from_id, relation, to_id LIMIT :most
""")

_ONE = text(f"SELECT {_COLUMNS} FROM relations WHERE from_id = :from AND relation = :relation AND to_id = :to")
