"""Migrations by Alembic: imported only where a database is new or behind."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from core.storage.schema_version import MIGRATIONS


def stamp(connection: Connection) -> None:
    """Record that a new database is at the newest migration."""
    command.stamp(configuration(connection), "head")


def migrate(connection: Connection) -> None:
    """Bring an older database to the newest migration."""
    command.upgrade(configuration(connection), "head")


def configuration(connection: Connection) -> Config:
    """Return the configuration of Alembic for one connection."""
    made = Config()
    made.set_main_option("script_location", str(MIGRATIONS))
    made.attributes["connection"] = connection
    return made
