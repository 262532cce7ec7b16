"""Counts what is old enough to leave, before it does; what there is work on stays, so that less may leave."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from core.expiry import due, log_rows
from core.expiry.due import IS_DUE, Leaving
from core.sessions.message_rows import TOOL
from core.storage.db import Tx
from core.tenancy.retention import Retention
from core.types import Json

MOST: Final = 100_000
"""Rows that are counted of each kind: whoever sees so many need not know how many more there are."""


def count_due(tx: Tx, retention: Retention) -> Json:
    """Return how many rows of each kind would leave by these times, at most MOST of each."""
    values = due.cutoffs(retention) | {"most": MOST}
    counts = tx.execute(_MESSAGES, values).one()
    return {
        "messages": counts.messages,
        "tool_results": counts.tool_results,
        "sessions": tx.execute(_SESSIONS, values).scalar_one(),
        "events": log_rows.count_events(tx, retention, MOST),
        "dispatches": log_rows.count_dispatches(tx, retention, MOST),
    }


_WHOLE_OR_PART: Final = f"""
    SELECT id, bool_or(whole) AS whole FROM (
        SELECT id, true AS whole FROM sessions WHERE {IS_DUE[Leaving.OWN]}
        UNION ALL SELECT id, true FROM sessions WHERE {IS_DUE[Leaving.SESSIONS]}
        UNION ALL SELECT id, {due.WHOLE} FROM sessions WHERE {IS_DUE[Leaving.MESSAGES]}
        UNION ALL SELECT id, false FROM sessions WHERE {IS_DUE[Leaving.TOOL_RESULTS]}) AS ways
    GROUP BY id
"""

_SESSIONS = text(f"SELECT count(*) FROM (SELECT FROM ({_WHOLE_OR_PART}) AS s WHERE s.whole LIMIT :most) AS leaving")

_MESSAGES = text(f"""
    SELECT count(*) FILTER (WHERE role <> '{TOOL}') AS messages, count(*) FILTER (WHERE role = '{TOOL}') AS tool_results
    FROM (
        SELECT m.role FROM ({_WHOLE_OR_PART}) AS s JOIN messages m ON m.session_id = s.id
        WHERE m.content <> '' AND (s.whole OR m.occurred_at < {due.CUTOFF}
                                   OR m.role = '{TOOL}' AND m.occurred_at < {due.TOOL_CUTOFF})
        LIMIT :most) AS leaving
""")
