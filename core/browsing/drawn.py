"""Memories by the messages that they were drawn from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.memory import memories
from core.storage.db import Tx

MOST: Final = 50
"""Memories of one message, the newest ones."""


def memories_of(tx: Tx, session_id: str, message_ids: Sequence[str]) -> dict[str, list[UUID]]:
    """Return the ids of the active memories that cite each of these messages of a session, newest first."""
    by_message: defaultdict[str, list[UUID]] = defaultdict(list)
    values = {"session": session_id, "ids": list(message_ids), "most": MOST}
    for row in tx.execute(_DRAWN, values) if message_ids else ():
        by_message[row.message_id].append(row.memory_id)
    return dict(by_message)


_DRAWN = text(f"""
    SELECT asked.id AS message_id, cited.memory_id
    FROM unnest(cast(:ids AS text[])) AS asked (id)
    CROSS JOIN LATERAL (
        SELECT e.memory_id FROM evidence e JOIN memories m ON m.id = e.memory_id
        WHERE e.session_id = :session AND e.message_id = asked.id AND {memories.ACTIVE_SQL}
        ORDER BY e.memory_id DESC LIMIT :most
    ) AS cited
""")
