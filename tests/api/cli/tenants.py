"""The tenants that a database has."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import text

from core.config import Settings
from core.storage import db


def tenants_of(settings: Settings) -> Sequence[str]:
    database = db.connect(db.router_url(settings), 1)
    try:
        with database.queue() as tx:
            return tx.execute(text("SELECT id FROM tenants")).scalars().all()
    finally:
        database.close()
