"""How many requests of each tenant and key this process is answering, and how many bytes of bodies it holds for them.

Used on the event loop alone, so nothing is locked.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from api.ingress.route_bounds import Counted
from core.settings.limits import LimitReached
from core.tenancy.tenants import Caller

SOON_SECONDS: Final = 1
"""When to try again what ends within a second or so."""

RETRY_SECONDS: Final = {"settles": 5, "backtests": 10}
"""When to try again what takes longer."""


class InFlight:
    """Counts by tenant or key and by name of a limit; what ends is counted no longer."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def enter(self, who: Caller, counted: Counted) -> None:
        """Count a request that begins. LimitReached: the tenant or the key has as many as it may have."""
        for place in _places(who, counted):
            limit = getattr(who.limits, place[1])
            if self._counts[place] >= limit:
                raise LimitReached(place[1], limit, RETRY_SECONDS.get(place[1], SOON_SECONDS))
        for place in _places(who, counted):
            self._counts[place] += 1

    def leave(self, who: Caller, counted: Counted) -> None:
        """Count a request that has ended."""
        for place in _places(who, counted):
            self._subtract(place, 1)

    def hold(self, who: Caller, size: int) -> None:
        """Count bytes of a body. LimitReached: the tenant's requests hold as many as they may."""
        place, limit = (who.tenant_id, "body_bytes"), who.limits.body_bytes
        if self._counts[place] + size > limit:
            raise LimitReached("body_bytes", limit)
        self._counts[place] += size

    def drop(self, who: Caller, size: int) -> None:
        """Count bytes of a body that are held no longer."""
        self._subtract((who.tenant_id, "body_bytes"), size)

    def _subtract(self, place: tuple[str, str], number: int) -> None:
        self._counts[place] -= number
        if not self._counts[place]:
            del self._counts[place]


def _places(who: Caller, counted: Counted) -> tuple[tuple[str, str], ...]:
    """Where a request counts. Waiting settles use nothing that others need, so they have a limit of their own."""
    if counted == "settles":
        return ((who.tenant_id, "settles"),)
    places = (who.tenant_id, "requests"), (f"{who.tenant_id}.{who.key_id}", "requests_per_key")
    return (*places, (who.tenant_id, counted)) if counted != "requests" else places
