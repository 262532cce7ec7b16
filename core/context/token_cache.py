"""Memoized token counts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.inference.token_counting import Counter, counter
from core.memoize import Remembered

KEPT: Final = 16_384
"""Cached counts for each vocabulary, without the texts: some 4 MB."""

VOCABULARIES: Final = 16
"""Longest text cached: no limit."""


class Counted:
    """Counter with a cache. Thread-safe."""

    def __init__(self, inner: Counter) -> None:
        self.name = inner.name
        self._known = Remembered(inner.count, KEPT)

    def count(self, text: str) -> int:
        return self._known(text)


def counted(model: str | None) -> Counted:
    """Return the counter of a model; the same each time, so that its cache outlives a request."""
    return _remembering(counter(model))  # type: ignore[arg-type]  # every counter is frozen, and so hashable


@lru_cache(maxsize=VOCABULARIES)
def _remembering(inner: Counter) -> Counted:
    """Return one for all models that count alike: anyone may send another model name."""
    return Counted(inner)
