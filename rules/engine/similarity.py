"""Vectors for `means`: texts embedded a batch at a time and cached without the texts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from core.memoize import DigestCache, digest

MEANT_CHARACTERS: Final = 2_000
"""Leading characters of a text that are compared: the local model reads 256 tokens, some 1,000 characters, and a
hostile text must not become expensive with another embedder.
"""

CAPACITY: Final = 20_000
"""Maximum cached vectors: 30 MB at 384 dimensions."""

Vector = NDArray[np.float32]


class Unknown(LookupError):
    """A text was compared before it was embedded: pass the result of `Ruleset.texts` to `Meanings.warm` first."""


class Vectorizer(Protocol):
    """Protocol of an embedder: one row of length 1 for each text, in the order given."""

    def embed(self, texts: Sequence[str]) -> Vector: ...


class Meanings:
    """Similarity of texts. Embeds only in `warm`, so that no open transaction waits for a model.

    Safe to share between threads as long as they warm at most `capacity` texts at a time.
    """

    def __init__(self, embedder: Vectorizer, capacity: int = CAPACITY) -> None:
        """`capacity`: number of cached vectors; the results of one call of `warm` are cached in any case."""
        self._embedder = embedder
        self._kept = DigestCache[Vector](capacity)

    def warm(self, texts: Iterable[str]) -> None:
        """Embed the texts that are not cached, in one call. Raises what the embedder raises."""
        texts_by_digest = {digest(read): read for read in map(_read, texts)}
        lacking = [key for key in texts_by_digest if self._kept.get(key, None) is None]
        if not lacking:
            return
        rows = self._embedder.embed([texts_by_digest[key].decode() for key in lacking])
        for key, row in zip(lacking, rows, strict=True):
            self._kept.put(key, np.copy(row), len(texts_by_digest))

    def similarity(self, text: str, meaning: str) -> float:
        """Return the cosine of two texts, -1 to 1. Raises Unknown for one that was not warmed."""
        vector, other_vector = (self._kept.get(digest(_read(compared)), None) for compared in (text, meaning))
        if vector is None or other_vector is None:
            raise Unknown(Unknown.__doc__)
        return float(vector @ other_vector)


class MeaningsByModel:
    """The vectors of a process for each embedding model of its tenants; None: that of the installation."""

    def __init__(self, embedder_of: Callable[[Any], Vectorizer]) -> None:
        self._embedder_of = embedder_of
        self._by_model: dict[Hashable, Meanings] = {}
        self._lock = threading.Lock()

    def of(self, model: Hashable) -> Meanings:
        """Return the vectors of a model. Misconfigured: this process cannot make them."""
        with self._lock:
            if model not in self._by_model:
                self._by_model[model] = Meanings(self._embedder_of(model))
            return self._by_model[model]


def _read(text: str) -> bytes:
    """Return the part of a text that is embedded. Half a surrogate pair becomes a question mark: no model takes it."""
    return text[:MEANT_CHARACTERS].encode(errors="replace")
