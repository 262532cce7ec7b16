"""Counts of the requests that are being answered for each tenant and key, and of the body bytes that are held.

They hold for all processes that serve from the same sockets. Used on the event loop alone, so nothing is locked: a
request is counted first, then compared with its limit, so that processes that count at once never admit one too many.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from api.ingress.route_bounds import Counted
from api.ingress.shared_counts import ProcessCounts
from core.settings.limits import LimitReached
from core.tenancy.tenants import Caller

SOON_SECONDS: Final = 1
"""Retry-After of a limit whose requests end within about a second."""

RETRY_SECONDS: Final = {"settles": 5, "streams": 5, "backtests": 10, "imports": 10}
"""Retry-After of a limit whose requests take longer."""


class InFlight:
    """Counters by tenant or key and by name of a limit."""

    def __init__(self, shared: ProcessCounts | None = None) -> None:
        """`shared`: this process's part of what several count together."""
        self._counts: Counter[tuple[str, str]] = Counter()
        self._shared = shared

    def enter(self, caller: Caller, counted: Counted) -> None:
        """Count a request that begins. LimitReached: the tenant or the key has as many as it may have."""
        counters = _counters(caller, counted)
        for counter in counters:
            self._add(counter, 1)
        for counter in counters:
            limit = getattr(caller.limits, counter[1])
            if self._total(counter) > limit:
                self.leave(caller, counted)
                raise LimitReached(counter[1], limit, RETRY_SECONDS.get(counted, SOON_SECONDS))

    def leave(self, caller: Caller, counted: Counted) -> None:
        """Count a request that has ended."""
        for counter in _counters(caller, counted):
            self._add(counter, -1)

    def hold(self, caller: Caller, size: int) -> None:
        """Count bytes of a body. LimitReached: the tenant's requests hold as many as they may."""
        counter, limit = (caller.tenant_id, "body_bytes"), caller.limits.body_bytes
        self._add(counter, size)
        if self._total(counter) > limit:
            self._add(counter, -size)
            raise LimitReached("body_bytes", limit)

    def drop(self, caller: Caller, size: int) -> None:
        """Count bytes of a body that are held no longer."""
        self._add((caller.tenant_id, "body_bytes"), -size)

    def _add(self, counter: tuple[str, str], number: int) -> None:
        self._counts[counter] += number
        if self._shared is not None:
            self._shared.note("\n".join(counter), self._counts[counter])
        if not self._counts[counter]:
            del self._counts[counter]

    def _total(self, counter: tuple[str, str]) -> int:
        return self._counts[counter] + (0 if self._shared is None else self._shared.of_others("\n".join(counter)))


def _counters(caller: Caller, counted: Counted) -> tuple[tuple[str, str], ...]:
    """Return the counters of a request. What only waits uses nothing that others need, so it has its own limit.

    So has a page, whose own requests are counted besides.
    """
    if counted == "pages":
        return ((caller.tenant_id, "pages"),)
    key = f"{caller.tenant_id}.{caller.key_id}"
    if counted == "settles":
        return ((caller.tenant_id, "settles"),)
    if counted == "streams":
        return (caller.tenant_id, "streams"), (key, "streams_per_key")
    counters = (caller.tenant_id, "requests"), (key, "requests_per_key")
    return (*counters, (caller.tenant_id, counted)) if counted != "requests" else counters
