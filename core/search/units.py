"""Scores and reads units of conversations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.index import search_index
from core.index.resident.encoding import seconds
from core.index.search_index import COSINE, LEXICAL
from core.search.candidates import Hit
from core.storage.db import Tx
from core.storage.multiquery import BoundStatement
from core.types import Json

ARM_LIMIT = 300
"""Units that each arm picks at most."""


@dataclass(frozen=True, slots=True)
class FoundUnit:
    """A unit. `hidden`: it retells a message that contexts must not show."""

    id: UUID
    session_id: str
    group_id: str | None
    from_position: int
    to_position: int
    subject: str
    summary: str
    narrative: str
    participants: Sequence[str]
    keywords: Sequence[str]
    facts: Sequence[Json]
    started_at: datetime
    ended_at: datetime
    hidden: bool


def hits(tx: Tx, values: Mapping[str, Any]) -> list[Hit]:
    """Return the best units of each arm among those of the user and of the group."""
    return [
        Hit(row.ref, "unit", row.lexical, row.cosine, row.session_id, row.position, at=seconds(row.occurred_at))
        for row in tx.execute(_HITS, {**values, "arm": ARM_LIMIT})
    ]


def units_query(keys: Sequence[str]) -> BoundStatement:
    """Return the statement that reads units by id; for `units_by_key`."""
    return _UNITS, {"ids": [UUID(key) for key in keys]}


def units_by_key(rows: Iterable[Any]) -> dict[str, FoundUnit]:
    """Return the units read, by key."""
    return {str(row.id): FoundUnit(*row) for row in rows}


_SCORED = " UNION ALL ".join(
    f"""
    SELECT i.ref, i.session_id, i.position, i.occurred_at, {LEXICAL}, {COSINE} AS cosine FROM search_index i
    WHERE i.type = 'unit' AND {owned}
      AND (cast(:session AS text) IS NULL OR i.session_id = :session)
      AND (cast(:since AS timestamptz) IS NULL OR i.occurred_at >= :since)
      AND (cast(:until AS timestamptz) IS NULL OR i.occurred_at <= :until)
      AND (cast(:as_of AS timestamptz) IS NULL OR i.occurred_at <= :as_of)
      AND (cast(:known_at AS timestamptz) IS NULL OR EXISTS (
              SELECT FROM units u WHERE u.id = cast(i.ref AS uuid) AND u.updated_at <= :known_at))
    """
    for owned in ("i.user_id = :user", "i.group_id = :group AND (i.user_id = :user) IS NOT TRUE")
)
"""Earlier wordings of a unit are not kept."""

_HITS = search_index.best_of_arms(_SCORED, "ref")

_UNITS = text("""
    SELECT u.id, u.session_id, u.group_id, u.from_position, u.to_position, u.subject, u.summary, u.narrative,
           u.participants, u.keywords, u.facts, u.started_at, u.ended_at,
           EXISTS (SELECT FROM hidden_messages h
                   JOIN messages m ON m.session_id = h.session_id AND m.id = h.message_id
                   WHERE h.session_id = u.session_id AND m.position BETWEEN u.from_position AND u.to_position) AS hidden
    FROM units u WHERE u.id = ANY(:ids) AND u.summary <> ''
""")
