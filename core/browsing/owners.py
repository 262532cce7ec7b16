"""The users who have memories, with their number."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import text

from core.storage.db import Tx

MOST: Final = 10_000
"""Users that are counted at once."""


@dataclass(frozen=True, slots=True)
class MemoryOwner:
    """A user with active memories, when the first was recorded, and when one changed last."""

    user_id: str
    memories: int
    created_at: datetime
    updated_at: datetime


def latest(tx: Tx, limit: int = MOST) -> list[MemoryOwner]:
    """Return the users with active memories, those whose memories changed last first. Reads all of the tenant's."""
    return [MemoryOwner(*row) for row in tx.execute(_LATEST, {"limit": limit})]


_LATEST = text("""
    SELECT user_id, count(*) AS memories, min(recorded_at) AS created_at, max(updated_at) AS updated_at
    FROM memories WHERE status = 'active' GROUP BY user_id ORDER BY max(updated_at) DESC, user_id LIMIT :limit
""")
