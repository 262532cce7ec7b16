"""Migrations by Alembic: imported only where a database is new or behind."""

from __future__ import annotations

from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, text

from core.storage.schema_version import MIGRATIONS

INDEXES: Final = {"events_of_type": "events (tenant_id, event_type, received_at)"}
"""Indexes that migrations add to large tables: built before, because in the transaction they would stop publishers."""


def stamp(connection: Connection) -> None:
    """Record that a new database is at the newest migration."""
    command.stamp(configuration(connection), "head")


def migrate(connection: Connection) -> None:
    """Bring an older database to the newest migration."""
    command.upgrade(configuration(connection), "head")


def build_indexes(engine: Engine) -> None:
    """Build the indexes of an older database that large tables lack, while others write. Broken ones are built again.

    One process does so at a time. It waits for transactions that began before.
    """
    with engine.begin() as lock, engine.connect().execution_options(isolation_level="AUTOCOMMIT") as work:
        # No advisory lock: waiting for one holds a snapshot, and the build would wait for that.
        lock.execute(text("LOCK TABLE alembic_version IN EXCLUSIVE MODE"))
        for name, columns in INDEXES.items():
            is_valid = work.execute(_IS_VALID, {"name": name}).scalar()
            if is_valid is False:
                work.execute(text(f"DROP INDEX CONCURRENTLY {name}"))
            if not is_valid:
                work.execute(text(f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {columns}"))


_IS_VALID: Final = text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")


def configuration(connection: Connection) -> Config:
    """Return the configuration of Alembic for one connection."""
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["connection"] = connection
    return made
