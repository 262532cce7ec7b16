"""Ends sessions after a silence."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from core.events import log
from core.events.log import Announcement
from core.sessions import working_memory
from core.storage.db import Tx
from core.types import Json

ENDED: Final = "session.ended"


def end_idle(tx: Tx, tenant_id: str, idle_seconds: float, page: int) -> int:
    """End the sessions longest silent, for `idle_seconds` at least, `page` at most; return how many.

    They ended when they fell silent. A session locked by a writer is not idle, and skipped.
    """
    rows = tx.execute(_IDLE, {"seconds": idle_seconds, "page": page}).all()
    if not rows:
        return 0
    now = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
    log.announce(tx, tenant_id, [_announcement(row, now) for row in rows])
    working_memory.clear(tx, [row.id for row in rows])
    return len(rows)


def _announcement(row: Any, now: datetime) -> Announcement:
    """Announce the end of a session; the id names the silence, so that the log takes it only once."""
    silence = f"{ENDED}:{row.id}:{row.last_at:%Y-%m-%dT%H:%M:%S.%fZ}:{row.message_count}"
    payload: Json = {"session_id": row.id, "message_count": row.message_count, "reason": "idle"}
    owned = {name: value for name in ("user_id", "group_id") if (value := getattr(row, name))}
    return Announcement(silence, ENDED, now, payload | owned, subject=f"session:{row.id}")


_IDLE = text("""
    WITH idle AS (
        SELECT id FROM sessions
        WHERE ended_at IS NULL AND last_at <= statement_timestamp() - make_interval(secs => :seconds)
        ORDER BY last_at LIMIT :page FOR UPDATE SKIP LOCKED
    )
    UPDATE sessions s SET ended_at = s.last_at FROM idle WHERE s.id = idle.id
    RETURNING s.id, s.user_id, s.group_id, s.message_count, s.last_at AT TIME ZONE 'UTC' AS last_at
""")
"""Reads only idle sessions, by an index of open ones, which the volatile `clock_timestamp()` cannot search."""
