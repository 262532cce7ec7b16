"""Bring the database to the state this version needs: roles, tables, policies, and what its vectors were made with.

A new database is created from `tables` and `migrations/schema.sql`; an existing one is migrated by Alembic.
"""

from __future__ import annotations

import contextlib
from typing import Final

from psycopg import sql
from psycopg.errors import DeadlockDetected
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

from core import deferred
from core.config import Settings
from core.errors import Misconfigured
from core.storage import vector_spaces
from core.storage.db import (
    APP_ROLE,
    GONE_SECONDS,
    PROBE_INTERVAL_SECONDS,
    PROBE_SECONDS,
    PROBES,
    ROUTER_ROLE,
    Tx,
    app_url,
    owner_url,
    router_url,
)
from core.storage.schema_version import MIGRATIONS, migrations, require_same_embedding, version
from core.storage.tables import TENANT_TABLES, metadata
from core.storage.vector_spaces import EmbeddingModel

OWN_ROWS = "tenant_id = current_setting('imprint.tenant', true)"

ONE_TENANT: Final = """
    SELECT pg_restore_attribute_stats(
        'schemaname', current_schema()::text, 'relname', cast(:table AS text), 'attname', 'tenant_id',
        'inherited', false, 'null_frac', 0::real, 'avg_width', 8, 'n_distinct', 1::real)
"""
"""Writes statistics of a table that was never analysed.

Without any the planner supposes two hundred tenants with a few rows each, and reads all rows of one where an index
names the row (docs/decisions/performance.md, 0065).
"""

_ROLE_SETTINGS: Final = {
    "client_connection_check_interval": "1s",
    "tcp_keepalives_idle": PROBE_SECONDS,
    "tcp_keepalives_interval": PROBE_INTERVAL_SECONDS,
    "tcp_keepalives_count": PROBES,
    "tcp_user_timeout": f"{GONE_SECONDS}s",
}
"""Settings of the roles, which also hold behind a pooler.

The server ends a query soon after its client has closed, and the transaction of a client that has gone without a word,
which could hold its locks for hours.
"""

UPGRADE_TRIES: Final = 20
"""Times that an upgrade begins before a deadlock with processes at work is its error; each takes a second."""

UPGRADE_LOCK = 0x696D7072
"""Advisory lock (`impr`): two processes that upgrade at once do so one after the other."""


def upgrade(settings: Settings, embedding: tuple[str, int]) -> None:
    """Create or migrate everything, as the owner. `embedding` is the model's name and dimension.

    Indexes of existing tables are built first, while publishers write. All else is one transaction, which is begun
    again where it and processes at work wait for each other's locks.
    """
    engine = create_engine(owner_url(settings))
    try:
        for tries_left in reversed(range(UPGRADE_TRIES)):
            try:
                _build_indexes(engine)
                with engine.begin() as connection:
                    _upgrade(connection, settings, embedding)
            except OperationalError as error:
                if not tries_left or not isinstance(error.orig, DeadlockDetected):
                    raise
            else:
                return
    finally:
        engine.dispose()


def _build_indexes(engine: Engine) -> None:
    """Build what the migrations of an older database would index, outside their transaction."""
    with engine.connect() as connection:
        current, newest = version(connection)
    if current != newest and current in migrations():
        deferred.load("core.storage.migrating:build_indexes")(engine)


def _upgrade(connection: Connection, settings: Settings, embedding: tuple[str, int]) -> None:
    connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": UPGRADE_LOCK})
    connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    _ensure_role(connection, APP_ROLE, app_url(settings))
    _ensure_role(connection, ROUTER_ROLE, router_url(settings))
    _create_or_migrate(connection)
    _rebase_feed(connection)
    connection.execute(text(f"GRANT SELECT ON alembic_version TO {APP_ROLE}, {ROUTER_ROLE}"))
    _remember_embedding(connection, embedding)


def _create_or_migrate(connection: Connection) -> None:
    current, newest = version(connection)
    if current is None:
        _create(connection)
        deferred.load("core.storage.migrating:stamp")(connection)
    elif current == newest:
        return  # The migration tool need not be imported to find nothing to do.
    elif current in migrations():
        deferred.load("core.storage.migrating:migrate")(connection)
    else:
        raise Misconfigured(
            f"The database is at migration {current}, but this version can only use those from {min(migrations())} to "
            f"{newest}: use the version of Imprint that wrote it."
        )


def _create(connection: Connection) -> None:
    metadata.create_all(connection, checkfirst=False)
    for table in TENANT_TABLES:
        _bind_to_tenant(connection, table.name)
    # By psycopg alone, which takes several statements at once and leaves `%` as it is.
    with contextlib.closing(connection.connection.cursor()) as cursor:
        cursor.execute((MIGRATIONS / "schema.sql").read_text(encoding="utf-8"))


def _bind_to_tenant(connection: Connection, table: str) -> None:
    """Grant the application the rows of its own tenant; the policies of the table hold for its owner as well."""
    connection.execute(text(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"))
    connection.execute(
        text(f"CREATE POLICY own_rows ON {table} TO {APP_ROLE} USING ({OWN_ROWS}) WITH CHECK ({OWN_ROWS})")
    )
    connection.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {APP_ROLE}"))
    connection.execute(text(ONE_TENANT), {"table": table})


def _rebase_feed(connection: Connection) -> None:
    """Put all events at the beginning of the feed after a restore: their transactions are those of another server."""
    newest = "SELECT written_in >= cast(cast(pg_snapshot_xmax(pg_current_snapshot()) AS text) AS bigint) FROM events"
    connection.execute(text("ALTER TABLE events NO FORCE ROW LEVEL SECURITY"))
    if connection.execute(text(f"{newest} ORDER BY seq DESC LIMIT 1")).scalar():
        connection.execute(text("UPDATE events SET written_in = 0 WHERE written_in <> 0"))
        connection.execute(text("ALTER TABLE expiries NO FORCE ROW LEVEL SECURITY"))
        connection.execute(text("UPDATE expiries SET written_in = 0 WHERE written_in <> 0"))
        connection.execute(text("ALTER TABLE expiries FORCE ROW LEVEL SECURITY"))
    connection.execute(text("ALTER TABLE events FORCE ROW LEVEL SECURITY"))


def _ensure_role(connection: Connection, role: str, url: URL) -> None:
    if url.username != role:
        raise Misconfigured(f"The service connects as {role}, but the URL given for it names {url.username!r}.")
    exists = connection.execute(text("SELECT FROM pg_roles WHERE rolname = :role"), {"role": role}).first()
    verb = "CREATE" if exists is None else "ALTER"
    # Utility statements take no parameters; and through psycopg alone, so that no error quotes the password.
    with contextlib.closing(connection.connection.cursor()) as cursor:
        login = sql.SQL(verb + " ROLE {role} LOGIN PASSWORD {password}")
        cursor.execute(login.format(role=sql.Identifier(role), password=sql.Literal(url.password)))
        cursor.execute(sql.SQL("GRANT USAGE ON SCHEMA public TO {role}").format(role=sql.Identifier(role)))
        for name, value in _ROLE_SETTINGS.items():
            setting = sql.SQL("ALTER ROLE {role} SET {name} = {value}")
            cursor.execute(
                setting.format(role=sql.Identifier(role), name=sql.Identifier(name), value=sql.Literal(value))
            )


def _remember_embedding(tx: Tx, embedding: tuple[str, int]) -> None:
    if not vector_spaces.models_by_place(tx):
        vector_spaces.reserve(tx, EmbeddingModel(*embedding))
    require_same_embedding(tx, embedding)
