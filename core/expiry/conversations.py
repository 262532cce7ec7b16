"""Removes messages and sessions that have been kept for as long as they should.

This is not an erasure: no tombstone, no receipt, and what was learnt stays. Nothing leaves while there is work on it:
an event that is not routed, a dispatch that has not ended, a wait of a rule, a dead letter that can be replayed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import text

from core.erasure import runner
from core.erasure.steps import ErasurePart
from core.events import expiries
from core.events.expiries import Kind, Removed
from core.expiry import due
from core.expiry.due import DueSession, Leaving
from core.sessions.message_rows import TOOL
from core.storage.db import Tx, message_places
from core.tenancy.retention import Retention

MESSAGES: Final = 1_000
"""Messages that leave in one transaction: its locks are held briefly."""

EVENTS: Final = 5_000
"""Events that lose their words in one transaction, with what followed from them."""


@dataclass(frozen=True, slots=True)
class Done:
    """Rows removed, by kind, and whether that was all that could leave of these sessions."""

    counts: Counter[str]
    is_last: bool


def remove(tx: Tx, tenant_id: str, retention: Retention, sessions: Sequence[DueSession], way: Leaving) -> Done:
    """Remove what is due of these locked sessions, except what there is work on."""
    whole = [session.id for session in sessions if session.whole]
    busy = set(tx.execute(_BUSY, {"ids": whole}).scalars()) if whole else set()
    parts = [session.id for session in sessions if not session.whole]
    all_of = _remove_whole(
        tx, tenant_id, retention, [session_id for session_id in whole if session_id not in busy], way
    )
    some_of = _remove_parts(tx, tenant_id, retention, parts)
    return Done(all_of.counts + some_of.counts, all_of.is_last and some_of.is_last)


def _remove_whole(tx: Tx, tenant_id: str, retention: Retention, sessions: Sequence[str], way: Leaving) -> Done:
    """Remove conversations: what the log says of them, their messages page by page, then the rest."""
    if not sessions:
        return Done(Counter(), is_last=True)
    event_seqs = tx.execute(_TOLD, {"sessions": sessions, "most": EVENTS}).scalars().all()
    messages = tx.execute(_MESSAGES, {"sessions": sessions, "most": MESSAGES}).all()
    counts = _remove_messages(tx, tenant_id, retention, messages, event_seqs, whole=True)
    if len(event_seqs) == EVENTS or len(messages) == MESSAGES:
        return Done(counts, is_last=False)
    runner.run(tx, tenant_id, ErasurePart.EXPIRED_SESSIONS, {"sessions": sessions})
    gone = tx.execute(_DELETE_SESSIONS if way is Leaving.SESSIONS else _ENDED, {"sessions": sessions}).scalars().all()
    if len(gone) < len(sessions):
        tx.execute(_REMAIN, {"sessions": sessions})
    return Done(counts + _record(tx, tenant_id, "sessions", gone), is_last=True)


def _remove_parts(tx: Tx, tenant_id: str, retention: Retention, sessions: Sequence[str]) -> Done:
    """Remove the words of messages that are due while their session goes on; they keep their places."""
    if not sessions:
        return Done(Counter(), is_last=True)
    values = due.cutoffs(retention) | {"sessions": sessions, "most": MESSAGES}
    messages = tx.execute(_DUE_MESSAGES, values).all()
    repeats = {"sessions": sessions, "ids": [row.id for row in messages]}
    event_seqs = [row.event_seq for row in messages] + list(tx.execute(_NAMING, repeats).scalars()) if messages else []
    counts = _remove_messages(tx, tenant_id, retention, messages, event_seqs, whole=False)
    if len(messages) < MESSAGES:
        tx.execute(_OLDEST, {"sessions": sessions})
    return Done(counts, is_last=len(messages) < MESSAGES)


def _remove_messages(
    tx: Tx, tenant_id: str, retention: Retention, messages: Sequence[Any], event_seqs: Sequence[int], *, whole: bool
) -> Counter[str]:
    """Remove the words of messages from everything but memories, and of the events at these positions."""
    _redact(tx, tenant_id, event_seqs)
    if not messages:
        return Counter()
    values: dict[str, Any] = {
        **message_places((row.session_id, row.id) for row in messages),
        "places": [(row.session_id, row.id, row.position) for row in messages],
        "seqs": [row.event_seq for row in messages],
        "whole": whole,
    }
    values["owners"] = sorted(runner.lock_owners(tx, tenant_id, tx.execute(_OWNERS, values).scalars()))
    if retention.quotes == "drop":
        runner.run(tx, tenant_id, ErasurePart.QUOTES, values)
    runner.run(tx, tenant_id, ErasurePart.EXPIRED_MESSAGES, values)
    if not whole:
        runner.run(tx, tenant_id, ErasurePart.EXPIRED_PARTS, values)
    tools = [row.occurred_at for row in messages if row.role == TOOL and not row.is_blank]
    spoken = [row.occurred_at for row in messages if row.role != TOOL and not row.is_blank]
    return _record(tx, tenant_id, "messages", spoken) + _record(tx, tenant_id, "tool_results", tools)


def _redact(tx: Tx, tenant_id: str, event_seqs: Sequence[int]) -> None:
    """Remove the words of events, and of what the service emitted because of them except about memories."""
    rows = tx.execute(_WITH_CONSEQUENCES, {"seqs": list(event_seqs)}).all() if event_seqs else []
    if rows:
        seqs = [row.seq for row in rows]
        contents = [row.content for row in rows if row.content]
        events = {"seqs": seqs, "events": [row.id for row in rows], "contents": contents}
        runner.run(tx, tenant_id, ErasurePart.EXPIRED_EVENTS, {"shortened": [], "emptied": seqs, **events})


def _record(tx: Tx, tenant_id: str, kind: Kind, times: Sequence[Any]) -> Counter[str]:
    if times:
        expiries.record(tx, tenant_id, Removed(kind, len(times), max(times)))
    return Counter({kind: len(times)} if times else {})


def has_work(seq: str) -> str:
    """Return SQL for whether there is work, open or dead, on an event or on what followed from it."""
    return f"""(
        EXISTS (SELECT FROM dispatches d WHERE d.event_seq = {seq} AND (d.ended_at IS NULL OR d.status = 'dead'))
        OR EXISTS (SELECT FROM dispatches d
                   WHERE d.root_seq = {seq} AND d.status IN ('pending', 'running', 'retrying'))
        OR EXISTS (SELECT FROM dispatches d WHERE d.root_seq = {seq} AND d.status IN ('held', 'dead'))
        OR {seq} IN (SELECT coalesce(u.root_seq, u.seq) FROM events u WHERE u.routed_at IS NULL)
        OR {seq} IN (SELECT unnest(f.event_seqs) FROM flows f WHERE f.due_at IS NOT NULL))
    """


_BUSY = text(f"""
    SELECT s.id FROM sessions s WHERE s.id = ANY(:ids) AND (
        s.indexed_to < s.message_count
        OR EXISTS (SELECT FROM events e WHERE e.session_id = s.id AND (e.routed_at IS NULL OR {has_work("e.seq")})))
