"""What every process does once at its start, done before processes are forked: they share what it leaves in memory."""

from __future__ import annotations

from sqlalchemy import text

from core.config import Settings
from core.storage import db


def rehearse() -> None:
    """Read the settings and compile a statement; nothing is connected."""
    Settings()
    opened = db.connect(db.driver_url("postgresql://nobody@127.0.0.1:1/none"), 1)
    text("SELECT :one").compile(dialect=opened.engine.dialect)
    opened.close()
