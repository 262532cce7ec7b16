"""GET /memories/{id}/related: memories linked to a memory, in one step or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from uuid import UUID

from core.memory import memories
from core.search import spreading
from core.search.filters import Filters
from core.search.spreading import FAN, ActivationLink, Active, Visibility, Way
from core.storage.db import Tx

REACH: Final = 2_000
"""Index rows read for each kind of link in one step, shared by the sources of the step."""


@dataclass(frozen=True, slots=True)
class ActivatedMemory:
    """A related memory: its activation (0 to 1), and the strongest way to it."""

    id: UUID
    score: float
    path: tuple[ActivationLink, ...] = ()


def related_to(
    tx: Tx, memory_id: UUID, *, depth: int = 1, limit: int | None = None, archived: bool = False
) -> list[ActivatedMemory]:
    """Return the memories linked to a memory, most active first; only its owner's, never rejected or quarantined ones.

    `depth`: 1 or 2 steps. `archived`: include archived memories. NotFound: there is no such memory.
    """
    row = memories.get(tx, memory_id)
    # A memory without a user belongs to its group.
    group_id = None if row.user_id is not None else row.group_id
    reader = Visibility(row.user_id, group_id, Filters(include_archived=archived), browsing=True)
    sources = [Active(str(memory_id), 1.0)]
    active: list[Active] = []
    ways: list[tuple[str, Way]] = []
    for _ in range(depth):
        keys = [source.key for source in sources]
        links = spreading.links(tx, keys, reader, reach=REACH // max(len(keys), 1))
        ways += spreading.step(sources, links, most=FAN)
        active = spreading.gather(ways)
        sources = active[:FAN]
    return [ActivatedMemory(UUID(memory.key), memory.activation, memory.links) for memory in active[:limit]]
