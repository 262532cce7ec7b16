"""Removes queries from `memory.recalled`: those that an erased memory answered, and those of an erased session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from core.erasure.log_redaction import SLACK
from core.storage.db import Tx
from core.storage.tables import GROUP_CHARACTERS


def of_memories(tx: Tx, user_id: str, ids: Sequence[UUID], since: datetime) -> int:
    """Remove the queries that these memories of a user answered, before they are deleted; return how many events.

    `since`: when the first of them was recorded.
    """
    values = {"users": [user_id], "ids": [str(memory_id) for memory_id in ids], "memories": list(ids), "session": None}
    return tx.execute(_REDACT, {**values, "since": since - SLACK}).rowcount


def of_session(tx: Tx, owners: Sequence[str], session_id: str, since: datetime) -> int:
    """Remove the queries asked in a session; `since`: when it began."""
    values = {"users": list(owners), "ids": [], "memories": [], "session": session_id}
    return tx.execute(_REDACT, {**values, "since": since - SLACK}).rowcount


_OF_IT = """
    (jsonb_exists_any(q -> 'memory_ids', cast(:ids AS text[]))
     OR coalesce(q ->> 'session_id' = cast(:session AS text), false))
"""

_TOLD = "e.event_type = 'memory.recalled' AND e.source = 'imprint' AND e.time >= :since"

_REDACT = text(f"""
    WITH recalled AS (
        SELECT e.seq, e.payload FROM events e WHERE e.user_id = ANY(:users) AND {_TOLD}
        UNION
        SELECT e.seq, e.payload FROM events e
        WHERE {_TOLD} AND e.group_id = ANY(ARRAY(
            SELECT left(group_id, {GROUP_CHARACTERS}) FROM memories WHERE id = ANY(:memories)
            UNION SELECT left(group_id, {GROUP_CHARACTERS}) FROM sessions WHERE id = :session))
    )
    UPDATE events e SET payload = jsonb_set(e.payload, '{{queries}}', (
        SELECT coalesce(jsonb_agg(q), '[]') FROM jsonb_array_elements(e.payload -> 'queries') AS q WHERE NOT {_OF_IT}))
    FROM recalled r
    WHERE e.seq = r.seq AND EXISTS (
        SELECT FROM jsonb_array_elements(r.payload -> 'queries') AS q WHERE {_OF_IT})
""")
"""Events of the user and of the groups, each by its own index."""
