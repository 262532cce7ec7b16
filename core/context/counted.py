"""Tokens of texts that come again: the lines and messages of a context are mostly those of the one before."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.tokens import Counter, counter

KEPT: Final = 16_384
"""Texts whose count is kept, for each vocabulary."""

LONGEST: Final = 1_000
"""Characters of a text that is kept; with KEPT, some 35 MB at the most."""

VOCABULARIES: Final = 16
"""Of which texts are remembered: all that there are."""


class Counted:
    """A counter that remembers. For many threads."""

    def __init__(self, inner: Counter) -> None:
        self.name = inner.name
        self._inner = inner
        self._known = lru_cache(maxsize=KEPT)(inner.count)

    def count(self, text: str) -> int:
        return self._known(text) if len(text) <= LONGEST else self._inner.count(text)


def counted(model: str | None) -> Counted:
    """Who counts for a model; the same each time, so that what it knows outlives a request."""
    return _remembering(counter(model))  # type: ignore[arg-type]  # every counter is frozen, and so hashable


@lru_cache(maxsize=VOCABULARIES)
def _remembering(inner: Counter) -> Counted:
    """One for all models that count alike: a name costs nothing, and anyone may send another."""
    return Counted(inner)
