"""Flow control: one router that debounces messages, against a bare upsert of as many rows of the same table.

    python -m bench.flow

To reach: 3,000 debounced events/s a router. Each batch of 500 events has one message of 1,000 bytes from each of 500
live sessions, which end after ten: so every event has a row of its own to change, and nothing is gathered in memory.
The floor appends to the arrays of 500 rows that have the columns and the indexes of `flows`, and commits. `pass_on` is
the flow control alone; `route` also claims the events, decides on the default rules, and writes decisions and
dispatches.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import psycopg
from sqlalchemy import text

from api.stack.postgres import Postgres
from bench import arguments
from bench.stand import database, show, timed
from core.config import Settings
from core.events import log, parsing
from core.sessions import ingest
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Event, Json
from rules.document.schema import Rule, parse
from rules.flow import flow_rows
from rules.flow.flow_rows import Match
from rules.registry import store
from workers import wiring
from workers.routing import router as routing
from workers.routing.router import Router

BATCH = 500
MESSAGES = 10
WARM = 1
ROUNDS = 4
TENANT = "bench"
RULE = "extract_while_chatting"

FLOOR_TABLE = "CREATE TABLE floor (LIKE flows INCLUDING ALL)"

FLOOR = """
    INSERT INTO floor AS f (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at, due_at)
    SELECT %s, 'r', 'debounce', key, 1, 1, ARRAY[seq], seq, now(), now() + interval '30 s'
    FROM json_to_recordset(%s::json) AS r (key text, seq bigint)
    ON CONFLICT (tenant_id, rule, kind, key) DO UPDATE SET
        gathered = f.gathered + 1, event_seqs = f.event_seqs || excluded.event_seqs, due_at = excluded.due_at
"""


def run() -> dict[str, float]:
    """Rates in events a second, and the ratios of the floor to them, batch by batch."""
    with database(rules_poll_seconds=3600, embedding="hash") as (settings, postgres):
        return _measure(settings, postgres)


def _measure(settings: Settings, postgres: Postgres) -> dict[str, float]:
    app, router = db.connect(db.app_url(settings), 1), replace(wiring.router(settings), batch=BATCH)
    rule = _rules(app)
    floor, alone, whole = [], [], []
    with psycopg.connect(postgres.admin_url) as connection:
        connection.execute(FLOOR_TABLE)
        connection.commit()
        for number in range((WARM + ROUNDS) * MESSAGES):
            fresh = _accept(app, router.db, number)
            floor.append(timed(partial(_floor, connection, fresh)))
            alone.append(timed(partial(_pass_on, router.db, rule, fresh)))
            whole.append(timed(partial(_route, router)))
        query = "SELECT count(*) FROM decisions WHERE rule = %s AND verdict IN ('gathered', 'fired')"
        assert connection.execute(query, (RULE,)).fetchone() == (len(whole) * BATCH,)
    app.close()
    router.db.close()
    return _figures(*(seconds[WARM * MESSAGES :] for seconds in (floor, alone, whole)))


def _figures(floor: Sequence[float], alone: Sequence[float], whole: Sequence[float]) -> dict[str, float]:
    return {
        "floor: bare upsert, rows/s": BATCH / statistics.median(floor),
        "pass_on, events/s": BATCH / statistics.median(alone),
        "ratio to the floor": statistics.median(f / s for f, s in zip(floor, alone, strict=True)),
        "route, events/s (to reach 3,000)": BATCH / statistics.median(whole),
        "route, events/s, all batches": BATCH * len(whole) / sum(whole),
        "route, ratio to the floor": statistics.median(f / s for f, s in zip(floor, whole, strict=True)),
    }


def _rules(app: Database) -> Rule:
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        store.install_defaults(tx, TENANT)
        return parse(store.get(tx, RULE).document)


def _accept(app: Database, queue: Database, number: int) -> list[Event]:
    """A message of each live session on the log, as the doors put it there; the events as a router reads them."""
    documents = [_message_event(f"s{number // MESSAGES}-{session}") for session in range(BATCH)]
    ingest.accept(app, TENANT, parsing.check(documents))
    with queue.queue() as tx:
        rows = tx.execute(text(f"SELECT {log.COLUMNS} FROM events e WHERE routed_at IS NULL ORDER BY seq"))
        return [log.event_of(row) for row in rows]


def _message_event(session: str) -> Json:
    payload = {"session_id": session, "user_id": f"u-{session}", "role": "user", "content": "x" * 900}
    return {"event_type": "message.added", "source": "bench", "time": "2026-11-21T10:00:00Z", "payload": payload}


def _floor(connection: psycopg.Connection, fresh: Sequence[Event]) -> None:
    rows = [{"key": event.session_id, "seq": event.seq} for event in fresh]
    connection.execute(FLOOR, (TENANT, json.dumps(rows)))
    connection.commit()


def _pass_on(queue: Database, rule: Rule, fresh: Sequence[Event]) -> None:
    """The same flow control under another tenant's name, so that it meets no row of the router's."""
    matches = [Match(_elsewhere(event), rule, 1, {"debounce": f"session:{event.session_id}"}) for event in fresh]
    with queue.queue() as tx:
        flow_rows.pass_on(tx, matches, datetime.now(UTC))


def _elsewhere(event: Event) -> Event:
    return Event(**{name: getattr(event, name) for name in Event.__slots__} | {"tenant_id": "elsewhere"})


def _route(router: Router) -> None:
    routed, _owed = routing.route(router)
    assert routed == BATCH, routed


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()
