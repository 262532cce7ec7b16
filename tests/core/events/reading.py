"""What the log holds."""

from __future__ import annotations

from core.sessions import sessions
from core.storage.db import Database
from core.types import Event
from tests.factories import events_since
from tests.samples import TENANT


def log_of(app: Database) -> list[Event]:
    with app.tenant(TENANT) as tx:
        return events_since(tx, 0, 10_000)


def positions(app: Database, session: str) -> list[int]:
    with app.tenant(TENANT) as tx:
        return [m.position for m in sessions.transcript(tx, session, limit=10_000)]
