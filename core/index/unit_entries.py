"""Indexes units of conversations: subject, summary, facts and narrative."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from core.index import search_index
from core.index.bm25 import document_weights, index_terms
from core.index.search_index import NewRow
from core.storage.db import Tx

TYPE: Final = "unit"

LONGEST: Final = 8_000
"""Characters of a unit that are indexed. A model that reads less embeds subject, summary and the first facts."""


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit to be indexed. Its owner is the group it was said to, else the user who spoke first in it."""

    id: UUID
    session_id: str
    position: int
    user_id: str | None
    group_id: str | None
    occurred_at: datetime
    text: str
    vector: NDArray[np.float32] | None = None


def text(subject: str, summary: str, facts: Iterable[Any], narrative: str) -> str:
    """Return the text by which a unit is found; in SQL in `core.index.search_index`."""
    return "\n".join([subject, summary, *(fact["text"] for fact in facts), narrative])[:LONGEST]


def put(tx: Tx, tenant_id: str, entries: Sequence[UnitEntry]) -> None:
    """Index units; without a vector they are found by their words alone.

    Rows of their earlier wording have been deleted by the table's triggers. Their messages count their words already.
    """
    search_index.put(tx, tenant_id, [_row(entry) for entry in entries])


def _row(entry: UnitEntry) -> NewRow:
    return NewRow(
        type=TYPE,
        session_id=entry.session_id,
        ref=str(entry.id),
        position=entry.position,
        user_id=entry.user_id,
        group_id=entry.group_id,
        occurred_at=entry.occurred_at,
        weights=document_weights(index_terms(entry.text)),
        own_terms=(),
        vector=entry.vector,
    )
