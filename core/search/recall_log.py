"""Records the results of searches after they were answered: nobody waits, and losing some costs little.

Memories are announced by `memory.recalled`; hashes of all texts are stored to recognize echoes.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import takewhile
from math import inf
from queue import Empty, Full, Queue
from typing import Final, NamedTuple
from uuid import UUID

import structlog
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from uuid_utils import uuid7

from core import memoize
from core.consolidation import echo
from core.consolidation.echo import Served
from core.events import log as event_log
from core.events.doorbell import Doorbell
from core.events.log import Announcement
from core.loop import Loop
from core.storage.db import Database, Tx
from core.storage.tables import ANNOUNCES_ERASURE
from core.tenancy import retention
from core.types import Json

log = structlog.get_logger()

RECALLED: Final = "memory.recalled"

GATHER_SECONDS = 0.5
"""Recalls of one user within this time become one event."""

SPACED_SECONDS = 60.0
"""Memories announced recently are announced again after this time, with all that were recalled meanwhile.

A use counts at most twice a day: repeated searches should not write every second.
"""

WAITING = 10_000
"""Searches that may wait to be written; beyond that the database cannot keep up, and the newest are dropped."""

AT_ONCE = 500
"""Searches written in one transaction."""

LONGEST = 20_000
"""Characters of a text that are hashed; longer texts are cut there."""

QUERIES: Final = 10
"""Queries that one event tells, the first ones."""

QUERY_CHARACTERS: Final = 500
"""Characters that it tells of each."""

QUERY_MEMORIES: Final = 50
"""Memories that it tells of each, the best ones."""


class Asker(NamedTuple):
    """Owner of the memory searched."""

    tenant_id: str
    user_id: str | None
    group_id: str | None


class RecalledFor(NamedTuple):
    """A query, the session in whose context it was asked, and the memories that answered it, best first."""

    query: str
    session_id: str | None
    memory_ids: Sequence[UUID]


class Recall(NamedTuple):
    """Results returned to an asker, in how many searches, and whether to announce its memories."""

    asker: Asker
    served: Sequence[Served]
    announced: bool
    searches: int = 1
    queries: Sequence[RecalledFor] = ()


class _Pending:
    """Recalls of an asker that wait to be announced: the memories, in how many searches, for which queries."""

    __slots__ = ("ids", "queries", "searches")

    def __init__(self) -> None:
        self.ids: dict[UUID, None] = {}
        self.queries: dict[tuple[str, str | None], RecalledFor] = {}
        self.searches = 0

    def add(self, recall: Recall, ids: Sequence[UUID]) -> None:
        self.ids.update(dict.fromkeys(ids))
        self.searches += recall.searches
        for recalled in recall.queries[: QUERIES - len(self.queries)]:
            self.queries.setdefault((recalled.query, recalled.session_id), recalled)


class Recorded:
    """Texts recorded lately, which need no record: each is written once in `echo.AGAIN_SECONDS` (`echo.note`).

    Only digests of this process are kept, for as long.
    """

    def __init__(self) -> None:
        self._at: dict[bytes, float] = {}

    def new(self, recall: Recall, now: float) -> list[Served]:
        """Return the texts of a recall that are not recorded yet, and note them as recorded."""
        asker, fresh = recall.asker, []
        for result in recall.served:
            key = memoize.digest(asker.tenant_id, asker.user_id, result.text, result.memory_id)
            if self._at.get(key, -inf) <= now - echo.AGAIN_SECONDS:
                self._at.pop(key, None)  # The oldest stand first.
                self._at[key] = now
                fresh.append(result)
        return fresh

    def sweep(self, now: float) -> None:
        """Drop what must be recorded again when it is handed out again."""
        for digest in list(takewhile(lambda digest: self._at[digest] <= now - echo.AGAIN_SECONDS, self._at)):
            del self._at[digest]

    def clear(self) -> None:
        """Forget all: a record could not be written."""
        self._at.clear()


class RecallSpacing:
    """Delays recalls whose memories were all announced recently, so that one event covers many searches."""

    def __init__(self) -> None:
        self._pending: dict[Asker, _Pending] = {}
        self._announced: dict[tuple[Asker, UUID], float] = {}

    def due(self, taken: Sequence[Recall], now: float, *, ending: bool = False) -> list[Recall]:
        """Return the recalls to announce now, one for each asker; `now` in seconds of a monotonic clock."""
        for recall in taken:
            self._hold(recall)
        for pair in list(takewhile(lambda pair: self._announced[pair] <= now - SPACED_SECONDS, self._announced)):
            del self._announced[pair]
        ready = [asker for asker, pending in self._pending.items() if ending or not self._lately(asker, pending)]
        due = [self._say(asker, self._pending.pop(asker), now) for asker in ready]
        for pending in self._pending.values():
            pending.queries.clear()  # No process keeps what somebody asked: their owner may be erased meanwhile.
        return due

    def unsaid(self, recalls: Sequence[Recall]) -> None:
        """Return recalls that could not be written; they are due at once."""
        for recall in recalls:
            for result in recall.served:
                if result.memory_id is not None:
                    self._announced.pop((recall.asker, result.memory_id), None)
            self._hold(recall)

    @property
    def holds(self) -> bool:
        """Return whether a recall waits to be announced."""
        return bool(self._pending)

    def _hold(self, recall: Recall) -> None:
        ids = [result.memory_id for result in recall.served if result.memory_id is not None]
        if not recall.announced or not ids:
            return
        # Without the texts: they may wait here for long.
        self._pending.setdefault(recall.asker, _Pending()).add(recall, ids)

    def _lately(self, asker: Asker, pending: _Pending) -> bool:
        return all((asker, memory_id) in self._announced for memory_id in pending.ids)

    def _say(self, asker: Asker, pending: _Pending, now: float) -> Recall:
        for memory_id in pending.ids:
            self._announced.pop((asker, memory_id), None)  # The oldest stand first.
            self._announced[asker, memory_id] = now
        served = [Served("", memory_id) for memory_id in pending.ids]
        return Recall(asker, served, announced=True, searches=pending.searches, queries=[*pending.queries.values()])


class Recalls:
    """Collects recalls and writes them from a thread of its own."""

    def __init__(self, db: Database, doorbell: Doorbell) -> None:
        self._db = db
        self._doorbell = doorbell
        self._queue: Queue[Recall] = Queue(WAITING)
        self._spacing = RecallSpacing()
        self._recorded = Recorded()
        self._rests = True
        self._loop = Loop("recalls", self._turn, None, delayed=True, last=self._finish)
        self._loop.start()

    def note(
        self,
        asker: Asker,
        served: Sequence[Served],
        *,
        announced: bool,
        query: str | None = None,
        session_id: str | None = None,
    ) -> None:
        """Queue results for recording; returns at once."""
        if not served:
            return
        short = [
            result if len(result.text) <= LONGEST else result._replace(text=result.text[:LONGEST]) for result in served
        ]
        try:
            self._queue.put_nowait(Recall(asker, short, announced, queries=_recalled_for(query, session_id, served)))
        except Full:
            log.warning("recalls.dropped", tenant=asker.tenant_id)
        if self._rests:
            self._loop.wake()

    def close(self) -> None:
        """Write what is left, and stop the thread."""
        self._loop.close(5)

    def _turn(self) -> float | None:
        """Write what has come since the last turn; return None, to wait for the next recall, when nothing is left."""
        if self._rests:  # Woken by the first one: others may follow.
            self._rests = False
            return GATHER_SECONDS
        self._write(self._gathered())
        self._rests = True  # Before the look: what comes after it wakes the loop.
        if self._spacing.holds or not self._queue.empty():
            self._rests = False
            return GATHER_SECONDS
        return None

    def _finish(self) -> None:
        while left := self._gathered():
            self._write(left)
        self._write((), ending=True)

    def _gathered(self) -> list[Recall]:
        taken: list[Recall] = []
        while len(taken) < AT_ONCE:
            try:
                taken.append(self._queue.get_nowait())
            except Empty:
                break
        return taken

    def _write(self, taken: Sequence[Recall], *, ending: bool = False) -> None:
        """Write one transaction per tenant: the results and the events that announce them."""
        now = time.monotonic()
        due = self._spacing.due(taken, now, ending=ending)
        self._recorded.sweep(now)  # First: the loop rests while nobody searches.
        new = [recall._replace(served=fresh) for recall in taken if (fresh := self._recorded.new(recall, now))]
        for tenant_id in sorted({recall.asker.tenant_id for recall in (*new, *due)}):
            results, ours = ([recall for recall in ones if recall.asker.tenant_id == tenant_id] for ones in (new, due))
            try:
                with self._db.tenant(tenant_id) as tx:
                    there = _without_erased(tx, [*results, *ours])
                    _note(tx, tenant_id, _of_present_subjects(tx, there[: len(results)]))
                    announcements = announcements_of(_with_kept_queries(tx, tenant_id, there[len(results) :]))
                    event_log.announce(tx, tenant_id, announcements)
            except SQLAlchemyError as error:
                self._unsaid(ours)
                log.warning("recalls.unsaid", error=str(error).splitlines()[0])
            except Exception:
                self._recorded.clear()
                log.exception("recalls.surprise")  # One text that cannot be read must not end the thread for all.
            else:
                self._ring(announcements)

    def _unsaid(self, recalls: Sequence[Recall]) -> None:
        self._spacing.unsaid(recalls)
        self._recorded.clear()

    def _ring(self, announcements: Sequence[Announcement]) -> None:
        if announcements:
            self._doorbell.notify()


def _without_erased(tx: Tx, due: Sequence[Recall]) -> list[Recall]:
    """Drop memories erased since, or before where a replica has answered: they are neither recorded nor announced."""
    ids = {result.memory_id for recall in due for result in recall.served if result.memory_id is not None}
    there = set(tx.execute(_THERE, {"ids": sorted(ids)}).scalars()) if ids else set()
    return [
        recall._replace(
            served=[each for each in recall.served if each.memory_id is None or each.memory_id in there],
            queries=[each for each in recall.queries if there.issuperset(each.memory_ids)],
        )
        for recall in due
    ]


def _of_present_subjects(tx: Tx, taken: Sequence[Recall]) -> list[Recall]:
    """Drop recalls of users and groups erased since, also of their messages."""
    erased = _erased_lately(tx, taken)
    return [recall for recall in taken if not erased.intersection(_subjects(recall.asker))]


def _with_kept_queries(tx: Tx, tenant_id: str, due: Sequence[Recall]) -> list[Recall]:
    """Drop queries that are not kept.

    Those of users and groups erased since, of sessions with a time of their own, and all where sessions leave at their
    end.
    """
    if not any(recall.queries for recall in due):
        return [*due]
    erased = _erased_lately(tx, due)
    due = [recall._replace(queries=()) if erased.intersection(_subjects(recall.asker)) else recall for recall in due]
    if retention.get(tx, tenant_id).sessions_days == 0:
        return [recall._replace(queries=()) for recall in due]
    sessions = {each.session_id for recall in due for each in recall.queries if each.session_id is not None}
    kept = set(tx.execute(_KEPT, {"ids": sorted(sessions)}).scalars()) if sessions else set()
    return [
        recall._replace(queries=[each for each in recall.queries if each.session_id is None or each.session_id in kept])
        for recall in due
    ]


def _erased_lately(tx: Tx, recalls: Sequence[Recall]) -> set[str]:
    """Return the subjects of recalls that were erased lately."""
    subjects = sorted({subject for recall in recalls for subject in _subjects(recall.asker)})
    values = {"subjects": subjects, "seconds": 2 * SPACED_SECONDS}
    return set(tx.execute(_ERASED_LATELY, values).scalars()) if subjects else set()


def _subjects(asker: Asker) -> list[str]:
    """Return the subjects of the events that would announce the erasure of an asker."""
    names = (("user", asker.user_id), ("group", asker.group_id))
    return [f"{kind}:{name}" for kind, name in names if name is not None]


def _recalled_for(query: str | None, session_id: str | None, served: Sequence[Served]) -> list[RecalledFor]:
    ids = [result.memory_id for result in served if result.memory_id is not None]
    excerpt = " ".join(query[:QUERY_CHARACTERS].split()) if query else ""
    return [RecalledFor(excerpt, session_id, ids[:QUERY_MEMORIES])] if excerpt and ids else []


def announcements_of(taken: Sequence[Recall]) -> list[Announcement]:
    """Return one event for each user or group, with every memory returned to it."""
    handed_out: defaultdict[Asker, dict[str, None]] = defaultdict(dict)
    searches: Counter[Asker] = Counter()
    queries: defaultdict[Asker, list[RecalledFor]] = defaultdict(list)
    for recall in taken:
        ids = [str(result.memory_id) for result in recall.served if result.memory_id is not None]
        if recall.announced and ids:
            searches[recall.asker] += recall.searches
            handed_out[recall.asker].update(dict.fromkeys(ids))
            queries[recall.asker] += recall.queries
    return [_announcement(asker, list(ids), searches[asker], queries[asker]) for asker, ids in handed_out.items()]


def _announcement(asker: Asker, ids: list[str], searches: int, queries: Sequence[RecalledFor]) -> Announcement:
    names = {"user_id": asker.user_id, "group_id": asker.group_id}
    payload: Json = {"memory_ids": ids, "searches": searches}
    payload |= {name: value for name, value in names.items() if value is not None}
    if queries:
        payload["queries"] = [_query_json(recalled) for recalled in queries[:QUERIES]]
    return Announcement(str(uuid7()), RECALLED, datetime.now(UTC), payload)


def _query_json(recalled: RecalledFor) -> Json:
    session = {} if recalled.session_id is None else {"session_id": recalled.session_id}
    return {"query": recalled.query, "memory_ids": [str(memory_id) for memory_id in recalled.memory_ids], **session}


def _note(tx: Tx, tenant_id: str, taken: Sequence[Recall]) -> None:
    """Record the texts returned to each user. A search of a group alone names no user whose echo it could become."""
    by_user: defaultdict[str, list[Served]] = defaultdict(list)
    for recall in taken:
        if recall.asker.user_id is not None:
            by_user[recall.asker.user_id] += recall.served
    for user_id in sorted(by_user):
        echo.note(tx, tenant_id, user_id, by_user[user_id])


_THERE = text("SELECT id FROM memories WHERE id = ANY(:ids) AND status <> 'erased'")

_ERASED_LATELY = text(f"""
    SELECT subject FROM events WHERE {ANNOUNCES_ERASURE} AND subject IS NOT NULL AND subject = ANY(:subjects)
      AND received_at > clock_timestamp() - make_interval(secs => :seconds)
""")

_KEPT = text("""
    SELECT i.id FROM unnest(cast(:ids AS text[])) AS i (id)
    WHERE NOT EXISTS (SELECT FROM sessions s WHERE s.id = i.id AND s.keep_days IS NOT NULL)
""")
