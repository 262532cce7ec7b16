"""Physical removal: rewrite tables, WAL, broker file.

Run by the role that owns the tables. Each table is locked while it is rewritten, so at a quiet hour.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import psycopg
import redis
from psycopg import sql
from sqlalchemy.engine import URL

from core.config import Settings
from core.erasure import names
from core.errors import Later
from core.events.doorbell import broker_url
from core.settings.brokers import is_redis, redis_url
from core.storage import db
from core.storage.tables import TENANT_TABLES
from core.tenancy import tenants
from core.types import Json

STATISTICS: Final = "pg_catalog.pg_statistic"
"""Table in which PostgreSQL stores the most common values of each column, texts of messages among them."""

WAIT_SECONDS: Final = 60.0
"""Longest wait for transactions that still see erased rows, and for the broker to rewrite its file, seconds."""

LOCK_SECONDS: Final = 10
"""Longest wait for the lock of a table, seconds."""

STEP_SECONDS = 0.2

MOST_SEGMENTS: Final = 1024
"""Largest number of write-ahead log files that are switched: 16 GiB."""

_UNREMOVABLE = re.compile(r"(\d+) dead row versions cannot be removed yet")


@dataclass(slots=True)
class ScrubResult:
    """Result: names removed, tables rewritten, database size before and after, what could not be done (`notes`)."""

    names: int = 0
    tables: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    segments: int = 0
    broker: bool = False
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


def run(settings: Settings, tell: Callable[[str], None] = lambda _line: None) -> ScrubResult:
    """Remove names of erased users, rewrite tables and statistics, and leave old files of the database and broker logs.

    `tell` is called with the name of each step. Later: an old transaction still sees erased rows; scrub again.
    """
    done = ScrubResult()
    tell("names")
    done.names = _forget_names(settings)
    with _owner_connection(db.owner_url(settings)) as connection:
        done.bytes_before = _bytes(connection)
        for table in (*(t.name for t in TENANT_TABLES), STATISTICS):
            tell(table)
            _rewrite(connection, table)
            done.tables += 1
        done.bytes_after = _bytes(connection)
        tell("write-ahead log")
        _switch_wal(connection, done)
    tell("broker")
    _rewrite_broker(broker_url(settings), done)
    return done


def _forget_names(settings: Settings) -> int:
    """Remove the names in every tenant.

    Only the router's role can list tenants, and only the tenant-bound one may write.
    """
    queue, app = db.connect(db.router_url(settings), 1), db.connect(db.app_url(settings), 1)
    try:
        with queue.queue() as tx:
            tenant_ids = tenants.names(tx)
        forgotten = 0
        for tenant_id in tenant_ids:
            with app.tenant(tenant_id) as tx:
                forgotten += names.forget(tx, tenant_id)
        return forgotten
    finally:
        queue.close()
        app.close()


@contextmanager
def _owner_connection(url: URL) -> Iterator[psycopg.Connection[Any]]:
    """Connect in autocommit mode: VACUUM FULL cannot run in a transaction."""
    dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(dsn, autocommit=True) as connection:
        # A waiting VACUUM FULL blocks all that come after it.
        connection.execute(f"SET lock_timeout = {LOCK_SECONDS * 1000}")
        yield connection


def _rewrite(connection: psycopg.Connection[Any], table: str) -> None:
    """Rewrite a table, its indexes and its statistics; repeat while a transaction still sees deleted rows."""
    notices: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        notices.append(f"{notice.message_primary}\n{notice.message_detail}")

    options = "FULL, VERBOSE" if table == STATISTICS else "FULL, VERBOSE, ANALYZE"
    statement = sql.SQL("VACUUM ({}) {}").format(sql.SQL(options), sql.Identifier(*table.split(".")))
    if table != STATISTICS:
        connection.execute(_FORGET_STATISTICS, (table,))
    connection.add_notice_handler(hear)
    try:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            notices.clear()
            with contextlib.suppress(psycopg.errors.LockNotAvailable):
                connection.execute(statement)
                if not any(int(n) for n in _UNREMOVABLE.findall("\n".join(notices))):
                    return
            if time.monotonic() > until:
                raise Later(f"A transaction that began long ago keeps deleted rows of {table}. End it and scrub again.")
            time.sleep(STEP_SECONDS)
    finally:
        connection.remove_notice_handler(hear)


def _switch_wal(connection: psycopg.Connection[Any], done: ScrubResult) -> None:
    """Switch past every file of the write-ahead log that was written before, or is kept for reuse."""
    try:
        connection.execute("CHECKPOINT")
        ahead = connection.execute(_AHEAD).fetchone()
        for _ in range(min(ahead[0] if ahead else 0, MOST_SEGMENTS) + 1):
            connection.execute(_SWITCH)
            done.segments += 1
        connection.execute("CHECKPOINT")
    except psycopg.errors.InsufficientPrivilege as error:
        done.notes.append(
            f"The write-ahead log holds what was erased until PostgreSQL writes over it: {error.diag.message_primary}. "
            "GRANT pg_checkpoint and EXECUTE on pg_switch_wal() and pg_ls_waldir() to the owner, or have its "
            "administrator do it."
        )


def _rewrite_broker(url: str, done: ScrubResult) -> None:
    """Have Redis rewrite its append-only file, which contains events that came over the bus."""
    if not is_redis(url):
        done.notes.append("The broker is no Redis; what it keeps on its disk of messages that were taken is its own.")
        return
    with redis.Redis.from_url(redis_url(url)) as client:
        info: Json = client.info("persistence")
        if info.get("aof_enabled"):
            client.bgrewriteaof()
            _await_rewritten(client)
        done.broker = True


def _await_rewritten(client: redis.Redis) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while True:
        info: Json = client.info("persistence")
        if not (info["aof_rewrite_in_progress"] or info["aof_rewrite_scheduled"]):
            return
        if time.monotonic() > until:
            raise Later("The broker did not rewrite its file in time. Scrub again.")
        time.sleep(STEP_SECONDS)


def _bytes(connection: psycopg.Connection[Any]) -> int:
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


_FORGET_STATISTICS = """
    SELECT pg_clear_attribute_stats('public', c.relname::text, a.attname::text, false)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.oid = ('public.' || quote_ident(%s))::regclass
"""
"""PostgreSQL makes no new statistics for an empty table, and keeps the old ones."""

_AHEAD = (
    "SELECT count(*) FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$' AND name > pg_walfile_name(pg_current_wal_lsn())"
)
"""Files kept for reuse still contain what was written to them before."""

_SWITCH = "SELECT pg_switch_wal() FROM pg_logical_emit_message(false, 'imprint', 'scrub')"
"""An empty file is not switched, so a message is written first."""
