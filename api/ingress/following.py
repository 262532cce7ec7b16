"""Following the log: one reader per process and tenant reads new events once for all who follow."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, islice
from typing import Final, TypeVar
from weakref import WeakValueDictionary

import structlog
from fastapi.concurrency import run_in_threadpool
from pydantic import TypeAdapter
from sqlalchemy.exc import SQLAlchemyError

from api.serializers import event_json
from core.events import feed, type_patterns
from core.events.doorbell import DoorbellListener
from core.events.feed import FeedPage, Gap, Position
from core.storage.db import Database
from core.types import Event, Json

log = structlog.get_logger()

Read = TypeVar("Read")

PAGE: Final = 500

PAGE_BYTES: Final = 256 * 1024
"""Bytes after which a page ends. A follower that does not read holds one, and a tenant may have hundreds."""

READING: Final = 2
"""Followers of a tenant that read from the database at the same time, in one process; the others wait."""

KEPT: Final = 2_000
"""Events of a tenant that are held for its followers; who is further behind reads from the database."""

KEPT_BYTES: Final = 4 * 1024 * 1024
"""Bytes of their frames."""

KEPT_SECONDS: Final = 2.0
"""Seconds for which an event is held, so that an erased one is not sent for longer."""

SHORTEST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 1.0
BACKOFF_FACTOR: Final = 1.5
"""Factor by which the pause between two readings grows while nothing is new."""

ANSWER: Final = TypeAdapter(Json)

POSITION: Final = "stream.position"
"""Name of the frame that says how far the feed is, after silence and at the end."""

GAP: Final = "stream.gap"
"""Name of the frame that says that events have left which the follower had not been sent."""

HEARTBEAT_SECONDS: Final = 15.0
"""Silence after which a follower is sent a comment, and for which a key is trusted."""

CHECKED: Final = 2 / 3
"""Share of it after which the key is checked again: what is known of a key may itself be five seconds old."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Filter of a follower: types by pattern, a session, a user; an empty one does not restrict."""

    types: Sequence[str] = ()
    session_id: str | None = None
    user_id: str | None = None

    def accepts(self, event: Event) -> bool:
        return (
            (not self.types or any(type_patterns.matches(pattern, event.event_type) for pattern in self.types))
            and (self.session_id is None or event.session_id == self.session_id)
            and (self.user_id is None or event.user_id == self.user_id)
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """An event as all followers are sent it."""

    position: Position
    event: Event
    frame: bytes
    read_at: float


@dataclass(frozen=True, slots=True)
class Beginning:
    """The position after which a follower begins, and what the retention of the tenant has removed behind it."""

    position: Position
    gap: Gap | None = None


@dataclass(slots=True)
class _Tail:
    """The newest events of a tenant: all of the feed between `begins` and `ends`."""

    begins: Position
    ends: Position
    entries: list[Entry] = field(default_factory=list)
    followers: int = 0
    pause: float = SHORTEST_PAUSE_SECONDS
    look_at: float = 0.0
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def since(self, position: Position) -> tuple[list[Entry], Position]:
        """Return the next entries behind a position, up to `PAGE_BYTES`, and the position behind them."""
        begin = bisect_right(self.entries, position, key=lambda entry: entry.position)
        size, entries = 0, list[Entry]()
        for entry in islice(self.entries, begin, None):
            if size > PAGE_BYTES:
                return entries, entries[-1].position
            entries.append(entry)
            size += len(entry.frame)
        return entries, max(position, self.ends)

    def add(self, entries: Sequence[Entry], ends: Position, now: float) -> None:
        self.entries += entries
        self.ends = ends
        left = bisect_right(self.entries, now - KEPT_SECONDS, key=lambda entry: entry.read_at)
        left = max(left, len(self.entries) - KEPT, self._beyond_bytes())
        if left:
            self.begins = self.entries[left - 1].position
            del self.entries[:left]
        if entries:
            self.changed.set()
            self.changed = asyncio.Event()

    def _beyond_bytes(self) -> int:
        """Return how many of the oldest entries have no room in `KEPT_BYTES`."""
        ends = accumulate(len(entry.frame) for entry in reversed(self.entries))
        return sum(end > KEPT_BYTES for end in ends)


class Followers:
    """Everybody who follows the log in this process. It reads while somebody does, in one thread at a time."""

    def __init__(self, db: Database, broker_url: str) -> None:
        self._db = db
        self._broker_url = broker_url
        self._tails: dict[str, _Tail] = {}
        self._readers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()
        self._listener: DoorbellListener | None = None
        self._reading: asyncio.Task[None] | None = None
        self._rung = asyncio.Event()
        self._closed = False

    async def begin(self, tenant_id: str, after: Position | None) -> Beginning:
        """Return where to begin after a position; None: from now on. Invalid: it is from another database."""
        return await self._read(tenant_id, self._begin, after)

    async def read_stored(self, tenant_id: str, begin: Beginning, event_filter: Filter) -> AsyncIterator[list[bytes]]:
        """Yield what is in the log now, as pages of frames, and end."""
        position, is_last = begin.position, False
        if begin.gap is not None:
            yield [notice(position, begin.gap)]
        while not is_last and not self._closed:
            frames, position, is_last = await self._read(tenant_id, self._stored, position, event_filter)
            yield frames
        yield [mark(position)]

    async def follow(
        self, tenant_id: str, begin: Beginning, event_filter: Filter, is_allowed: Callable[[], Awaitable[bool]]
    ) -> AsyncIterator[list[bytes]]:
        """Yield pages of frames: events after a position, and those to come, until the key is no longer allowed."""
        tail = await self._join(tenant_id)
        position, checked = begin.position, time.monotonic()
        try:
            if begin.gap is not None:
                yield [notice(position, begin.gap)]
            yield [mark(position)]
            while not self._closed:
                if time.monotonic() - checked >= HEARTBEAT_SECONDS * CHECKED:
                    if not await is_allowed():
                        return
                    checked = time.monotonic()
                changed = tail.changed
                if position < tail.begins:
                    frames, position, _ = await self._read(tenant_id, self._stored, position, event_filter)
                else:
                    entries, position = tail.since(position)
                    frames = [entry.frame for entry in entries if event_filter.accepts(entry.event)]
                if frames:
                    yield frames
                if frames or position < tail.ends:
                    await asyncio.sleep(0)
                    continue
                try:
                    async with asyncio.timeout(max(0, checked + HEARTBEAT_SECONDS * CHECKED - time.monotonic())):
                        await changed.wait()
                except TimeoutError:
                    yield [mark(position)]
        finally:
            self._leave(tenant_id, tail)

    def stop(self) -> None:
        """End all streams, so that the server can shut down; their clients resume elsewhere."""
        self._closed = True
        self._rung.set()
        for tail in self._tails.values():
            tail.changed.set()

    async def close(self) -> None:
        """Stop, and wait for the reader and the listener."""
        self.stop()
        if self._reading is not None:
            await asyncio.wait({self._reading})
        if self._listener is not None:
            await run_in_threadpool(self._listener.close)

    async def _join(self, tenant_id: str) -> _Tail:
        if self._listener is None:
            loop = asyncio.get_running_loop()
            self._listener = DoorbellListener(self._broker_url, partial(_soon, loop, self._ring))
        tail = self._tails.get(tenant_id)
        if tail is None:
            ends = (await self.begin(tenant_id, None)).position
            tail = self._tails.setdefault(tenant_id, _Tail(ends, ends))
        tail.followers += 1
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._run())
        return tail

    def _leave(self, tenant_id: str, tail: _Tail) -> None:
        tail.followers -= 1
        if not tail.followers and self._tails.get(tenant_id) is tail:
            del self._tails[tenant_id]

    def _ring(self) -> None:
        for tail in self._tails.values():
            tail.pause, tail.look_at = SHORTEST_PAUSE_SECONDS, 0.0
        self._rung.set()

    async def _run(self) -> None:
        while self._tails and not self._closed:
            self._rung.clear()
            for tenant_id, tail in list(self._tails.items()):
                if tail.look_at <= time.monotonic():
                    await self._look(tenant_id, tail)
            due = min((tail.look_at for tail in self._tails.values()), default=0.0)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, due - time.monotonic())):
                    await self._rung.wait()

    async def _look(self, tenant_id: str, tail: _Tail) -> None:
        try:
            entries, ends, is_last = await run_in_threadpool(self._fresh, tenant_id, tail.ends)
        except SQLAlchemyError as error:
            log.warning("following.unread", error=str(error).splitlines()[0])
            entries, ends, is_last = [], tail.ends, True
        now = time.monotonic()
        tail.add(entries, ends, now)
        tail.pause = SHORTEST_PAUSE_SECONDS if entries else min(tail.pause * BACKOFF_FACTOR, LONGEST_PAUSE_SECONDS)
        tail.look_at = now + tail.pause if is_last else now

    def _begin(self, tenant_id: str, after: Position | None) -> Beginning:
        with self._db.tenant(tenant_id) as tx:
            if after is None:
                return Beginning(feed.end(tx))
            feed.require_within(tx, after)
            return Beginning(after, feed.gap(tx, after))

    async def _read(self, tenant_id: str, read: Callable[..., Read], *arguments: object) -> Read:
        """Read from the database in a thread, as one of few readers of a tenant."""
        readers = self._readers.setdefault(tenant_id, asyncio.Semaphore(READING))
        async with readers:
            return await run_in_threadpool(read, tenant_id, *arguments)

    def _page(self, tenant_id: str, after: Position) -> FeedPage:
        with self._db.tenant(tenant_id) as tx:
            return feed.read(tx, after, PAGE, PAGE_BYTES)

    def _fresh(self, tenant_id: str, after: Position) -> tuple[list[Entry], Position, bool]:
        page, now = self._page(tenant_id, after), time.monotonic()
        entries = [Entry(position, event, frame_of(position, event), now) for position, event in page.events]
        return entries, page.end, page.is_last

    def _stored(self, tenant_id: str, after: Position, event_filter: Filter) -> tuple[list[bytes], Position, bool]:
        page = self._page(tenant_id, after)
        frames = [frame_of(position, event) for position, event in page.events if event_filter.accepts(event)]
        return frames, page.end, page.is_last


def _soon(loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
    """Ring on the event loop, from the thread of the listener; a loop that has ended needs no hint."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(ring)


def frame_of(position: Position, event: Event) -> bytes:
    """Return an event as the stream sends it, without its secrets."""
    data = ANSWER.dump_json(event_json(event))
    return b"id: %s\nevent: %s\ndata: %s\n\n" % (str(position).encode(), event.event_type.encode(), data)


def mark(position: Position) -> bytes:
    """Return a frame that only says how far the feed is: a client resumes there, however rare its events are.

    It has data, because usual clients ignore an id without, or make an empty message of it.
    """
    encoded = str(position).encode()
    return b'id: %s\nevent: %s\ndata: {"position": "%s"}\n\n' % (encoded, POSITION.encode(), encoded)


def notice(after: Position, gap: Gap) -> bytes:
    """Return a frame that says what is missing: it is no event of the log, and has no position to resume from."""
    details = {"after": str(after), "to": str(gap.to), "newest": gap.newest}
    return b"event: %s\ndata: %s\n\n" % (GAP.encode(), ANSWER.dump_json(details))
