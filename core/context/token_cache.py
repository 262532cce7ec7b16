"""Memoized token counts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.inference.token_counting import Counter, counter
from core.memoize import MemoizedFunction

KEPT: Final = 16_384
"""Cached counts for each vocabulary, without the texts: some 4 MB."""

VOCABULARIES: Final = 16
"""Longest text cached: no limit."""


class CachedCounter:
    """Counter with a cache. Thread-safe."""

    def __init__(self, inner: Counter) -> None:
        self.name = inner.name
        self._known = MemoizedFunction(inner.count, KEPT)

    def count(self, text: str) -> int:
        return self._known(text)


def cached_counter(model: str | None) -> CachedCounter:
    """Return the counter of a model; the same each time, so that its cache outlives a request."""
    return _counter_of(counter(model))  # type: ignore[arg-type]  # every counter is frozen, and so hashable


@lru_cache(maxsize=VOCABULARIES)
def _counter_of(inner: Counter) -> CachedCounter:
    """Return one for all models that count alike: anyone may send another model name."""
    return CachedCounter(inner)
