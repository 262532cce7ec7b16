"""Migrations by Alembic: imported only where a database is new or behind."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from core.storage.schema_version import MIGRATIONS


def stamp(connection: Connection) -> None:
    """Record that a new database is at the newest migration."""
    command.stamp(_config(connection), "head")


def migrate(connection: Connection) -> None:
    """Bring an older database to the newest migration."""
    command.upgrade(_config(connection), "head")


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config
