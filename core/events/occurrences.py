"""Adds up what happens too often for an event each, and announces the sums: nobody waits, and losing some costs little.

Alarms count by these events what leaves no rows: refused requests, and searches that found no memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from threading import Lock
from typing import Final

import structlog
from sqlalchemy.exc import SQLAlchemyError
from uuid_utils import uuid7

from core.events import log as event_log
from core.events.doorbell import Doorbell
from core.events.log import Announcement
from core.loop import Loop
from core.storage.db import Database
from core.tenancy import tenants

log = structlog.get_logger()

REFUSED: Final = "events.refused"
SEARCHED: Final = "searches.counted"

EVERY_SECONDS: Final = 60.0
"""Interval of the events of one process; one that is killed loses so much."""

KINDS: Final = 10_000
"""Tenants, types and names that are told apart within an interval; beyond that the newest are dropped."""

Occurrence = tuple[str, str, tuple[tuple[str, str], ...]]
"""Tenant, event type, and the names in the payload."""


class Occurrences:
    """Sums of this process by tenant, type and names; a thread of its own announces and forgets them."""

    def __init__(self, db: Database, doorbell: Doorbell, every_s: float = EVERY_SECONDS) -> None:
        self._db, self._doorbell = db, doorbell
        self._sums: dict[Occurrence, Counter[str]] = {}
        self._lock = Lock()
        self._loop = Loop("occurrences", self.announce, every_s, expected=(SQLAlchemyError,), delayed=True)
        self._loop.start()

    def note(self, tenant_id: str, event_type: str, names: Mapping[str, str], **numbers: int) -> None:
        """Add numbers to the sums that the next event of this type with these names will have; returns at once."""
        self._add((tenant_id, event_type, tuple(names.items())), numbers)

    def _add(self, occurrence: Occurrence, numbers: Mapping[str, int]) -> None:
        with self._lock:
            if len(self._sums) >= KINDS and occurrence not in self._sums:
                log.warning("occurrences.dropped", tenant=occurrence[0])
            else:
                self._sums.setdefault(occurrence, Counter()).update(numbers)

    def announce(self) -> None:
        """Announce the sums so far, one transaction for each tenant. Those that the database refuses are kept.

        SQLAlchemyError: the first of its failures, after all tenants had their turn.
        """
        with self._lock:
            sums, self._sums = self._sums, {}
        failures = []
        for tenant_id in sorted({tenant_id for tenant_id, *_ in sums}):
            own = {occurrence: numbers for occurrence, numbers in sums.items() if occurrence[0] == tenant_id}
            try:
                self._announce(tenant_id, own)
            except SQLAlchemyError as error:
                failures.append(error)
                for occurrence, numbers in own.items():
                    self._add(occurrence, numbers)
        if sums:
            self._doorbell.notify()
        if failures:
            raise failures[0]

    def _announce(self, tenant_id: str, sums: Mapping[Occurrence, Mapping[str, int]]) -> None:
        announcements = [
            Announcement(str(uuid7()), event_type, datetime.now(UTC), {**dict(names), **numbers})
            for (_, event_type, names), numbers in sums.items()
        ]
        with self._db.tenant(tenant_id) as tx:
            if tenants.is_here(tx, tenant_id):  # Else it was moved to another cell (`core.cells`).
                event_log.announce(tx, tenant_id, announcements)

    def close(self) -> None:
        """Stop the thread."""
        self._loop.close(5)
