"""Memoized token counts."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from core.inference.token_counting import Counter, counter
from core.memoize import Remembered

KEPT: Final = 16_384
"""Texts of which the count is kept, without them, for each vocabulary: some 4 MB."""

VOCABULARIES: Final = 16
"""Of which texts are remembered: all that there are."""


class Counted:
    """A counter that remembers. For many threads."""

    def __init__(self, inner: Counter) -> None:
        self.name = inner.name
        self._known = Remembered(inner.count, KEPT)

    def count(self, text: str) -> int:
        return self._known(text)


def counted(model: str | None) -> Counted:
    """Who counts for a model; the same each time, so that what it knows outlives a request."""
    return _remembering(counter(model))  # type: ignore[arg-type]  # every counter is frozen, and so hashable


@lru_cache(maxsize=VOCABULARIES)
def _remembering(inner: Counter) -> Counted:
    """One for all models that count alike: a name costs nothing, and anyone may send another."""
    return Counted(inner)
