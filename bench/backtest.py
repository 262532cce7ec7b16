"""Backtest: a draft over 100,000 stored events of 1,000 bytes, 20 rules in force, against a bare SELECT of the rows.

    python -m bench.backtest [events]

To reach: 100,000 events in 30 s on two cores. The floor reads the same columns of the same rows through psycopg, as
many at a time, and makes nothing of them. The draft gathers a session's messages until it is quiet and asks for the
session's size; the plain one has neither flow nor lookups. Memory is how much this process grows by on the way.
"""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from bench import arguments
from bench.stand import database, show, timed
from core.inference.embedders import HashEmbedder
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Json
from rules.backtest.backtest import Backtest, BacktestRequest, Result
from rules.backtest.log_window import PAGE
from rules.engine.similarity import Meanings
from rules.registry import store

EVENTS = 100_000
MESSAGES = 50
"""Messages of a session, which then ends."""

RULES = 20
TENANT = "bench"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
RUN = {"action_type": "run_agent", "target": "memory_consolidator"}

PLAIN: Json = {
    "name": "draft",
    "event_type": "message.added",
    "conditions": {"all": [{"field": "payload.role", "op": "==", "value": "user"}]},
    "actions": [RUN],
}
GATHERING: Json = {
    **PLAIN,
    "flow": {"debounce": {"seconds": 30, "max_events": 10, "flush_on": ["session.ended"]}},
    "stop": True,
}
ASKING: Json = {
    **GATHERING,
    "conditions": {
        "all": [
            {"field": "payload.role", "op": "==", "value": "user"},
            {"field": "session.message_count", "op": ">=", "value": 10},
        ]
    },
}

ROWS = """
    SELECT seq, id, source, event_type, subject, time, payload, session_id, user_id, hop, lineage
    FROM events WHERE tenant_id = %s AND seq > %s ORDER BY seq LIMIT %s
"""


def run(count: int = EVENTS) -> dict[str, float]:
    """Seconds and their ratios to the floor."""
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        _rules(app)
        with psycopg.connect(postgres.admin_url) as connection:
            _fill(connection, count)
            figures = _measure(app, connection, count)
        app.close()
        return figures


def _measure(app: Database, connection: psycopg.Connection, count: int) -> dict[str, float]:
    _read(connection)
    floor = timed(lambda: _read(connection))
    figures = {"events": float(count), "floor: SELECT of the same rows, s": floor}
    for name, draft in (("plain", PLAIN), ("debounce, displacing", GATHERING), ("debounce and lookups", ASKING)):
        before, began = _resident(), time.perf_counter()
        peak = max(_backtest(app, draft, count))
        seconds = time.perf_counter() - began
        figures[f"{name}, s"] = seconds
        figures[f"{name}: times the floor"] = seconds / floor
        figures[f"{name}: grown by, MiB"] = peak - before
    return figures


def _backtest(app: Database, draft: Json, count: int) -> Iterator[float]:
    """Runs it to its end; how large the process is on the way."""
    request = BacktestRequest(store.check(draft), None, BEGAN + timedelta(days=365))
    ends = 0 if "flow" in draft else count // (MESSAGES + 1)
    for step in Backtest(app, TENANT, request, Meanings(HashEmbedder()), max_hops=8).run():
        yield _resident()
        if isinstance(step, Result):
            assert step.document["events"] == count - ends
            assert step.document["fired"] > 0


def _read(connection: psycopg.Connection) -> None:
    after, rows = 0, [(0,)]
    while rows:
        rows = connection.execute(ROWS, (TENANT, after, PAGE)).fetchall()
        connection.commit()
        after = rows[-1][0] if rows else after


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _rules(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        for number in range(RULES):
            store.save(tx, TENANT, _rule(number), author="bench")


def _rule(number: int) -> Json:
    """Twenty rules on the draft's type, half of them behind it."""
    leaf = {"field": "payload.role", "op": "==", "value": "user" if number % 4 == 0 else f"role{number}"}
    return {
        "name": f"rule_{number}",
        "event_type": "message.added",
        "conditions": {"all": [leaf]},
        "priority": number - RULES // 2,
        "actions": [RUN],
    }


def _fill(connection: psycopg.Connection, count: int) -> None:
    """Sessions of messages, each with its end, and the rows that looking up reads."""
    names = "tenant_id, id, source, event_type, time, payload, session_id, user_id, correlation_id, routed_at"
    with connection.cursor() as cursor, cursor.copy(f"COPY events ({names}) FROM STDIN") as sink:
        for number in range(count):
            sink.write_row(_event(number))
    connection.execute(
        """
        INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content,
                              token_count, occurred_at)
        SELECT tenant_id, session_id, row_number() OVER (PARTITION BY session_id ORDER BY seq), id, seq, id, user_id,
               'user', 'x', 1, time
        FROM events WHERE event_type = 'message.added'
        """
    )
    connection.execute(
        """
        INSERT INTO sessions (tenant_id, id, user_id, started_at, last_at, message_count)
        SELECT tenant_id, session_id, min(user_id), min(time), max(time), count(*) FROM events
        WHERE session_id IS NOT NULL GROUP BY 1, 2
        """
    )
    connection.commit()
    connection.autocommit = True
    connection.execute("VACUUM ANALYZE")


def _event(number: int) -> tuple[object, ...]:
    session, position = divmod(number, MESSAGES + 1)
    payload: Json = {"session_id": f"s{session}", "user_id": f"u{session % 500}"}
    kind = "session.ended" if position == MESSAGES else "message.added"
    if kind == "message.added":
        payload |= {"role": ("user", "assistant")[position % 2], "content": "What was said, at some length. " * 29}
    else:
        payload |= {"message_count": MESSAGES, "summary": "x" * 880}
    at = BEGAN + timedelta(seconds=number * 7)
    name = f"e{number:08}"
    return (
        *(TENANT, name, "bench", kind, at, json.dumps(payload)),
        *(payload["session_id"], payload["user_id"], name, datetime.now(UTC)),
    )


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("events", nargs="?", type=int, default=EVENTS)
    show(__doc__, run(parser.parse_args().events))


if __name__ == "__main__":
    main()
