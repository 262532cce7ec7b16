from __future__ import annotations

import asyncio
import threading
from typing import Any, cast

from api.ingress.settling import SettleWatcher


class Slow(SettleWatcher):
    """A watcher whose query ends when it is let."""

    def __init__(self) -> None:
        super().__init__(cast(Any, None), cast(Any, None))
        self.begun, self.may_end, self.ended = threading.Event(), threading.Event(), False

    def _open_from(self, _tenant_id: str, _flushed: int | None) -> int | None:
        self.begun.set()
        assert self.may_end.wait(10)
        self.ended = True
        return None

    def _count_pending(self, _tenant_id: str, _seq: int) -> int:
        return 1


def test_closing_waits_for_the_query_in_flight() -> None:
    async def close_while_it_runs() -> bool:
        watcher = Slow()
        assert await watcher.wait("acme", 1, 0, flush=False) == 1
        assert await asyncio.to_thread(watcher.begun.wait, 10)
        closing = asyncio.create_task(watcher.close())
        await asyncio.sleep(0.05)
        assert not closing.done()
        watcher.may_end.set()
        await asyncio.wait_for(closing, 10)
        return watcher.ended

    assert asyncio.run(close_while_it_runs())


def test_closing_a_watcher_that_never_ran_returns_at_once() -> None:
    asyncio.run(asyncio.wait_for(Slow().close(), 1))
