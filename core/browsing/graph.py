"""The memories of an owner and their relations, as a graph of bounded size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from core.memory import memories
from core.memory.relations import StoredRelation
from core.memory.rows import MemoryRow
from core.storage.db import Tx

LOOKED_AT: Final = 2_000
"""Latest memories of the owner, among which the best connected are chosen."""

EDGES: Final = 5_000
"""Relations among them that are read."""


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """Memories, the best connected first and then the newest; relations between two of them; number of relations.

    `more`: there are memories, or relations of these memories to others, that are not shown.
    """

    nodes: Sequence[MemoryRow]
    edges: Sequence[StoredRelation]
    degrees: Counter[object]
    more: bool


def of_owner(
    tx: Tx, user_id: str | None, group_id: str | None, *, statuses: Sequence[str], trusts: Sequence[str], limit: int
) -> MemoryGraph:
    """Return the graph of a user's memories, of a group's, or of those that a user said in a group."""
    owner = {"user": user_id, "group": group_id, "statuses": list(statuses), "trusts": list(trusts)}
    memory_ids = list(tx.execute(_LATEST, owner | {"most": LOOKED_AT + 1}).scalars())
    latest = memory_ids[:LOOKED_AT]
    relations = [StoredRelation(*row) for row in tx.execute(_AMONG, {"ids": latest, "most": EDGES})]
    degrees: Counter[object] = Counter(end for relation in relations for end in (relation.from_id, relation.to_id))
    chosen = sorted(latest, key=lambda memory_id: (degrees[memory_id], memory_id), reverse=True)[:limit]
    chosen_ids = set(chosen)
    edges = [relation for relation in relations if relation.from_id in chosen_ids and relation.to_id in chosen_ids]
    rows = memories.of_ids(tx, chosen)
    nodes = [rows[memory_id] for memory_id in chosen if memory_id in rows]
    return MemoryGraph(nodes, edges, degrees, more=len(memory_ids) > len(chosen) or len(relations) == EDGES)


_LATEST = text("""
    SELECT id FROM memories m
    WHERE (cast(:user AS text) IS NULL OR m.user_id = :user) AND (cast(:group AS text) IS NULL OR m.group_id = :group)
      AND m.status = ANY(:statuses) AND m.trust = ANY(:trusts)
    ORDER BY id DESC LIMIT :most
""")

_AMONG = text("""
    SELECT r.from_id, r.relation, r.to_id, r.strength, r.at, r.change_id FROM relations r
    WHERE r.from_id = ANY(:ids) AND r.to_id = ANY(:ids) ORDER BY r.at DESC LIMIT :most
""")
