"""What `means` compares: vectors of texts, embedded a batch at once and remembered by the text's hash."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

MEANT_CHARACTERS: Final = 2_000
"""Of a longer text only so many from its beginning are compared: the local model reads 256 tokens, some 1,000
characters, and what an embedder would read beyond must not make a hostile text expensive."""

CAPACITY: Final = 20_000
"""Vectors remembered: 30 MB at 384 dimensions."""

Vector = NDArray[np.float32]


class Unknown(LookupError):
    """A text was compared that nobody had embedded: pass what `Ruleset.texts` names to `Meanings.warm` before."""


class Vectorizer(Protocol):
    """What makes vectors: one row of length 1 for each text, in the order given."""

    def embed(self, texts: Sequence[str]) -> Vector: ...


class Meanings:
    """The nearness of texts. Embeds in `warm` alone, so that nothing waits for a model while a transaction is open.

    Safe to share between threads as long as they do not warm more than `capacity` texts at a time.
    """

    def __init__(self, embedder: Vectorizer, capacity: int = CAPACITY) -> None:
        """`capacity` is the number of vectors kept; what one call of `warm` brings is kept in any case."""
        self._embedder, self._capacity = embedder, capacity
        self._kept: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def warm(self, texts: Iterable[str]) -> None:
        """Embed those of the texts that are not remembered, in one call. Raises what the embedder raises."""
        wanted = {_key(read): read for read in map(_read, texts)}
        with self._lock:
            lacking = [key for key in wanted if not self._touch(key)]
        if not lacking:
            return
        rows = self._embedder.embed([wanted[key].decode() for key in lacking])
        with self._lock:
            self._kept.update(zip(lacking, map(np.copy, rows), strict=True))
            while len(self._kept) > max(self._capacity, len(wanted)):
                self._kept.popitem(last=False)

    def similarity(self, text: str, meaning: str) -> float:
        """The cosine of two texts, -1 to 1. Raises Unknown for one that was not warmed."""
        with self._lock:
            try:
                one, other = self._kept[_key(_read(text))], self._kept[_key(_read(meaning))]
            except KeyError:
                raise Unknown(Unknown.__doc__) from None
        return float(one @ other)

    def _touch(self, key: bytes) -> bool:
        """Whether a text is remembered; if so, as one of those used last."""
        if key not in self._kept:
            return False
        self._kept.move_to_end(key)
        return True


def _read(text: str) -> bytes:
    """What is read of a text. Half a surrogate pair becomes a question mark: no model takes it."""
    return text[:MEANT_CHARACTERS].encode(errors="replace")


def _key(read: bytes) -> bytes:
    return blake2b(read, digest_size=16).digest()
