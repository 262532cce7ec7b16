from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from core.inference.embedders import CachedEmbedder, HashEmbedder


def test_the_double_puts_equal_words_near_and_others_apart() -> None:
    one, same, other = HashEmbedder().embed(["Ada moved to Lisbon", "to lisbon moved ADA", "rain tomorrow"])
    assert one @ same == pytest.approx(1)
    assert abs(one @ other) < 0.3


class Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(8)
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        return super().embed(texts)


def test_what_was_asked_before_is_not_asked_again() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 10)
    first = cached.embed(["a", "b", "a"])
    second = cached.embed(["b", "c", "a"])
    assert inner.asked == ["a", "b", "c"]
    np.testing.assert_array_equal(first[[1, 0]], second[[0, 2]])
    assert (cached.name, cached.dimension) == ("hash", 8)


def test_the_least_recently_asked_is_forgotten_first() -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, 2)
    for text in ("a", "b", "a", "c", "a", "b"):
        cached.embed([text])
    assert inner.asked == ["a", "b", "c", "b"]


def test_a_call_larger_than_the_cache_is_answered_whole() -> None:
    texts = [f"text {number}" for number in range(50)]
    np.testing.assert_array_equal(CachedEmbedder(HashEmbedder(), 3).embed(texts), HashEmbedder().embed(texts))
