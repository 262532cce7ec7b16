from __future__ import annotations

from core.extraction.chinese import clauses


def test_spaces_around_latin_words_and_numbers_are_no_commas() -> None:
    assert not clauses.is_spaced("我买了 3 台 MacBook Pro")
    assert not clauses.is_spaced("住 A 区 离公司近，挺好")
    assert clauses.with_commas("手机换了 现在用 MacBook Pro") == "手机换了，现在用，MacBook Pro"
