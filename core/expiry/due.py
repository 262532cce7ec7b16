"""Finds the sessions of which something has been kept for as long as it should, by indexes on that time.

Messages leave by whole days of UTC, so that a session that goes on is looked at once a day and not for every message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import TextClause, text

from core.storage.db import Tx
from core.tenancy.retention import Retention

SESSIONS: Final = 20
"""Sessions handled in one transaction."""


class Leaving(StrEnum):
    """Why something of a session leaves: its own time, or that of its tenant for sessions, messages, tools' results."""

    OWN = "own"
    SESSIONS = "sessions"
    MESSAGES = "messages"
    TOOL_RESULTS = "tool_results"


@dataclass(frozen=True, slots=True)
class DueSession:
    """A locked session that is due. `whole`: all of it leaves, because it has ended and its last message is due."""

    id: str
    due_at: datetime
    whole: bool


def ways(retention: Retention) -> Iterator[Leaving]:
    """Yield the ways in which something may be due, first that by which most leaves.

    A session may have a time of its own where its tenant has none.
    """
    if retention.sessions_days is not None:
        yield Leaving.SESSIONS
    yield Leaving.OWN
    if retention.messages_days is not None:
        yield Leaving.MESSAGES
    if retention.tools_days is not None and retention.tools_days != retention.messages_days:
        yield Leaving.TOOL_RESULTS


def find(
    tx: Tx, way: Leaving, retention: Retention, after: tuple[str, str] | None = None, limit: int = SESSIONS
) -> Sequence[DueSession]:
    """Lock and return due sessions, the longest due first, behind one: its time and id. Locked ones are skipped."""
    values = cutoffs(retention) | {"at": after[0] if after else "-infinity", "id": after[1] if after else ""}
    rows = tx.execute(_DUE[way], values | {"limit": limit})
    return [DueSession(row.id, row.due_at, row.whole) for row in rows]


def cutoffs(retention: Retention) -> dict[str, Any]:
    """Return the days that the conditions of `IS_DUE` bind."""
    return {"days": retention.messages_days, "tool_days": retention.tools_days, "session_days": retention.sessions_days}


# By `now()` and not `clock_timestamp()`, which no index is searched by.
_TODAY: Final = "date_trunc('day', now(), 'UTC')"

CUTOFF: Final = f"({_TODAY} - make_interval(days => cast(:days AS int)))"
"""Messages before this leave."""

TOOL_CUTOFF: Final = f"({_TODAY} - make_interval(days => cast(:tool_days AS int)))"
"""Tools' results before this leave."""

WHOLE: Final = f"(ended_at IS NOT NULL AND last_at < {CUTOFF})"
"""Whether all of a session leaves with its messages."""

IS_DUE: Final = {
    Leaving.OWN: "leaves_at IS NOT NULL AND oldest_at IS NOT NULL AND leaves_at <= now()",
    Leaving.SESSIONS: "ended_at IS NOT NULL AND NOT is_remnant "
    "AND ended_at <= now() - make_interval(days => cast(:session_days AS int))",
    Leaving.MESSAGES: f"oldest_at IS NOT NULL AND oldest_at < {CUTOFF}",
    Leaving.TOOL_RESULTS: f"oldest_tool_at IS NOT NULL AND oldest_tool_at < {TOOL_CUTOFF}",
}
"""Condition that a session is due, by way."""

_TIME: Final = {
    Leaving.OWN: ("leaves_at", "true"),
    Leaving.SESSIONS: ("ended_at", "true"),
    Leaving.MESSAGES: ("oldest_at", WHOLE),
    Leaving.TOOL_RESULTS: ("oldest_tool_at", "false"),
}
"""The indexed time by which sessions are due, and whether all of a session leaves."""


def _due(way: Leaving) -> TextClause:
    time, whole = _TIME[way]
    return text(f"""
        SELECT id, {time} AS due_at, {whole} AS whole FROM sessions
        WHERE {IS_DUE[way]} AND ({time}, id) > (cast(:at AS timestamptz), :id)
        ORDER BY {time}, id LIMIT :limit FOR UPDATE SKIP LOCKED
    """)


_DUE: Final = {way: _due(way) for way in Leaving}
