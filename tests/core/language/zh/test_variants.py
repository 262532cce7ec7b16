from __future__ import annotations

from core.language.zh.variants import PAIRS, SIMPLIFIED, simplified


def test_each_pair_is_two_characters_and_no_simplified_form_is_traditional_itself() -> None:
    pairs = PAIRS.split()
    assert all(len(pair) == 2 for pair in pairs)
    assert not {ord(form) for form in SIMPLIFIED.values()} & SIMPLIFIED.keys()


def test_a_text_keeps_its_length_and_what_is_simplified_stays() -> None:
    assert simplified("頻道發文規則：每天三篇") == "频道发文规则：每天三篇"
    assert simplified("今天天气很好 and API") == "今天天气很好 and API"
