"""Time from the acceptance of a message to the memories that quote it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import text

from core.memory.changes import Add, Change, Merge, Replace
from core.storage.db import Tx, text_array


def seconds(tx: Tx, changes: Iterable[Change]) -> list[float]:
    """Return an age for each memory that is added or rewritten and quotes a message, in no order.

    It is the time since the newest quoted message was accepted, in seconds of the database's clock.
    """
    quotes = [
        (str(position), evidence.session_id, evidence.message_id)
        for position, change in enumerate(changes)
        if isinstance(change, Add | Merge | Replace)
        for evidence in change.candidate.evidence
        if evidence.session_id
    ]
    if not quotes:
        return []
    columns: Sequence[Sequence[str]] = list(zip(*quotes, strict=True))
    names = ("positions", "sessions", "messages")
    values = {name: text_array(column) for name, column in zip(names, columns, strict=True)}
    return [row.seconds for row in tx.execute(_SECONDS, values)]


_SECONDS: Final = text("""
    SELECT extract(epoch FROM clock_timestamp() - max(e.received_at))::float8 AS seconds
    FROM unnest(cast(:positions AS int[]), cast(:sessions AS text[]), cast(:messages AS text[]))
        AS q (position, session_id, message_id)
    JOIN messages m ON m.session_id = q.session_id AND m.id = q.message_id
    JOIN events e ON e.seq = m.event_seq
    GROUP BY q.position
""")
