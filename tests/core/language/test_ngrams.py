from __future__ import annotations

import pytest

from core.language import ngrams


def test_numbers_are_alike_and_names_are() -> None:
    assert ngrams.of("I am 41.", "en") == ngrams.of("I am 17.", "en")
    assert ngrams.shapes("My boss is Priya today") == ngrams.shapes("My boss is Oscar today")
    assert ngrams.of("我41岁。", "zh") == ngrams.of("我十七岁。", "zh")


def test_odds_that_overflow_are_none() -> None:
    assert ngrams.logistic(-1e6) == pytest.approx(0)
    assert ngrams.logistic(1e6) == pytest.approx(1)
