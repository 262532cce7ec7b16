"""Retention: what a sweep costs that removes nothing, and how many rows a second leave.

    python -m bench.retention [messages]

To reach: a sweep with nothing due costs the same among 100 and among 100,000 messages, and what is due leaves at the
same rate. Conversations of 20 messages are accepted and indexed as the service does it, events and dispatches are
inserted as they are after their work is done. The floor deletes as many other rows of `messages` in one statement, as
the superuser.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import psycopg

from bench import arguments
from bench.stand import database, show, timed
from core.events import parsing
from core.expiry import sweep
from core.index import search_index
from core.sessions import ingest, sessions
from core.storage import db
from core.storage.db import Database
from core.tenancy import retention, tenants
from core.tenancy.retention import Retention
from core.types import Json

MESSAGES = 100_000
LENGTH = 20
DUE = 4_000
EVENTS = 20_000
TENANT = "bench"
KEEP = Retention(messages_days=30, sessions_days=60, events_days=30, dispatches_days=30)

YOUNG = """
    WITH made AS (
        INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, ended_at, message_count, extracted_to,
                              indexed_to, oldest_at)
        SELECT %(tenant)s, 'young' || n, 'u' || n %% 100, now(), now(), now(), %(length)s, %(length)s, %(length)s, now()
        FROM generate_series(1, %(count)s / %(length)s) AS n RETURNING id, user_id), said AS (
        INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content,
                              occurred_at)
        SELECT %(tenant)s, id, p, 'm' || p, 0, 'e' || p, user_id, 'user', repeat('What people say. ', 8), now()
        FROM made, generate_series(1, %(length)s) AS p)
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, session_id, user_id, correlation_id,
                        routed_at)
    SELECT %(tenant)s, id || '-' || p, 'bench', 'message.added', now(), '{}', id, user_id, id, now()
    FROM made, generate_series(1, %(length)s) AS p
"""
OLD_LOG = """
    WITH made AS (
        INSERT INTO events (tenant_id, id, source, event_type, time, payload, user_id, correlation_id, received_at,
                            routed_at)
        SELECT %(tenant)s, 'old' || n, 'bench', 'order.placed', now() - interval '40 days', '{"n": 1}', 'u', 'c',
               now() - interval '40 days', now()
        FROM generate_series(1, %(count)s) AS n RETURNING seq), done AS (
        INSERT INTO dispatches (tenant_id, id, event_seq, root_seq, action_type, target, queue, status, created_at,
                                ended_at)
        SELECT %(tenant)s, uuidv7(interval '-40 days'), seq, seq, 'emit', 'event_emitter', 'io', 'done',
               now() - interval '40 days', now() - interval '40 days' FROM made)
    INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict, at)
    SELECT %(tenant)s, seq, 'r', 1, 'fired', now() - interval '40 days' FROM made
"""
SETTLED = """
    UPDATE events SET routed_at = now() WHERE routed_at IS NULL;
    UPDATE sessions SET extracted_to = message_count WHERE extracted_to < message_count
"""
FLOOR = "DELETE FROM messages WHERE ctid = ANY(ARRAY(SELECT ctid FROM messages WHERE event_seq = 0 LIMIT {}))"


def run(count: int = MESSAGES) -> dict[str, float]:
    """Seconds and rows a second."""
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
            retention.put(tx, TENANT, KEEP)
        with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
            figures = _measure(app, connection, count)
        app.close()
        return figures


def _measure(app: Database, connection: psycopg.Connection, count: int) -> dict[str, float]:
    _fill(connection, 100)
    _talk(app, connection, LENGTH)
    _sweep(app)  # Connections and caches are those of a process at work.
    idle = {100: _idle(app)}
    few = _leaving(app, connection)
    _fill(connection, count)
    idle[count] = _idle(app)
    many = _leaving(app, connection)
    connection.execute("DELETE FROM events")
    connection.execute(OLD_LOG, {"tenant": TENANT, "count": EVENTS})
    connection.execute("VACUUM ANALYZE")
    left = Counter[str]()
    log = timed(lambda: left.update(_sweep(app)))
    rows = sum(left.values())
    assert rows == 3 * EVENTS, left
    floor = timed(lambda: connection.execute(FLOOR.format(DUE)))
    return {
        "sweep with nothing due among 100 messages, ms": 1000 * idle[100],
        f"sweep with nothing due among {count:,} messages, ms": 1000 * idle[count],
        "messages that leave a second, among 100 others": DUE / few,
        f"messages that leave a second, among {count:,} others": DUE / many,
        "floor: bare DELETE, rows a second": DUE / floor,
        "rows of the log that leave a second (events, decisions, dispatches)": rows / log,
    }


def _fill(connection: psycopg.Connection, count: int) -> None:
    connection.execute("DELETE FROM messages; DELETE FROM sessions; DELETE FROM events")
    connection.execute(YOUNG, {"tenant": TENANT, "length": LENGTH, "count": count})
    connection.execute("VACUUM ANALYZE")


def _leaving(app: Database, connection: psycopg.Connection) -> float:
    """Return the seconds in which DUE messages leave."""
    _talk(app, connection, DUE)
    connection.execute("VACUUM ANALYZE")
    left = Counter[str]()
    seconds = timed(lambda: left.update(_sweep(app)))
    assert left["messages"] == DUE, left
    return seconds


def _talk(app: Database, connection: psycopg.Connection, count: int) -> None:
    """Accept and index conversations that ended 40 days ago, with everything done that follows."""
    spoken = _spoken(count)
    while batch := list(islice(spoken, 500)):
        ingest.accept(app, TENANT, parsing.check(batch))
    for number in range(count // LENGTH):
        with app.tenant(TENANT) as tx:
            session = sessions.get(tx, f"old{number}")
            planned = search_index.plan(session, search_index.unindexed_messages(tx, session))
            search_index.put_messages(tx, TENANT, [(session, planned)])
    connection.execute(SETTLED)


def _spoken(count: int) -> Iterator[Json]:
    at = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    for number in range(count // LENGTH):
        owned = {"session_id": f"old{number}", "user_id": f"u{number % 100}"}
        for position in range(LENGTH):
            payload = owned | {
                "role": "user",
                "content": f"About number {number} and {position}, what people say of it.",
            }
            yield {"event_type": "message.added", "source": "bench", "time": at, "payload": payload}
        yield {"event_type": "session.ended", "source": "bench", "time": at, "payload": owned}


def _idle(app: Database) -> float:
    def once() -> None:
        assert not _sweep(app)

    return statistics.median(timed(once) for _ in range(20))


def _sweep(app: Database) -> Counter[str]:
    counts = Counter[str]()
    position: dict[str, Any] | None = sweep.BEGINNING
    while position is not None:
        with app.tenant(TENANT) as tx:
            done = sweep.step(tx, TENANT, position)
        counts, position = counts + done.counts, done.after
    return counts


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("messages", nargs="?", type=int, default=MESSAGES)
    show(__doc__, run(parser.parse_args().messages))


if __name__ == "__main__":
    main()
