"""State of the installation for whoever operates it, and of a tenant's own queues: statistics, and never a scan."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field
from sqlalchemy import text

from core.agents import QUEUES
from core.events.log import OPEN_DISPATCH
from core.maintenance import heartbeat
from core.maintenance.heartbeat import REQUIRED_PROCESSES, STARTED, VERSION, ProcessHealth
from core.storage import schema_version
from core.storage.db import Tx

MOST: Final = 1_000
"""Dispatches of a tenant that are counted."""


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """Work of the tenant on a queue."""

    name: str
    waiting: int
    running: int
    retrying: Annotated[int, Field(description="Those that wait for another attempt")]
    more: Annotated[bool, Field(description="Counted were 1,000 on all queues; there may be others")]
    oldest_at: Annotated[datetime | None, Field(description="When the one that has waited longest was decided")]
    processes: Annotated[int, Field(description="Processes that serve the queue, for all tenants")]


@dataclass(frozen=True, slots=True)
class TableHealth:
    """A table, as the server's statistics describe it."""

    name: str
    rows: Annotated[int, Field(description="An estimate")]
    dead_rows: Annotated[int, Field(description="Rows that vacuum will remove, an estimate")]
    bytes: Annotated[int, Field(description="With its indexes")]
    vacuumed_at: datetime | None
    analyzed_at: datetime | None


@dataclass(frozen=True, slots=True)
class ConnectionHealth:
    """Connections to the database; what they do is told of the API's own role alone."""

    total: int
    active: int
    idle: int
    in_transaction: int
    most: Annotated[int, Field(description="How many the server takes")]


@dataclass(frozen=True, slots=True)
class DatabaseHealth:
    """The database server."""

    version: str
    started_at: datetime
    bytes: int
    connections: ConnectionHealth
    oldest_transaction_seconds: Annotated[float, Field(description="Of the API's own role")]
    migration: str | None
    newest_migration: str


def processes(tx: Tx) -> list[ProcessHealth]:
    """Return each kind of process that all tenants share; the API is the process that answers."""
    beats = {beat.name: beat for beat in heartbeat.beats(tx)}
    now: datetime = tx.execute(text("SELECT clock_timestamp()")).scalar_one()
    api = ProcessHealth("api", alive=True, seen_at=now, since=STARTED, version=VERSION, queue=None, processes=None)
    return [api, *(beats.get(name) or ProcessHealth(name, False, *[None] * 5) for name in REQUIRED_PROCESSES)]


def workers(tx: Tx) -> list[ProcessHealth]:
    """Return the workers that said something today, each with its queue, by the machine's name."""
    return [beat for beat in heartbeat.beats(tx) if beat.queue is not None]


def queues(tx: Tx) -> list[QueueHealth]:
    """Return the tenant's work on each queue."""
    counted = {(row.queue, row.status): row.n for row in tx.execute(_OPEN, {"most": MOST})}
    more = sum(counted.values()) >= MOST
    oldest = {row.queue: row.at for row in tx.execute(_OLDEST, {"queues": list(QUEUES)})}
    serving = heartbeat.processes_by_queue(tx)
    return [
        QueueHealth(
            name,
            waiting=counted.get((name, "pending"), 0),
            running=counted.get((name, "running"), 0),
            retrying=counted.get((name, "retrying"), 0),
            more=more,
            oldest_at=oldest.get(name),
            processes=serving.get(name, 0),
        )
        for name in QUEUES
    ]


def tables(tx: Tx) -> list[TableHealth]:
    """Return the tables of the schema, the largest first."""
    return [TableHealth(*row) for row in tx.execute(_TABLES)]


def database(tx: Tx) -> DatabaseHealth:
    """Return the state of the server, and which migration the database is at."""
    row = tx.execute(_DATABASE).one()
    current, newest = schema_version.version(tx)
    connections = ConnectionHealth(row.total, row.active, row.idle, row.in_transaction, row.most)
    return DatabaseHealth(row.version, row.started_at, row.bytes, connections, round(row.oldest, 3), current, newest)


_OPEN = text(f"""
    SELECT queue, status, count(*) AS n FROM (
        SELECT queue, status FROM dispatches WHERE {OPEN_DISPATCH} LIMIT :most
    ) AS o GROUP BY queue, status
""")

_OLDEST = text("""
    SELECT q.queue, min(d.created_at) AS at
    FROM unnest(cast(:queues AS text[])) AS q (queue), unnest(ARRAY['ready', 'sent']) AS t (turn),
         LATERAL (SELECT created_at FROM dispatches
                  WHERE queue = q.queue AND turn = t.turn AND status IN ('pending', 'running') AND status = 'pending'
                  ORDER BY id LIMIT 1) AS d
    GROUP BY q.queue
""")
"""One step in the index of turns for each. The two conditions on the status are that index's, and the one meant."""

_TABLES = text("""
    SELECT CASE s.schemaname WHEN 'public' THEN '' ELSE s.schemaname || '.' END || s.relname AS name,
           greatest(c.reltuples, s.n_live_tup, 0)::bigint AS rows, s.n_dead_tup AS dead_rows,
           pg_total_relation_size(c.oid) AS bytes,
           greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed_at,
           greatest(s.last_analyze, s.last_autoanalyze) AS analyzed_at
    FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
    ORDER BY bytes DESC, name
""")
"""Sizes are those of files; rows are as the last analysis estimated them, or as the server has counted since."""

_DATABASE = text("""
    SELECT current_setting('server_version') AS version, pg_postmaster_start_time() AS started_at,
           pg_database_size(current_database()) AS bytes, current_setting('max_connections')::int AS most,
           (SELECT numbackends FROM pg_stat_database WHERE datname = current_database()) AS total,
           count(*) FILTER (WHERE state = 'active') AS active,
           count(*) FILTER (WHERE state = 'idle') AS idle,
           count(*) FILTER (WHERE state LIKE 'idle in transaction%') AS in_transaction,
           coalesce(extract(epoch FROM clock_timestamp() - min(xact_start)), 0)::float8 AS oldest
    FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user
""")
