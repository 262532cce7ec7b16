"""Lookups that conditions need beyond the event, answered for a whole batch in one statement.

Every value is as of the event, so that a trace or a backtest finds what the router found:

- `session.*` is counted by position in the log: the messages of the session up to the event's own position and, for
  `idle_seconds`, the message before. An event that names a session has 0 messages before the first one.
- `user.memory_count` and `budget.*` are as of the decision on the event (its `routed_at`, rounded up to the
  second), or current if it has not been decided. The time of acceptance would be wrong: a router with a backlog
  would let thousands of events pass a budget that the first of them had used up.
- Of memories only the present state is read, because the router may read no more: a memory archived since is not
  counted, and `memory.importance` is the current one.

An event with `seq` 0 is not in the log (someone tests a rule) and is treated as the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx, recordset
from core.types import Event, Json
from rules.expressions.paths import LOOKED_UP

Answers = Mapping[tuple[str, int], Mapping[str, Any]]
"""Looked-up values by tenant and log position of the event, and by name; None if there is none."""

LAST_PLACE: Final = 2**63 - 1
"""Position after every log."""


def ask(tx: Tx, requested: Sequence[tuple[Event, frozenset[str]]]) -> Answers:
    """Return the named values for each event, in one statement. Works for both roles."""
    rows = [_row(event, names) for event, names in requested if names]
    if not rows:
        return {}
    answers = {(row[0], row[1]): row for row in tx.execute(_ANSWERS, {"rows": recordset(rows)})}
    return {
        (event.tenant_id, event.seq): {name: answers[event.tenant_id, event.seq][_COLUMNS[name]] for name in names}
        for event, names in requested
        if names
    }


def lookup_of(answers: Answers, event: Event) -> Callable[[str], Any]:
    """Return the lookup for one event of the batch; a name that was not requested raises KeyError."""
    return answers.get((event.tenant_id, event.seq), {}).__getitem__


def _row(event: Event, names: frozenset[str]) -> Json:
    return {
        "tenant": event.tenant_id,
        "seq": event.seq,
        "upto": event.seq or LAST_PLACE,
        "session": event.session_id,
        "owner": event.user_id,
        "memory": _memory_id(event.subject),
        "time": event.time,
        **_parts(names),
    }


@lru_cache
def _parts(names: frozenset[str]) -> Mapping[str, bool]:
    """Return the parts of the statement that the names need."""
    return {f"of_{name.split('.')[0]}": True for name in names}


def _memory_id(subject: str | None) -> UUID | None:
    kind, _, name = (subject or "").partition(":")
    try:
        return UUID(name) if kind == "memory" else None
    except ValueError:
        return None


_COLUMNS: Final = {name: column for column, name in enumerate(LOOKED_UP, start=2)}
"""Column of each name in the result, after the tenant and the log position."""

_ANSWERS: Final = text("""
    WITH RECURSIVE asked AS MATERIALIZED (
        SELECT r.*, date_trunc('day', coalesce(e.routed_at, now()), 'UTC') AS midnight,
               coalesce(date_trunc('second', e.routed_at) + interval '1 second', 'infinity') AS decided
        FROM json_to_recordset(cast(:rows AS json)) AS r (
            tenant text, seq bigint, upto bigint, session text, owner text, memory uuid, time timestamptz,
            of_session bool, of_user bool, of_memory bool, of_budget bool)
        LEFT JOIN LATERAL (SELECT routed_at FROM events WHERE tenant_id = r.tenant AND seq = r.seq LIMIT 1) AS e ON true
    ), within (tenant, session, seq, upto, low, high) AS (
        SELECT a.tenant, a.session, a.seq, a.upto, coalesce(near.position, 0),
               coalesce(near.position, (
                   SELECT max(m.position) FROM messages m WHERE m.tenant_id = a.tenant AND m.session_id = a.session))
        FROM asked a LEFT JOIN LATERAL (
            SELECT position
            FROM (SELECT m.position, m.event_seq FROM messages m
                  WHERE m.tenant_id = a.tenant AND m.session_id = a.session
                  ORDER BY m.position DESC LIMIT 32) AS newest
            WHERE newest.event_seq <= a.upto LIMIT 1) AS near ON true
        WHERE a.of_session
        UNION ALL
        SELECT tenant, session, seq, upto,
               CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE middle - 1 END
        FROM (SELECT w.*, (w.low + w.high + 1) / 2 AS middle FROM within w WHERE w.low < w.high) AS half
        CROSS JOIN LATERAL (
            SELECT coalesce((
                SELECT m.event_seq FROM messages m
                WHERE m.tenant_id = half.tenant AND m.session_id = half.session AND m.position <= half.middle
                ORDER BY m.position DESC LIMIT 1) <= half.upto, true) AS is_before
            OFFSET 0) AS probe
    ), said AS MATERIALIZED (
        SELECT w.tenant, w.seq, w.upto, w.session, latest.*
        FROM within w CROSS JOIN LATERAL (
            SELECT m.position, m.token_count FROM messages m
            WHERE m.tenant_id = w.tenant AND m.session_id = w.session AND m.position <= w.low
            ORDER BY m.position DESC LIMIT 1) AS latest
        WHERE w.low = w.high
    ), owned AS MATERIALIZED (
        SELECT o.*, counted.memories
        FROM (SELECT DISTINCT tenant, owner, decided FROM asked WHERE of_user AND owner IS NOT NULL) AS o
        CROSS JOIN LATERAL (
            SELECT count(*) AS memories FROM memories m
            WHERE m.tenant_id = o.tenant AND m.user_id = o.owner AND m.status = 'active' AND m.recorded_at < o.decided
        ) AS counted
    ), spent AS MATERIALIZED (
        SELECT d.*, summed.*
        FROM (SELECT DISTINCT tenant, midnight, decided FROM asked WHERE of_budget) AS d
        CROSS JOIN LATERAL (
            SELECT coalesce(sum(c.cost), 0) AS cost,
                   cast(coalesce(sum(cast(c.input_tokens AS bigint) + c.output_tokens), 0) AS bigint) AS tokens
            FROM model_calls c WHERE c.tenant_id = d.tenant AND c.at >= d.midnight AND c.at < d.decided) AS summed
    )
    SELECT a.tenant, a.seq,
           CASE WHEN a.session IS NOT NULL THEN coalesce(s.position, 0) END AS "session.message_count",
           CASE WHEN s.position IS NOT NULL THEN coalesce(s.token_count, (
                SELECT token_count FROM sessions WHERE tenant_id = a.tenant AND id = a.session))
                WHEN a.session IS NOT NULL THEN 0 END AS "session.token_count",
           cast(extract(epoch FROM a.time - (
                SELECT m.occurred_at FROM messages m
                WHERE m.tenant_id = a.tenant AND m.session_id = a.session AND m.position <= s.position
                  AND m.event_seq < a.upto
                ORDER BY m.position DESC LIMIT 1)) AS float8) AS "session.idle_seconds",
           o.memories AS "user.memory_count",
           CASE WHEN a.of_memory THEN (
                SELECT importance FROM memories WHERE tenant_id = a.tenant AND id = a.memory)
           END AS "memory.importance",
           b.tokens AS "budget.tokens_today", b.cost AS "budget.cost_today"
    FROM asked a
    LEFT JOIN said s ON s.tenant = a.tenant AND s.seq = a.seq
    LEFT JOIN owned o ON o.tenant = a.tenant AND o.owner = a.owner AND o.decided = a.decided
    LEFT JOIN spent b ON b.tenant = a.tenant AND b.midnight = a.midnight AND b.decided = a.decided
""")
"""The position of an event in its session is found at once near its end, and else by bisection: positions rise with
log positions, so a session of 10,000 messages costs 14 primary-key lookups. Sums are computed once per tenant or
user. LATERAL parts are evaluated row by row with an index, whatever the planner knows about the tables.
"""
