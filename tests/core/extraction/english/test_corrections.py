from __future__ import annotations

from core.extraction.english import corrections


def test_words_that_mend_nothing_mend_nothing() -> None:
    assert corrections.correct("No, it's fine.", ["My locker is number 40"]) is None
