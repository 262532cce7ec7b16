"""Steps of every process at its start, taken before processes are forked: they share what these leave in memory."""

from __future__ import annotations

from typing import Final

from sqlalchemy import text

from core import plugins
from core.config import Settings
from core.errors import Misconfigured
from core.storage import db
from workers import app as celery_app

NO_BROKER: Final = "redis://127.0.0.1:1/0"
NO_DATABASE: Final = "postgresql://nobody@127.0.0.1:1/none"
"""Addresses to which nothing connects."""


def rehearse() -> None:
    """Read the settings, build what connects to database and broker, and connect to neither."""
    try:
        settings = Settings()
    except Misconfigured:  # Whoever starts the processes says so.
        return
    database = db.connect(db.driver_url(NO_DATABASE), 1)
    text("SELECT :one").compile(dialect=database.engine.dialect)
    database.close()
    for group in plugins.OWN:
        plugins.names(group)
    celery_app.create(settings, NO_BROKER).finalize()
