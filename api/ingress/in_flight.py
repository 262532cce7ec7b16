"""Counts of the requests that this process is answering for each tenant and key, and of the body bytes it holds.

Used on the event loop alone, so nothing is locked.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from api.ingress.route_bounds import Counted
from core.settings.limits import LimitReached
from core.tenancy.tenants import Caller

SOON_SECONDS: Final = 1
"""Retry-After of a limit whose requests end within about a second."""

RETRY_SECONDS: Final = {"settles": 5, "streams": 5, "backtests": 10}
"""Retry-After of a limit whose requests take longer."""


class InFlight:
    """Counters by tenant or key and by name of a limit."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def enter(self, caller: Caller, counted: Counted) -> None:
        """Count a request that begins. LimitReached: the tenant or the key has as many as it may have."""
        for place in _places(caller, counted):
            limit = getattr(caller.limits, place[1])
            if self._counts[place] >= limit:
                raise LimitReached(place[1], limit, RETRY_SECONDS.get(counted, SOON_SECONDS))
        for place in _places(caller, counted):
            self._counts[place] += 1

    def leave(self, caller: Caller, counted: Counted) -> None:
        """Count a request that has ended."""
        for place in _places(caller, counted):
            self._subtract(place, 1)

    def hold(self, caller: Caller, size: int) -> None:
        """Count bytes of a body. LimitReached: the tenant's requests hold as many as they may."""
        place, limit = (caller.tenant_id, "body_bytes"), caller.limits.body_bytes
        if self._counts[place] + size > limit:
            raise LimitReached("body_bytes", limit)
        self._counts[place] += size

    def drop(self, caller: Caller, size: int) -> None:
        """Count bytes of a body that are held no longer."""
        self._subtract((caller.tenant_id, "body_bytes"), size)

    def _subtract(self, place: tuple[str, str], number: int) -> None:
        self._counts[place] -= number
        if not self._counts[place]:
            del self._counts[place]


def _places(caller: Caller, counted: Counted) -> tuple[tuple[str, str], ...]:
    """Return the counters of a request. What only waits uses nothing that others need, so it has its own limit."""
    if counted == "pages":
        return ()
    key = f"{caller.tenant_id}.{caller.key_id}"
    if counted == "settles":
        return ((caller.tenant_id, "settles"),)
    if counted == "streams":
        return (caller.tenant_id, "streams"), (key, "streams_per_key")
    places = (caller.tenant_id, "requests"), (key, "requests_per_key")
    return (*places, (caller.tenant_id, counted)) if counted != "requests" else places
