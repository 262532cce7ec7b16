from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.console import word_diffs


def shown(before: str, after: str) -> list[tuple[str, str]]:
    return [(part.kind, part.text) for part in word_diffs.words(before, after)]


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
    parts = word_diffs.words(before, after)
    assert "".join(part.text for part in parts if part.kind != "new") == before
    assert "".join(part.text for part in parts if part.kind != "gone") == after
