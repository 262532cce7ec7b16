"""How many of a tenant's searches have handed out a memory, since this process began."""

from __future__ import annotations

import threading
from collections import Counter

from core.types import Json


class Hits:
    """Counts searches by tenant: no row is written for one that found nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._searches: Counter[str] = Counter()
        self._hits: Counter[str] = Counter()

    def note(self, tenant_id: str, *, hit: bool) -> None:
        """A search was answered, with a memory in it or without."""
        with self._lock:
            self._searches[tenant_id] += 1
            self._hits[tenant_id] += hit

    def of(self, tenant_id: str) -> Json:
        """The tenant's searches, and the share of them that handed out a memory; none before the first."""
        with self._lock:
            searches, hits = self._searches[tenant_id], self._hits[tenant_id]
        return {
            "searches": searches,
            "with_memories": hits,
            "hit_rate": round(hits / searches, 4) if searches else None,
        }