""")

_TOLD = text("""
    SELECT seq FROM events
    WHERE session_id = ANY(:sessions) AND event_type NOT LIKE 'memory.%' AND NOT jsonb_exists(payload, 'expired')
    LIMIT :most
""")
"""Events about memories say what memories say, and stay with them."""

_WITH_CONSEQUENCES = text("""
    WITH RECURSIVE about AS (
        SELECT seq, id FROM events WHERE seq = ANY(cast(:seqs AS bigint[]))
        UNION
        SELECT e.seq, e.id FROM about JOIN events e ON e.causation_id = about.id
        WHERE e.source = 'imprint' AND (e.subject IS NULL OR e.subject NOT LIKE 'memory:%')
    )
    SELECT e.seq, e.id, e.payload ->> 'content' AS content FROM about JOIN events e ON e.seq = about.seq
""")

_FIELDS: Final = """
    m.session_id, m.id, m.position, m.event_seq, m.role, m.occurred_at, m.content = '' AS is_blank
"""

_MESSAGES = text(f"""
    SELECT {_FIELDS} FROM messages m
    WHERE m.session_id = ANY(:sessions) AND NOT coalesce(jsonb_exists(m.extras, 'expired'), false)
    ORDER BY m.session_id, m.position LIMIT :most
""")

_DUE_MESSAGES = text(f"""
    SELECT {_FIELDS} FROM sessions s JOIN messages m ON m.session_id = s.id
    WHERE s.id = ANY(:sessions) AND m.content <> '' AND m.position <= least(s.extracted_to, s.indexed_to)
      AND (m.occurred_at < {due.CUTOFF} OR m.role = '{TOOL}' AND m.occurred_at < {due.TOOL_CUTOFF})
      AND NOT {has_work("m.event_seq")}
    ORDER BY m.session_id, m.position LIMIT :most
""")
"""Keeps messages that no extraction has read: the end of the session will have them read."""

_NAMING = text("""
    SELECT seq FROM events
    WHERE session_id = ANY(:sessions) AND payload ->> 'message_id' = ANY(:ids) AND NOT jsonb_exists(payload, 'expired')
      AND event_type NOT LIKE 'memory.%'
""")
"""Repeats of the messages, and who hid them why."""

_OWNERS = text("""
    WITH places AS (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])) AS p (session_id, id))
    SELECT m.user_id FROM places p JOIN messages m ON m.session_id = p.session_id AND m.id = p.id WHERE m.user_id <> ''
    UNION
    SELECT o.user_id FROM places p JOIN evidence e ON e.session_id = p.session_id AND e.message_id = p.id
    JOIN memories o ON o.id = e.memory_id WHERE o.user_id IS NOT NULL
""")
"""Speakers of the messages, and owners of the memories that cite them."""

_OLDEST = text("""
    UPDATE sessions s SET oldest_at = coalesce(kept.said, clock_timestamp()), oldest_tool_at = kept.tool
    FROM (
        SELECT i.id, min(m.occurred_at) AS said, min(m.occurred_at) FILTER (WHERE m.role = 'tool') AS tool
        FROM unnest(cast(:sessions AS text[])) AS i (id)
        LEFT JOIN messages m ON m.session_id = i.id AND m.content <> '' GROUP BY i.id) AS kept
    WHERE s.id = kept.id
""")

_ENDED = text("SELECT ended_at FROM sessions WHERE id = ANY(:sessions)")

_DELETE_SESSIONS = text("""
    DELETE FROM sessions s WHERE s.id = ANY(:sessions)
      AND NOT EXISTS (SELECT FROM messages m WHERE m.session_id = s.id)
    RETURNING s.ended_at
""")
"""With places of messages left, a session of the same name must not begin to count anew."""

_REMAIN = text("UPDATE sessions SET is_remnant = true WHERE id = ANY(:sessions)")
