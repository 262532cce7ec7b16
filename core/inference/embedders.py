"""Embedder protocol; an embedder for tests, and one that caches another."""

from __future__ import annotations

import copy
import hashlib
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from core import metrics
from core.baton import REQUESTS
from core.errors import Never
from core.inference import embedding_model
from core.inference.local_models.catalog import DIMENSION
from core.memoize import DigestCache, digest

Floats = NDArray[np.float32]

TEXT: Final = "text"
"""Kind of a text that is not a query."""

CACHED_VECTORS = 4096
"""Vectors cached in a process, of all tenants together: 6 MB at 384 dimensions."""


class Embedder(Protocol):
    """Makes vectors of `dimension` floats. `name` is stored with the data: another name is another vector space."""

    @property
    def name(self) -> str:
        """The model's name, as stored with its vectors."""

    @property
    def dimension(self) -> int:
        """Floats in one vector."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row of length 1 for each text, in the order given. Raises Later or Never."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the same for questions, which some models tell from the texts that answer them."""


class BrokenVectors(Never):
    """Some vectors of an answer cannot be stored.

    `good`: the vectors of the other texts; `reasons`: what is wrong with the rest, both by text.
    """

    def __init__(self, who: str, good: Mapping[str, Floats], reasons: Mapping[str, str], advice: str = "") -> None:
        """`advice`: what to do about it."""
        self.who, self.good, self.reasons, self.advice = who, good, reasons, advice
        first = next(iter(reasons.values()))
        super().__init__(f"{who} returned {len(reasons)} of {len(good) + len(reasons)} vectors broken: {first}{advice}")


@contextmanager
def counted_batch(texts: int) -> Iterator[None]:
    """Count one call of the embedding model, its texts and its time; one that fails is not counted."""
    began = time.perf_counter()
    yield
    metrics.EMBED_BATCH.observe(time.perf_counter() - began)
    metrics.EMBED_TEXTS.observe(texts)


class Symmetric(ABC):
    """Embeds questions as it embeds texts."""

    @abstractmethod
    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text."""

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return the rows that the questions would have as texts."""
        return self.embed(texts)


class HashEmbedder(Symmetric):
    """Embedder for tests: a bag of words hashed into a few signed places. Equal words are near, nothing else is."""

    name = embedding_model.HASH

    def __init__(self, dimension: int = DIMENSION) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text, the same on every machine."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()) or [text]:
                digest = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
                row[(digest >> 1) % self.dimension] += 1 if digest & 1 else -1
        return unit_rows(rows)


class CachedEmbedder:
    """Caches the vectors of recent texts, and not the texts; safe to share between threads.

    Each tenant has its own entries: the response time must not reveal what another tenant has asked.
    """

    def __init__(self, inner: Embedder, capacity: int = CACHED_VECTORS) -> None:
        """Cache the vectors of `inner`, at most `capacity` of all tenants together."""
        self.name, self.dimension = inner.name, inner.dimension
        self._inner = inner
        self._kept = DigestCache[Floats](capacity)
        self._tenant_id: str | None = None

    def of(self, tenant_id: str) -> Self:
        """Return the same cache for the texts of one tenant."""
        own = copy.copy(self)
        own._tenant_id = tenant_id  # noqa: SLF001 - of the same class
        return own

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return one row for each text; those not cached go to the inner embedder in one call, each text once."""
        return self._rows(texts, TEXT, self._inner.embed)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return one row for each question, in the same way."""
        return self._rows(texts, "query", self._inner.embed_queries)

    def _rows(self, texts: Sequence[str], kind: str, embed: Callable[[Sequence[str]], Floats]) -> Floats:
        keys = [digest(self._tenant_id, kind, text) for text in texts]
        kept = {key: row for key in keys if (row := self._kept.get(key, None)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
        metrics.CACHE.labels("vectors", "hit").inc(len(texts) - len(missing))
        metrics.CACHE.labels("vectors", "miss").inc(len(missing))
        if kind == TEXT:
            metrics.VECTORS.labels("made").inc(len(missing))
            metrics.VECTORS.labels("cached").inc(len(texts) - len(missing))
        if missing:
            try:
                with REQUESTS.passed_on():
                    fresh = dict(zip(missing, embed(list(missing.values())), strict=True))
            except BrokenVectors as broken:
                for text, row in broken.good.items():
                    self._kept.put(digest(self._tenant_id, kind, text), row.copy())
                cached = {text: kept[key] for key, text in zip(keys, texts, strict=True) if key in kept}
                raise BrokenVectors(broken.who, {**cached, **broken.good}, broken.reasons, broken.advice) from broken
            for key, row in fresh.items():
                self._kept.put(key, row.copy())
            kept |= fresh
        return np.array([kept[key] for key in keys], dtype=np.float32).reshape(len(texts), self.dimension)


def unit_rows(rows: Floats) -> Floats:
    """Scale each row to length 1."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Floats = rows / np.maximum(lengths, np.float32(1e-12))
    return unit
