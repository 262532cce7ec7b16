"""Looks of an alarm at a tenant with a million events, and what the index behind it costs those who publish.

    python -m bench.alarms

To reach: a look at a rare type costs what was counted, not what is stored. Each time is the median of 21 looks, and the
shortest of 12 writes.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from typing import Final

import psycopg
from pydantic import TypeAdapter

from bench import arguments
from bench.stand import database, show, timed
from core.storage import db
from core.storage.db import Database
from core.types import Json
from rules.document.counting import Counts
from rules.engine import counts
from rules.engine.counts import NO_BUDGET, Subject

TENANT: Final = "bench"
EVENTS: Final = 1_000_000
LOOKS: Final = 21
WRITTEN: Final = 20_000
TURNS: Final = 4

INDEX: Final = "CREATE INDEX events_of_type ON events (tenant_id, event_type, received_at)"

FILL: Final = """
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, user_id, correlation_id, received_at,
                        routed_at)
    SELECT %(tenant)s, 'e' || n, 'source-' || n %% 5,
           CASE WHEN n %% 1000 = 0 THEN 'order.placed' ELSE 'message.added' END, moment,
           '{"content": "I moved to Lisbon in May."}', 'user-' || n %% 997, 'e' || n, moment, moment
    FROM generate_series(1, %(count)s) AS n,
         LATERAL (SELECT now() - n * interval '86 milliseconds' AS moment) AS m
"""
"""A day of one tenant, in which each thousandth event is an order."""

WRITE: Final = """
    INSERT INTO events (tenant_id, id, source, event_type, time, payload, user_id, correlation_id)
    SELECT %(tenant)s, %(batch)s || n, 'source', 'message.added', now(), '{"content": "Hello."}', 'ada', 'e' || n
    FROM generate_series(1, %(count)s) AS n
"""

DAY: Final = 86_400
LOOKED_AT: Final[Mapping[str, tuple[str, Json]]] = {
    "1,000 orders of a day, ms": ("tenant", {"event_type": "order.placed", "within_seconds": DAY}),
    "all events of 5 min (3,500), ms": ("tenant", {"event_type": "message.added", "within_seconds": 300}),
    "the same by user, ms": ("user", {"event_type": "message.added", "within_seconds": 300}),
    "all events of a day, counted to 100,000, ms": ("tenant", {"event_type": "message.added", "within_seconds": DAY}),
    "the same by source, left as it is, ms": ("source", {"event_type": "message.added", "within_seconds": DAY}),
}


def run() -> dict[str, float]:
    """Milliseconds of looks, and of writing with and without the index."""
    with database() as (settings, postgres), psycopg.connect(postgres.admin_url, autocommit=True) as connection:
        connection.execute(FILL, {"tenant": TENANT, "count": EVENTS})
        connection.execute("VACUUM ANALYZE events")
        with closing(db.connect(db.router_url(settings), 1)) as queue:
            figures = {name: _look(queue, for_each, count) for name, (for_each, count) in LOOKED_AT.items()}
        written, without = list[float](), list[float]()
        for turn in range(TURNS):
            written += [_write(connection, f"{turn}-{n}-") for n in range(3)]
            connection.execute("DROP INDEX events_of_type")
            without += [_write(connection, f"{turn}+{n}+") for n in range(3)]
            connection.execute(INDEX)
        named = f"write {WRITTEN:,} events"
        figures |= {f"{named}, ms": 1000 * min(written), f"{named} without the index, ms": 1000 * min(without)}
        return figures


def _look(queue: Database, for_each: str, count: Json) -> float:
    parsed = TypeAdapter(Counts).validate_python({"n": {"of": "events", **count}})
    subject = Subject(TENANT, for_each, [datetime.now(UTC)])

    def look() -> None:
        with queue.queue() as tx:
            counts.look(tx, subject, parsed, NO_BUDGET)

    return 1000 * statistics.median(timed(look) for _ in range(LOOKS))


def _write(connection: psycopg.Connection[tuple[object, ...]], batch: str) -> float:
    return timed(lambda: connection.execute(WRITE, {"tenant": TENANT, "batch": batch, "count": WRITTEN}))


def main() -> None:
    arguments.parser(__doc__).parse_args()
    show(__doc__, run())


if __name__ == "__main__":
    main()
