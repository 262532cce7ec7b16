"""Tokens of texts that come again: the lines and messages of a context are mostly those of the one before."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.tokens import Counter, counter

KEPT: Final = 16_384
"""Texts whose count is kept, for each model."""

LONGEST: Final = 1_000
"""Characters of a text that is kept; with KEPT, 16 MB at the most."""

MODELS: Final = 16


class Counted:
    """A counter that remembers. For many threads."""

    def __init__(self, inner: Counter) -> None:
        self.name = inner.name
        self._inner = inner
        self._known = lru_cache(maxsize=KEPT)(inner.count)

    def count(self, text: str) -> int:
        return self._known(text) if len(text) <= LONGEST else self._inner.count(text)


@lru_cache(maxsize=MODELS)
def counted(model: str | None) -> Counted:
    """Who counts for a model; the same each time, so that what it knows outlives a request."""
    return Counted(counter(model))
