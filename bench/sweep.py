"""The nightly sweep: 1,000,000 memories of which 1,000 have faded, against a bare UPDATE of as many due rows.

    python -m bench.sweep [memories]

To reach: below 1 s, and nothing written but what is due. The sweep archives page by page as `memory_decay` does, each
page in a transaction with its versions and its events. The floor changes the status of 1,000 other due rows of that
table in one statement, as the superuser, and tells nobody. `with none due` is what a night costs on which nothing
fades; `counting users` is what finds out who has too many.
"""

from __future__ import annotations

import psycopg

from bench import arguments
from bench.stand import database, show, timed
from core.config import Settings
from core.events.publishing import Author
from core.maintenance import sweeps
from core.storage import db
from core.storage.db import Database
from core.tenancy import tenants

MEMORIES = 1_000_000
DUE = 1_000
USERS = 500
TENANT = "bench"
AUTHOR = Author("memory_decay")

FILL = """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at, fade_half_life, fade_at)
    SELECT %(tenant)s, gen_random_uuid(), 'user' || n %% %(users)s, 'user', 'semantic', 'fact', 'other',
           'What was said about number ' || n || ', at some length, as people do.', md5(n::text), 'candidate', 'active',
           now(), 180, now() + make_interval(mins => n)
    FROM generate_series(1, %(count)s) AS n
"""
MAKE_DUE = """
    UPDATE memories SET fade_at = now() - interval '1 hour' WHERE (tenant_id, id) IN (
        SELECT tenant_id, id FROM memories WHERE status = 'active' ORDER BY md5(id::text) LIMIT %s)
"""
FLOOR = """
    UPDATE memories SET status = 'archived', fade_at = NULL, version = version + 1, updated_at = clock_timestamp()
    WHERE tenant_id = 'bench' AND status = 'active' AND fade_at <= now()
"""
WRITTEN = "SELECT count(*) FROM memories WHERE version > 1"


def run(count: int = MEMORIES) -> dict[str, float]:
    """Seconds, and how many rows were written."""
    with database() as (settings, postgres):
        app = db.connect(db.app_url(settings), 2)
        with app.tenant(TENANT) as tx:
            tenants.ensure(tx, TENANT)
        with psycopg.connect(postgres.admin_url, autocommit=True) as connection:
            connection.execute(FILL, {"tenant": TENANT, "users": USERS, "count": count})
            connection.execute("VACUUM ANALYZE memories")
            figures = _measure(app, connection, count, settings)
        app.close()
        return figures


def _measure(app: Database, connection: psycopg.Connection, count: int, settings: Settings) -> dict[str, float]:
    _sweep(app, sweeps.PAGE)  # Connections and caches are those of a process at work.
    connection.execute(MAKE_DUE, (DUE,))
    floor = timed(lambda: connection.execute(FLOOR))
    connection.execute("UPDATE memories SET version = 1 WHERE version > 1")
    connection.execute(MAKE_DUE, (DUE,))
    swept = timed(lambda: _sweep(app, sweeps.PAGE))
    written = connection.execute(WRITTEN).fetchone()
    assert written == (DUE,), written
    idle = timed(lambda: _sweep(app, sweeps.PAGE))
    counted = timed(lambda: _overflow(app, settings))
    return {
        "memories": float(count),
        "floor: UPDATE of as many due rows, s": floor,
        f"sweep of {DUE:,} due, s (to reach: below 1)": swept,
        "times the floor": swept / floor,
        "rows written": float(written[0]),
        "sweep with none due, s": idle,
        "counting users above their limit, s": counted,
    }


def _sweep(app: Database, page: int) -> None:
    archived = page
    while archived == page:
        with app.tenant(TENANT) as tx:
            archived = sweeps.archive_faded(tx, TENANT, AUTHOR, page)


def _overflow(app: Database, settings: Settings) -> None:
    with app.tenant(TENANT) as tx:
        assert sweeps.archive_weakest(tx, TENANT, AUTHOR, settings.memories_per_user, sweeps.PAGE) == 0


def main() -> None:
    parser = arguments.parser(__doc__)
    parser.add_argument("memories", nargs="?", type=int, default=MEMORIES)
    show(__doc__, run(parser.parse_args().memories))


if __name__ == "__main__":
    main()
