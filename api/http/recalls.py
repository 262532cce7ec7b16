"""Says which memories searches handed out, after they have answered: nobody waits, and losing some costs little."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from queue import Empty, Full, Queue
from typing import NamedTuple

import structlog
from sqlalchemy.exc import DBAPIError
from uuid_utils import uuid7

from core import events
from core.bell import Bell
from core.db import Database
from core.events import Announcement
from core.types import Json

log = structlog.get_logger()

GATHER_SECONDS = 0.5
"""Recalls of one user within this time become one event."""

WAITING = 10_000
"""Searches that may wait to be announced; beyond that the database cannot keep up, and the newest are not."""

AT_ONCE = 500
"""Searches announced in one transaction."""


class Asker(NamedTuple):
    """Whose memory was searched."""

    tenant_id: str
    user_id: str | None
    group_id: str | None


class Recalls:
    """Gathers recalls and announces them from a thread of its own."""

    def __init__(self, db: Database, bell: Bell) -> None:
        self._db = db
        self._bell = bell
        self._queue: Queue[tuple[Asker, Sequence[str]]] = Queue(WAITING)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recalls", daemon=True)
        self._thread.start()

    def note(self, asker: Asker, memory_ids: Sequence[str]) -> None:
        """These memories were handed out; returns at once."""
        if not memory_ids:
            return
        try:
            self._queue.put_nowait((asker, memory_ids))
        except Full:
            log.warning("recalls.dropped", tenant=asker.tenant_id)

    def close(self) -> None:
        """Announce what is left, and end."""
        self._closed.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._closed.wait(GATHER_SECONDS):
            self._announce(self._gathered())
        self._announce(self._gathered())

    def _gathered(self) -> list[tuple[Asker, Sequence[str]]]:
        taken: list[tuple[Asker, Sequence[str]]] = []
        while len(taken) < AT_ONCE:
            try:
                taken.append(self._queue.get_nowait())
            except Empty:
                break
        return taken

    def _announce(self, taken: Sequence[tuple[Asker, Sequence[str]]]) -> None:
        for tenant_id, announcements in announcements_of(taken).items():
            try:
                with self._db.tenant(tenant_id) as tx:
                    events.announce(tx, tenant_id, announcements)
            except DBAPIError as error:
                log.warning("recalls.unsaid", error=str(error).splitlines()[0])
            else:
                self._bell.ring()


def announcements_of(taken: Sequence[tuple[Asker, Sequence[str]]]) -> dict[str, list[Announcement]]:
    """One event for each user or group asked about, by tenant, with every memory that was handed out."""
    searches = Counter(asker for asker, _ in taken)
    handed_out: defaultdict[Asker, dict[str, None]] = defaultdict(dict)
    for asker, memory_ids in taken:
        handed_out[asker].update(dict.fromkeys(memory_ids))
    found: defaultdict[str, list[Announcement]] = defaultdict(list)
    for asker, ids in handed_out.items():
        payload: Json = {"memory_ids": list(ids), "searches": searches[asker]}
        names = {"user_id": asker.user_id, "group_id": asker.group_id}
        payload |= {name: value for name, value in names.items() if value is not None}
        found[asker.tenant_id].append(Announcement(str(uuid7()), "memory.recalled", datetime.now(UTC), payload))
    return found
