"""Changes that a person makes to one memory: pin, unpin, archive, restore."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from uuid import UUID

from core.errors import Conflict
from core.events.publishing import Author
from core.memory import memories, writer
from core.memory.changes import Archive, Owner, Pin, Restore
from core.storage.db import Tx
from core.types import Status


@dataclass(frozen=True, slots=True)
class Made:
    """A change that was made, and how many there were of each kind, for the metric."""

    change_id: UUID
    counts: Mapping[str, int]


def restore(
    tx: Tx, tenant_id: str, author: Author, memory_id: UUID, reason: str | None, version: int | None
) -> Made | None:
    """Restore a memory that is not active; None: it is. NotFound, Conflict: it is at another version."""
    row = require_version(memories.get(tx, memory_id), version)
    if row.status == Status.ACTIVE:
        return None
    return _make(tx, tenant_id, author, row, Restore(row.id, row.version, reason or "Restored by hand."))


def pin(
    tx: Tx, tenant_id: str, author: Author, memory_id: UUID, reason: str | None, version: int | None, *, pinned: bool
) -> Made | None:
    """Pin or unpin a memory; None: it is so already. NotFound, Conflict: it is at another version."""
    row = require_version(memories.get(tx, memory_id), version)
    if row.pinned == pinned:
        return None
    explanation = reason or ("Pinned by hand." if pinned else "Unpinned by hand.")
    return _make(tx, tenant_id, author, row, Pin(row.id, row.version, pinned, explanation))


def archive(
    tx: Tx, tenant_id: str, author: Author, memory_id: UUID, reason: str | None, version: int | None
) -> Made | None:
    """Archive an active memory; None: it is not active. NotFound, Conflict: it is at another version."""
    row = require_version(memories.get(tx, memory_id), version)
    if row.status != Status.ACTIVE:
        return None
    return _make(tx, tenant_id, author, row, Archive(row.id, row.version, reason or "Archived by hand."))


def require_version(row: Any, version: int | None) -> Any:
    """Return the row if it is at the version that the caller has seen. Conflict: it is not."""
    if version is not None and row.version != version:
        raise Conflict(f"The memory is at version {row.version} now, not {version}. Read it again.")
    return row


def _make(tx: Tx, tenant_id: str, author: Author, row: Any, change: Pin | Archive | Restore) -> Made:
    counts = writer.apply(tx, tenant_id, Owner(row.user_id, row.group_id), [change], author)
    return Made(change.change_id, counts)


Change = Callable[[Tx, str, Author, UUID, str | None, int | None], Made | None]
"""A change of one memory: transaction, tenant, author, memory, reason, version that the author has seen."""

CHANGES: Final[Mapping[str, Change]] = {
    "pin": partial(pin, pinned=True),
    "unpin": partial(pin, pinned=False),
    "archive": archive,
    "restore": restore,
}
"""The changes by the names that requests give them."""
