"""Says what searches handed out, after they have answered: nobody waits, and losing some costs little.

The memories are announced by `memory.recalled`; hashes of all texts are kept, so that an echo is known as one.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from queue import Empty, Full, Queue
from typing import NamedTuple

import structlog
from sqlalchemy.exc import SQLAlchemyError
from uuid_utils import uuid7

from core import echo, events
from core.bell import Bell
from core.db import Database, Tx
from core.echo import Served
from core.events import Announcement
from core.types import Json

log = structlog.get_logger()

GATHER_SECONDS = 0.5
"""Recalls of one user within this time become one event."""

WAITING = 10_000
"""Searches that may wait to be written down; beyond that the database cannot keep up, and the newest are not."""

AT_ONCE = 500
"""Searches written down in one transaction."""

LONGEST = 20_000
"""Characters of a text by which it is known again; what is longer waits cut off there."""


class Asker(NamedTuple):
    """Whose memory was searched."""

    tenant_id: str
    user_id: str | None
    group_id: str | None


class Recall(NamedTuple):
    """One search: who asked, what was handed out, and whether its memories are announced."""

    asker: Asker
    served: Sequence[Served]
    announced: bool


class Recalls:
    """Gathers recalls and writes them down from a thread of its own."""

    def __init__(self, db: Database, bell: Bell) -> None:
        self._db = db
        self._bell = bell
        self._queue: Queue[Recall] = Queue(WAITING)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recalls", daemon=True)
        self._thread.start()

    def note(self, asker: Asker, served: Sequence[Served], *, announced: bool) -> None:
        """These were handed out; returns at once."""
        if not served:
            return
        short = [one._replace(text=one.text[:LONGEST]) for one in served]
        try:
            self._queue.put_nowait(Recall(asker, short, announced))
        except Full:
            log.warning("recalls.dropped", tenant=asker.tenant_id)

    def close(self) -> None:
        """Write down what is left, and end."""
        self._closed.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        while not self._closed.wait(GATHER_SECONDS):
            self._write(self._gathered())
        self._write(self._gathered())

    def _gathered(self) -> list[Recall]:
        taken: list[Recall] = []
        while len(taken) < AT_ONCE:
            try:
                taken.append(self._queue.get_nowait())
            except Empty:
                break
        return taken

    def _write(self, taken: Sequence[Recall]) -> None:
        """One transaction a tenant: what was handed out, and the events that say so."""
        for tenant_id in {recall.asker.tenant_id for recall in taken}:
            mine = [recall for recall in taken if recall.asker.tenant_id == tenant_id]
            announcements = announcements_of(mine)
            try:
                with self._db.tenant(tenant_id) as tx:
                    _note(tx, tenant_id, mine)
                    events.announce(tx, tenant_id, announcements)
            except SQLAlchemyError as error:
                log.warning("recalls.unsaid", error=str(error).splitlines()[0])
            else:
                self._ring(announcements)

    def _ring(self, announcements: Sequence[Announcement]) -> None:
        if announcements:
            self._bell.ring()


def announcements_of(taken: Sequence[Recall]) -> list[Announcement]:
    """One event for each user or group asked about, with every memory that was handed out."""
    handed_out: defaultdict[Asker, dict[str, None]] = defaultdict(dict)
    searches: Counter[Asker] = Counter()
    for asker, served, announced in taken:
        ids = [str(one.memory_id) for one in served if one.memory_id is not None]
        if announced and ids:
            searches[asker] += 1
            handed_out[asker].update(dict.fromkeys(ids))
    return [_announcement(asker, list(ids), searches[asker]) for asker, ids in handed_out.items()]


def _announcement(asker: Asker, ids: list[str], searches: int) -> Announcement:
    names = {"user_id": asker.user_id, "group_id": asker.group_id}
    payload: Json = {"memory_ids": ids, "searches": searches}
    payload |= {name: value for name, value in names.items() if value is not None}
    return Announcement(str(uuid7()), "memory.recalled", datetime.now(UTC), payload)


def _note(tx: Tx, tenant_id: str, taken: Sequence[Recall]) -> None:
    """Write down what each user was handed out. A search of a group alone names no user whose echo it could become."""
    by_user: defaultdict[str, list[Served]] = defaultdict(list)
    for asker, served, _ in taken:
        if asker.user_id is not None:
            by_user[asker.user_id] += served
    for user_id in sorted(by_user):
        echo.note(tx, tenant_id, user_id, by_user[user_id])
