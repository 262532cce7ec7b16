"""The state in which each test finds the database: no rows but one tenant and its default rules.

Rows that a test left are deleted; the tenant and its rules are written again only where they have changed.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing

from sqlalchemy import Connection, Engine, create_engine, make_url, text

from core.config import Settings
from core.storage import db
from core.storage.tables import TENANT_TABLES
from core.tenancy import tenants
from rules.registry import store
from tests.samples import TENANT

KEPT = ("tenants", "rules", "rule_versions")
OTHERS = ("heartbeats", "providers", *(table.name for table in TENANT_TABLES if table.name not in KEPT))
SMALL_BYTES = 128 * 1024
LEAVE_SECONDS = 5.0
LASTING = "lasting"
"""The application name of a process that several tests share; its connections outlive a test."""


class Initial:
    """The initial state of a database that has been upgraded, and the way back to it."""

    def __init__(self, settings: Settings, admin_url: str) -> None:
        # A superuser, bound by no policy; its statements fire no triggers.
        self._engine = create_engine(
            make_url(admin_url).set(drivername="postgresql+psycopg"),
            pool_size=1,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={"options": "-c session_replication_role=replica"},
        )
        _truncate(self._engine, [*KEPT, *OTHERS])
        _install(settings)
        with self._engine.begin() as tx:
            self._rows = {table: tx.execute(text(_ROWS.format(table))).scalar_one() for table in KEPT}
            self._versions = tx.execute(_VERSIONS).one()

    def restore(self) -> None:
        """Return to it; waits for transactions that still write."""
        with self._engine.begin() as tx:
            sizes = tx.execute(_SIZES).all()
            if large := [row.name for row in sizes if row.bytes > SMALL_BYTES]:
                tx.execute(text(f"TRUNCATE {', '.join(large)} RESTART IDENTITY"))
            if small := [row.name for row in sizes if row.bytes <= SMALL_BYTES]:
                tx.execute(text(";".join(f"DELETE FROM {name}" for name in small)))
            tx.execute(text("SELECT setval('events_seq_seq', 1, false)"))
            if tx.execute(_VERSIONS).one() != self._versions:
                self._write_kept(tx)

    def alone(self) -> bool:
        """Whether nobody else is connected any more; whoever still is after a while is disconnected."""
        until = time.monotonic() + LEAVE_SECONDS
        with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as tx:
            while tx.execute(_CONNECTED).scalar_one():
                if time.monotonic() > until:
                    tx.execute(_DISCONNECT)
                    return False
                time.sleep(0.005)
        return True

    def close(self) -> None:
        self._engine.dispose()

    def _write_kept(self, tx: Connection) -> None:
        tx.execute(text(f"TRUNCATE {', '.join(KEPT)}"))
        for table, rows in self._rows.items():
            tx.execute(text(_WRITE.format(table)), {"rows": rows})
        # No two states of a tenant's rules may have the same revision.
        tx.execute(text("UPDATE rules SET revision = nextval('rule_revision')"))
        self._versions = tx.execute(_VERSIONS).one()


def _install(settings: Settings) -> None:
    with closing(db.connect(db.app_url(settings), 1)) as application, application.tenant(TENANT) as tx:
        tenants.ensure(tx, TENANT)
        store.install_defaults(tx, TENANT)


def _truncate(engine: Engine, tables: Sequence[str]) -> None:
    with engine.begin() as tx:
        tx.execute(text(f"TRUNCATE {', '.join(tables)} RESTART IDENTITY"))


_SIZES = text(
    "SELECT * FROM ("
    + " UNION ALL ".join(
        f"SELECT '{name}' AS name, pg_table_size('{name}') AS bytes, EXISTS (SELECT FROM {name}) AS held"
        for name in OTHERS
    )
    + f") AS sizes WHERE held OR bytes > {SMALL_BYTES}"
)
_MARKS = "(SELECT array_agg(({0}.ctid, {0}.xmin)::text ORDER BY {0}.ctid) FROM {0}) AS {0}"
_VERSIONS = text(f"SELECT {', '.join(_MARKS.format(table) for table in KEPT)}")
"""Where each row is and which transaction wrote it: it is another after any change."""

_ROWS = "SELECT json_agg({0})::text FROM {0}"
_WRITE = "INSERT INTO {0} SELECT * FROM json_populate_recordset(NULL::{0}, CAST(:rows AS json))"
_OTHERS = f"""
    FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
          AND application_name <> '{LASTING}'
"""
_CONNECTED = text(f"SELECT count(*) {_OTHERS}")
_DISCONNECT = text(f"SELECT pg_terminate_backend(pid) {_OTHERS}")
