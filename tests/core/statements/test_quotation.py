"""Statements that quote their speaker: written and read back."""

from __future__ import annotations

import pytest

from core.statements import quotation

AROUND = [
    {},
    {"day": "4 February 2026"},
    {"asked": "Where do you live?"},
    {"after": "I moved."},
    {"after": "I moved.", "asked": "Where to?", "day": "4 February 2026"},
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("words", ["Near the river.", "I said “no”: never again."])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_was_quoted_is_read_back(language: str, words: str, around: dict[str, str]) -> None:
    content = quotation.FRAMES[language].around("Ada", words, **around)
    assert quotation.read(content) == ("Ada", words)


def test_the_words_around_a_quotation_make_a_sentence() -> None:
    english, chinese = quotation.FRAMES["en"], quotation.FRAMES["zh"]
    assert english.around("Ada", "Two.", asked="How many?") == "Asked “How many?”, Ada said: “Two.”"
    assert english.around("Ada", "She left.", after="My boss is Ben.") == (
        "After “My boss is Ben.”, Ada said: “She left.”"
    )
    assert chinese.around("小安", "两只。", asked="几只？") == "被问到“几只？”，小安说：“两只。”"
    assert chinese.around("小安", "走了。", day="2026年2月4日") == "小安在2026年2月4日说：“走了。”"


@pytest.mark.parametrize(
    "content", ["Ada lives in Lisbon.", "Ada said no.", "Ada said: “no” and left.", f"Ada said: “{'a' * 2_000}”"]
)
def test_what_is_no_quotation_is_none(content: str) -> None:
    assert quotation.read(content) is None


@pytest.mark.parametrize(
    ("content", "spoken"),
    [
        ("After “My sister is Eilidh.”, Ada said: “She's a vet.”", "Ada: My sister is Eilidh. She's a vet."),
        ("Ada said on 2 December 2025: “I moved.”", "Ada: I moved."),
        ("在“我妹妹在重庆当护士。”之后，小安说：“每周二值夜班。”", "小安: 我妹妹在重庆当护士。 每周二值夜班。"),
        ("Asked “Where to?”, Ada said: “To Porto.”", "Ada: Where to? To Porto."),
        ("Ada lives in Porto.", "Ada lives in Porto."),
    ],
)
def test_a_quotation_is_read_as_it_was_spoken(content: str, spoken: str) -> None:
    assert quotation.as_spoken(content) == spoken
