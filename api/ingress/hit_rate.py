"""Hit rate and latency of each tenant's searches and statements since this process began."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque

from core.maintenance import memory_stats
from core.types import Json

TIMINGS = 1_000
"""Recent durations stored per tenant for percentiles."""


class HitRates:
    """Counts searches by tenant: no row is written for one that found nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches: Counter[str] = Counter()
        self._hits: Counter[str] = Counter()
        self._seconds = defaultdict[tuple[str, str], deque[float]](lambda: deque(maxlen=TIMINGS))

    def note(self, tenant_id: str, *, hit: bool) -> None:
        """Count an answered search, with a memory in it or without."""
        with self._lock:
            self._searches[tenant_id] += 1
            self._hits[tenant_id] += hit

    def of(self, tenant_id: str) -> Json:
        """Return the tenant's searches, and the share of them that returned a memory; none before the first."""
        with self._lock:
            searches, hits = self._searches[tenant_id], self._hits[tenant_id]
        return {
            "searches": searches,
            "with_memories": hits,
            "hit_rate": round(hits / searches, 4) if searches else None,
        }

    def took(self, tenant_id: str, what: str, seconds: float) -> None:
        """Record the duration of a `search` or `write` of the tenant."""
        with self._lock:
            self._seconds[tenant_id, what].append(seconds)

    def latency(self, tenant_id: str) -> Json:
        """Return percentiles in milliseconds of the tenant's searches and writes."""
        with self._lock:
            held = {what: list(self._seconds.get((tenant_id, what), ())) for what in ("search", "write")}
        return {what: memory_stats.percentiles(seconds) for what, seconds in held.items()}
