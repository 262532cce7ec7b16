"""Memories that deny each other, as tests make them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from core.memory import memories
from core.memory.changes import Add, Dispute
from core.memory.identity import KnownMemory
from core.storage.db import Database
from tests.factories import a_memory, carry_out, memory_row
from tests.samples import TENANT

NOW = datetime.now(UTC)


def known(app: Database, memory_id: UUID) -> KnownMemory:
    with app.tenant(TENANT) as tx:
        return memories.known_of(memories.get(tx, memory_id))


def dispute(app: Database, *pairs: tuple[Add, Add]) -> None:
    for one, other in pairs:
        why = "one denies the other"
        carry_out(app, Dispute(known(app, one.id), known(app, other.id), why))


def dogs(app: Database) -> tuple[Add, Add]:
    """Two memories that deny each other, the older one first."""
    old, new = a_memory("Ada has a dog."), a_memory("Ada has no dog.", occurred_at=NOW + timedelta(hours=1))
    carry_out(app, old, new)
    dispute(app, (new, old))
    return old, new


def state(app: Database, *adds: Add) -> list[tuple[str, str]]:
    return [(row.status, row.trust) for row in (memory_row(app, add.id) for add in adds)]
