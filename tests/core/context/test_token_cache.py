from __future__ import annotations

from core.context import token_cache


class Counting:
    """Counts characters, and how often it was asked."""

    name = "counting"

    def __init__(self) -> None:
        self.asked = 0

    def count(self, text: str) -> int:
        self.asked += 1
        return len(text)


def test_a_text_is_counted_once() -> None:
    inner = Counting()
    cached = token_cache.CachedCounter(inner)
    assert [cached.count("tea"), cached.count("tea"), cached.count("coffee")] == [3, 3, 6]
    assert inner.asked == 2


def test_models_that_count_alike_share_one_cache() -> None:
    assert token_cache.cached_counter(None) is token_cache.cached_counter(None)
    assert token_cache.cached_counter(None).count("one two three") > 0
