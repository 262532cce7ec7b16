"""The clock: one tick handed to each of 100,000 users, in pages, by a real clock process.

    python -m bench.clock

To reach: the memory of the process does not grow with the number of users. The floor is one bare INSERT … SELECT of the
same events, which PostgreSQL carries out alone; the clock commits a page at a time, so that a killed one goes on.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from sqlalchemy import text

from api.stack.broker import Broker
from api.stack.postgres import Postgres
from bench import arguments
from bench.stand import show, timed
from core.config import Settings
from core.storage import db, schema
from core.storage.db import Database
from core.tenancy import tenants
from rules.registry import store

USERS = 100_000
TENANT = "bench"
RULE = "for_everyone"

FLOOR = """
    INSERT INTO events (tenant_id, id, source, event_type, subject, time, payload, user_id, correlation_id)
    SELECT tenant_id, 'floor@' || user_id, 'floor', 'clock.ticked', 'user:' || user_id, now(),
           jsonb_build_object('rule', 'floor', 'version', 1, 'due_at', now(), 'user_id', user_id), user_id, user_id
    FROM sessions
"""

TOOK = """
    SELECT extract(epoch FROM max(received_at) - min(received_at)) FROM events WHERE event_type = 'clock.ticked'
"""


def run() -> dict[str, float]:
    """Users a second, and the process's peak memory before and after."""
    with tempfile.TemporaryDirectory(prefix="imprint-bench-") as folder:
        postgres, broker = Postgres(Path(folder)), Broker(Path(folder))
        try:
            postgres.start()
            broker.start()
            settings = Settings(home=Path(folder), database_url=postgres.url, broker_url=broker.url, embedding="hash")
            return _measure(settings, postgres)
        finally:
            broker.stop()
            postgres.stop()


def _measure(settings: Settings, postgres: Postgres) -> dict[str, float]:
    schema.upgrade(settings, ("hash", 384))
    app, queue = db.connect(db.app_url(settings), 1), db.connect(db.router_url(settings), 1)
    with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
        _fill(connection)
        floor = timed(lambda: connection.execute(FLOOR))
        connection.execute("DELETE FROM events")
        connection.execute("VACUUM ANALYZE")
        _save(app, "before")
        process = subprocess.Popen([sys.executable, "-m", "workers", "clock"], env=_environment(settings, postgres))
        try:
            _wait(queue, f"SELECT EXISTS (SELECT FROM schedules WHERE rule = '{RULE}')")
            before = _peak_mb(process)
            connection.execute("UPDATE schedules SET fired_to = fired_to - interval '1 hour'")
            _save(app, "after")  # An edit makes the clock look at the row again.
            _wait(queue, f"SELECT count(*) = {USERS} FROM events WHERE event_type = 'clock.ticked'")
            after = _peak_mb(process)
        finally:
            process.terminate()
            process.wait(10)
        took = connection.execute(TOOK).fetchone()
        assert took is not None
        seconds = float(took[0])
    app.close()
    queue.close()
    return {
        "floor: one INSERT … SELECT, users/s": USERS / floor,
        "clock, pages of 500, users/s": USERS / seconds,
        "share of the floor": floor / seconds,
        "peak memory before the tick, MiB": before,
        "peak memory after it, MiB": after,
    }


def _fill(connection: psycopg.Connection) -> None:
    with (
        connection.cursor() as cursor,
        cursor.copy("COPY sessions (tenant_id, id, user_id, started_at, last_at) FROM STDIN") as sink,
    ):
        for number in range(USERS):
            sink.write_row((TENANT, f"s{number}", f"user-{number:06}", "2026-11-21T10:00:00Z", "2026-11-21T10:00:00Z"))


def _save(app: Database, description: str) -> None:
    document = {
        "name": RULE,
        "description": description,
        "schedule": {"cron": "0 * * * *", "for_each": "user"},
        "actions": [{"action_type": "run_agent", "target": "memory_consolidator"}],
    }
    with app.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        store.save(tx, TENANT, document, author="bench")


def _environment(settings: Settings, postgres: Postgres) -> dict[str, str]:
    assert settings.broker_url is not None
    return os.environ | {
        "IMPRINT_HOME": str(settings.home),
        "IMPRINT_DATABASE_URL": postgres.url,
        "IMPRINT_BROKER_URL": settings.broker_url.get_secret_value(),
        "IMPRINT_EMBEDDING": "hash",
        "IMPRINT_METRICS_PORT": "0",
        "IMPRINT_BACKLOG_EVENTS": str(10 * USERS),
    }


def _wait(queue: Database, question: str) -> None:
    while True:
        with queue.queue() as tx:
            if tx.execute(text(question)).scalar_one():
                return
        time.sleep(0.2)


def _peak_mb(process: subprocess.Popen[bytes]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()
