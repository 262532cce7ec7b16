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


def require_version(row: Any, version: int | None) -> Any:
    """Return the row if it is at the version that the caller has seen. Conflict: it is not."""
    if version is not None and row.version != version:
        raise Conflict(f"The memory is at version {row.version} now, not {version}. Read it again.")
    return row


def _change(
    name: str, tx: Tx, tenant_id: str, author: Author, memory_id: UUID, reason: str | None, version: int | None
) -> Made | None:
    """Change a memory; None: it is so already, or an archived one. NotFound, Conflict: it is at another version."""
    row = require_version(memories.get(tx, memory_id), version)
    done, needed = _CHANGES[name]
    change = needed(row, reason or f"{done} by hand.")
    if change is None:
        return None
    return Made(change.change_id, writer.apply(tx, tenant_id, Owner(row.user_id, row.group_id), [change], author))


def _pin(row: Any, reason: str, *, pinned: bool) -> Pin | None:
    return None if row.pinned == pinned else Pin(row.id, row.version, pinned, reason)


def _archive(row: Any, reason: str) -> Archive | None:
    return Archive(row.id, row.version, reason) if row.status == Status.ACTIVE else None


def _restore(row: Any, reason: str) -> Restore | None:
    return None if row.status == Status.ACTIVE else Restore(row.id, row.version, reason)


_CHANGES: Final[Mapping[str, tuple[str, Callable[[Any, str], Pin | Archive | Restore | None]]]] = {
    "pin": ("Pinned", partial(_pin, pinned=True)),
    "unpin": ("Unpinned", partial(_pin, pinned=False)),
    "archive": ("Archived", _archive),
    "restore": ("Restored", _restore),
}
"""Default words of the history, and the change that a memory's row needs, with its reason; None: none."""

Change = Callable[[Tx, str, Author, UUID, str | None, int | None], Made | None]
"""A change of one memory: transaction, tenant, author, memory, reason, version that the author has seen."""

CHANGES: Final[Mapping[str, Change]] = {name: partial(_change, name) for name in _CHANGES}
"""The changes by the names that requests give them."""
