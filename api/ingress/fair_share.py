"""Turns at the threads and database connections of this process, shared fairly between tenants.

A request that waits for its turn holds neither. The tenant with the fewest turns is next, and none may hold all of
them, so that a tenant whose requests take long leaves room for the others.

Used on the event loop alone, so nothing is locked.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from typing import Final
from weakref import WeakValueDictionary

from core.errors import Later

WAIT_SECONDS: Final = 30.0
"""Longest wait for a turn."""


LARGE_BYTES: Final = 64 * 1024
"""Bytes of a body from which parsing and checking it may hold up other requests."""

MOST_REST_SECONDS: Final = 2.0


Company = Callable[[str], bool]
"""Whether another tenant than this has sent a request a short time ago."""


class LargeBodies:
    """Requests with large bodies, and costly ones: one at a time of each tenant, beside others with a rest between.

    Parsing holds the interpreter for tens of milliseconds. Beside other tenants the rest is as long as the request
    took, so that a tenant's large requests take half of a process at most.
    """

    def __init__(self, company: Company) -> None:
        self._company = company
        self._lines: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def take(self, tenant_id: str, kind: str = "requests") -> asyncio.Lock:
        """Wait until no other large request of the tenant and of that kind is worked on. Later: that took too long."""
        line = self._lines.setdefault(f"{tenant_id}/{kind}", asyncio.Lock())
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await line.acquire()
        except TimeoutError:
            raise Later(_BUSY) from None
        return line

    def give_back(self, tenant_id: str, line: asyncio.Lock, seconds: float) -> None:
        """End a large request that took so long."""
        if self._company(tenant_id):
            asyncio.get_running_loop().call_later(min(seconds, MOST_REST_SECONDS), line.release)
        else:
            line.release()


_BUSY: Final = "All concurrent requests of this tenant take long. Send the request again."


class FairTurns:
    """A limited number of turns; for one tenant all but one, and beside other tenants a quarter of the pool.

    More at once would not answer its requests sooner, but would be that many between which processor and database
    divide their time, so that a single request of another tenant would get that small a part.
    """

    def __init__(self, pool: int, company: Company) -> None:
        """`pool`: connections of the process. One stays free for keys, settles and records of searches."""
        self._free = max(1, pool - 1)
        self._most, self._most_beside = max(1, pool - 2), max(min(2, pool - 2), pool // 4, 1)
        self._company = company
        self._held: Counter[str] = Counter()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def take(self, tenant_id: str) -> None:
        """Wait for a turn; `give_back` ends it. Later: none became free in time."""
        if self._free and self._may_have(tenant_id) and tenant_id not in self._waiting:
            self._grant(tenant_id)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant_id, deque()).append(turn)
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await turn
        except BaseException as error:
            self._forget(tenant_id, turn)
            if isinstance(error, TimeoutError):
                raise Later(_BUSY) from None
            raise

    def give_back(self, tenant_id: str) -> None:
        """End a turn; the waiting tenant with the fewest turns is next."""
        self._free += 1
        self._held[tenant_id] -= 1
        if not self._held[tenant_id]:
            del self._held[tenant_id]
        self._wake()

    def _may_have(self, tenant_id: str) -> bool:
        """Return whether a tenant may have another turn."""
        held = self._held[tenant_id]
        return held < self._most_beside or (held < self._most and not self._company(tenant_id))

    def _grant(self, tenant_id: str) -> None:
        self._free -= 1
        self._held[tenant_id] += 1

    def _wake(self) -> None:
        while self._free:
            # Of several with equally few, the one that has waited longest: a dict keeps their order.
            able = [tenant for tenant in self._waiting if self._may_have(tenant)]
            if not able:
                return
            following = min(able, key=self._held.__getitem__)
            turn = self._pop(following)
            if not turn.done():
                self._grant(following)
                turn.set_result(None)

    def _pop(self, tenant_id: str) -> asyncio.Future[None]:
        turn = self._waiting[tenant_id].popleft()
        line = self._waiting.pop(tenant_id)
        if line:
            self._waiting[tenant_id] = line
        return turn

    def _forget(self, tenant_id: str, turn: asyncio.Future[None]) -> None:
        """Leave the queue, or end a turn granted at the same moment."""
        line = self._waiting.get(tenant_id, deque())
        if turn in line:
            line.remove(turn)
            if not line:
                del self._waiting[tenant_id]
        elif turn.done() and not turn.cancelled():
            self.give_back(tenant_id)
