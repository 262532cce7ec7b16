"""The origin of each version of a memory: its dispatch, the event that led to it, and the model calls it made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.dispatches import queries as dispatch_queries
from core.events import log
from core.memory import memories
from core.memory.memories import MemoryVersion
from core.storage.db import Tx
from core.types import Event, Json


@dataclass(frozen=True, slots=True)
class Origin:
    """A dispatch, its event and its model calls; none with the rule extractor, which calls no model."""

    dispatch: Any
    event: Event
    model_calls: Sequence[Json]


def of(tx: Tx, memory_id: UUID) -> list[tuple[MemoryVersion, Origin | None]]:
    """Return the versions of a memory, oldest first, each with its origin; None: a person or a file changed it."""
    return [(version, _origin(tx, version)) for version in memories.history(tx, memory_id)]


def _origin(tx: Tx, version: MemoryVersion) -> Origin | None:
    dispatch = dispatch_queries.find_one(tx, version.dispatch_id)
    if dispatch is None:
        return None
    calls = [dict(row) for row in tx.execute(_MODEL_CALLS, {"id": dispatch.id}).mappings()]
    return Origin(dispatch, log.at(tx, dispatch.event_seq), calls)


_MODEL_CALLS = text("SELECT * FROM model_calls WHERE dispatch_id = :id ORDER BY id")
