"""Indexes document passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from uuid import UUID

from core.index import removal, search_index
from core.index.bm25 import document_weights, index_terms
from core.index.search_index import NewRow
from core.storage.db import Tx


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage as it is indexed: its content, title and headings."""

    position: int
    title: str
    headings: Sequence[str]
    content: str


def plan(
    user_id: str | None, group_id: str | None, occurred_at: datetime, passages: Sequence[IndexedPassage]
) -> list[NewRow]:
    """Plan the index rows of passages. Title and headings count half, as a message's neighbours do."""
    rows, read = [], cache(index_terms)  # What many passages stand under is read once.
    for passage in passages:
        weights = document_weights(
            index_terms(passage.content), [read(text) for text in dict.fromkeys((passage.title, *passage.headings))]
        )
        row = NewRow(
            type="document",
            session_id="",
            ref=str(passage.position),
            position=passage.position,
            user_id=user_id,
            group_id=group_id,
            occurred_at=occurred_at,
            weights=weights,
            own_terms=sorted(weights),
        )
        rows.append(row)
    return rows


def put(tx: Tx, tenant_id: str, document_id: UUID, rows: Sequence[NewRow]) -> None:
    """Replace the index rows of a document. Under `lock`."""
    removed, new = removal.forget_passages(tx, str(document_id)), search_index.count_terms(rows)
    search_index.put(tx, tenant_id, [replace(row, session_id=str(document_id)) for row in rows])
    search_index.count_up(tx, tenant_id, new - removed)
    removal.count_down(tx, removed - new)


def forget(tx: Tx, document_id: UUID) -> None:
    """Remove a document from the index. Under `lock`."""
    removal.count_down(tx, removal.forget_passages(tx, str(document_id)))


def lock(tx: Tx, user_id: str | None, group_id: str | None) -> None:
    """Serialise writers of documents of these owners until the transaction ends."""
    removal.lock(tx, search_index.passage_owners(user_id, group_id))
