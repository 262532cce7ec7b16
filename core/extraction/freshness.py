"""How long what was said took to become memories."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from sqlalchemy import text

from core.memory.changes import Add, Change, Merge, Replace
from core.storage.db import Tx, text_array


def seconds(tx: Tx, changes: Iterable[Change]) -> list[float]:
    """Return of each memory that is added or rewritten how long ago the newest message that it quotes was accepted.

    In seconds of the database's clock. Without a quoted message a memory is left out.
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
    names = ("places", "sessions", "messages")
    values = {name: text_array(column) for name, column in zip(names, columns, strict=True)}
    return [row.seconds for row in tx.execute(_SECONDS, values)]


_SECONDS: Final = text("""
    SELECT extract(epoch FROM clock_timestamp() - max(e.received_at))::float8 AS seconds
    FROM unnest(cast(:places AS int[]), cast(:sessions AS text[]), cast(:messages AS text[]))
        AS q (place, session_id, message_id)
    JOIN messages m ON m.session_id = q.session_id AND m.id = q.message_id
    JOIN events e ON e.seq = m.event_seq
    GROUP BY q.place
""")
