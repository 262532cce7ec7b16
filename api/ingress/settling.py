"""Waiting until work has ended: one watcher per process polls for all waiting requests.

A poll costs one query per tenant. It is repeated quickly while work ends, and less often while nothing does, so
waiting an hour for a debounce costs next to nothing.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

import structlog
from fastapi.concurrency import run_in_threadpool
from sqlalchemy.exc import SQLAlchemyError

from core.events import log as event_log
from core.events.doorbell import Doorbell
from core.storage.db import Database

log = structlog.get_logger()

SHORTEST_PAUSE_SECONDS: Final = 0.05
LONGEST_PAUSE_SECONDS: Final = 1.0
BACKOFF_FACTOR: Final = 1.3
"""Factor by which the pause grows each time nothing has ended."""

SHARE: Final = 10
"""A slow poll is followed by a pause of so many times its length, to spare a busy database."""


@dataclass(slots=True)
class _Waiters:
    """The requests waiting for a tenant, each with its position in the log and whether to end debounces."""

    waiting: dict[asyncio.Future[None], tuple[int, bool]] = field(default_factory=dict)
    pause: float = SHORTEST_PAUSE_SECONDS
    look_at: float = 0.0
    open_from: int | None = None


class SettleWatcher:
    """The watcher. It runs while requests wait, on the event loop of the process; its queries run in one thread."""

    def __init__(self, db: Database, bell: Doorbell) -> None:
        self._db = db
        self._bell = bell
        self._tenants: dict[str, _Waiters] = {}
        self._news = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None

    async def wait(self, tenant_id: str, seq: int, seconds: float, *, flush: bool) -> int:
        """Wait until everything up to a position has ended; return how much is pending after this many seconds."""
        tenant = self._tenants.setdefault(tenant_id, _Waiters())
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        tenant.waiting[turn] = seq, flush
        tenant.pause, tenant.look_at = SHORTEST_PAUSE_SECONDS, 0.0
        self._watch()
        try:
            async with asyncio.timeout(max(seconds, SHORTEST_PAUSE_SECONDS)):
                await turn
        except TimeoutError:
            return await run_in_threadpool(self._count_pending, tenant_id, seq)
        finally:
            tenant.waiting.pop(turn, None)
            if not tenant.waiting and self._tenants.get(tenant_id) is tenant:
                del self._tenants[tenant_id]
        return 0

    async def close(self) -> None:
        """End the watcher, after the query that its thread runs: its connection belongs to a pool that closes next."""
        self._tenants.clear()
        self._news.set()
        if self._watching is not None:
            await asyncio.wait({self._watching})

    def _watch(self) -> None:
        self._news.set()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._tenants:
            self._news.clear()
            for tenant_id, tenant in list(self._tenants.items()):
                if tenant_id in self._tenants and tenant.look_at <= time.monotonic():
                    await self._look(tenant_id, tenant)
            due = min((tenant.look_at for tenant in self._tenants.values()), default=0.0)
            try:
                async with asyncio.timeout(max(0.0, due - time.monotonic())):
                    await self._news.wait()
            except TimeoutError:
                continue

    async def _look(self, tenant_id: str, tenant: _Waiters) -> None:
        began, waiting = time.monotonic(), dict(tenant.waiting)
        flushed = [seq for seq, flush in waiting.values() if flush]
        try:
            open_from = await run_in_threadpool(self._open_from, tenant_id, max(flushed, default=None))
        except SQLAlchemyError as error:
            log.warning("settling.unseen", error=str(error).splitlines()[0])
            open_from = 0
        for turn, (seq, _) in waiting.items():
            if (open_from is None or open_from > seq) and not turn.done():
                turn.set_result(None)
        moved = open_from != tenant.open_from
        tenant.open_from = open_from
        now = time.monotonic()
        tenant.pause = SHORTEST_PAUSE_SECONDS if moved else min(tenant.pause * BACKOFF_FACTOR, LONGEST_PAUSE_SECONDS)
        tenant.look_at = now + max(tenant.pause, SHARE * (now - began))

    def _open_from(self, tenant_id: str, flushed: int | None) -> int | None:
        with self._db.tenant(tenant_id) as tx:
            ended = event_log.flush(tx, flushed) if flushed is not None else 0
            open_from = event_log.open_from(tx)
        if ended:
            self._bell.notify()
        return open_from

    def _count_pending(self, tenant_id: str, seq: int) -> int:
        with self._db.tenant(tenant_id) as tx:
            return event_log.count_pending(tx, seq)
