"""Routing: one router with 20 rules, one in ten events matching, against a bare claim-and-update loop on that table.

    python -m bench.route

To reach: at least 1/3 of the floor's rate. The floor claims 500 rows with SKIP LOCKED, marks them and commits; the
router also reads the payloads, evaluates the rules, and writes decisions and dispatches.
"""

from __future__ import annotations

import json
import statistics
import uuid
from functools import partial

import psycopg
from sqlalchemy import text

from api.stack.postgres import Postgres
from bench import arguments
from bench.stand import database, show, timed
from core.config import Settings
from core.storage import db
from core.tenancy import tenants
from rules.registry import store
from workers import wiring
from workers.routing import router as routing

EVENTS = 10_000
BATCH = 500
RULES = 20
TENANT = "bench"

CLAIM = """
    WITH fresh AS (
        SELECT tenant_id, seq FROM events WHERE routed_at IS NULL ORDER BY seq LIMIT %s FOR UPDATE SKIP LOCKED
    )
    UPDATE events e SET routed_at = clock_timestamp() FROM fresh
    WHERE e.tenant_id = fresh.tenant_id AND e.seq = fresh.seq
"""


def _claim(connection: psycopg.Connection) -> None:
    connection.execute(CLAIM, (BATCH,))
    connection.commit()


def run() -> dict[str, float]:
    """Rates in events a second, and their ratio, batch by batch."""
    with database(rules_poll_seconds=3600) as (settings, postgres):
        return _measure(settings, postgres)


def _measure(settings: Settings, postgres: Postgres) -> dict[str, float]:
    _rules(settings)
    router = wiring.router(settings)
    floor, service = [], []
    with psycopg.connect(postgres.admin_url) as connection:
        for _ in range(EVENTS // BATCH + 2):
            _fill(connection)
            floor.append(timed(partial(_claim, connection)))
            _fill(connection)
            service.append(timed(lambda: routing.route(router)))
        made = connection.execute("SELECT count(*) FROM dispatches").fetchone()
    assert made == ((EVENTS // BATCH + 2) * BATCH // 10,), made
    router.db.close()
    return {
        "floor: claim and update, events/s": BATCH / statistics.median(floor[2:]),
        "router with 20 rules, events/s": BATCH / statistics.median(service[2:]),
        "ratio (to reach 0.33)": statistics.median(f / s for f, s in zip(floor[2:], service[2:], strict=True)),
    }


def _rules(settings: Settings) -> None:
    application = db.connect(db.app_url(settings), 1)
    with application.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        for number in range(RULES):
            store.save(tx, TENANT, _rule(number), author="bench")
        tx.execute(text("SELECT 1"))
    application.close()


def _rule(number: int) -> dict[str, object]:
    """Twenty rules on one type; the first of them is met by one event in ten, the others by none."""
    leaf = {"field": "payload.number", "op": "==", "value": number}
    busy = {"field": "payload.size", "op": ">=", "value": 3 if number == 0 else 1000}
    return {
        "name": f"rule_{number}",
        "event_type": "order.placed",
        "conditions": {"all": [leaf, busy]},
        "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
    }


def _fill(connection: psycopg.Connection) -> None:
    names = "tenant_id, id, source, event_type, time, payload, user_id, correlation_id"
    with connection.cursor() as cursor, cursor.copy(f"COPY events ({names}) FROM STDIN") as sink:
        for number in range(BATCH):
            payload = {"number": 0 if number % 10 == 0 else 99, "size": 5, "user_id": "u", "text": "x" * 300}
            name = uuid.uuid4().hex
            sink.write_row(
                (TENANT, name, "bench", "order.placed", "2026-11-21T10:00:00Z", json.dumps(payload), "u", name)
            )
    connection.commit()


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()
