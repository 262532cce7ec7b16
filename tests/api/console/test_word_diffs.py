from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from api.console import word_diffs
from api.console.word_diffs import Comparisons


def shown(before: str, after: str) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in Comparisons().words(before, after)]


def test_only_the_words_that_differ_are_marked() -> None:
    assert shown("Ada plays the cello.", "Ada plays the viola.") == [
        ("same", "Ada plays the "),
        ("gone", "cello"),
        ("new", "viola"),
        ("same", "."),
    ]


def test_chinese_is_compared_by_characters() -> None:
    assert shown("她住在北京。", "她住在南京。") == [
        ("same", "她住在"),
        ("gone", "北"),
        ("new", "南"),
        ("same", "京。"),
    ]


def test_long_wordings_are_shown_whole() -> None:
    before, after = "a " * word_diffs.MOST_WORDS, "b"
    assert shown(before, after) == [("gone", before), ("new", after)]


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_parts_are_both_wordings(before: str, after: str) -> None:
    parts = Comparisons().words(before, after)
    assert "".join(part.text for part in parts if part.kind != "new") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == after


def test_a_page_compares_so_many_words_and_shows_the_rest_whole() -> None:
    """One after the other: sixty pairs of the longest wordings would take half a minute without the bound."""
    before, after = "a b " * 150, "b a " * 149
    comparisons, began = Comparisons(), time.process_time()
    compared = [len(comparisons.words(before, after)) > 2 for _ in range(60)]
    assert compared == sorted(compared, reverse=True), "the first are compared"
    assert 0 < sum(compared) <= word_diffs.PAIRS // (500 * 500)
    assert time.process_time() - began < 5
