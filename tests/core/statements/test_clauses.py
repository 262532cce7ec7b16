"""Clauses of a statement, and what is left of it without some."""

from __future__ import annotations

import pytest

from core.statements import clauses


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ("Please keep answers short and use metric units.", ["Please keep answers short", "use metric units"]),
        ("I have two cats, Milo and Otis, and I rent a flat.", ["I have two cats, Milo and Otis", "I rent a flat"]),
        ("I like fish and chips.", ["I like fish and chips"]),
        ("我在杭州做产品经理，周末会去打羽毛球。", ["我在杭州做产品经理", "周末会去打羽毛球"]),
        (
            "Ich arbeite seit Mai bei Bosch und ich spiele Geige.",
            ["Ich arbeite seit Mai bei Bosch", "ich spiele Geige"],
        ),
        ("It costs 1,200.50 a month – heating included.", ["It costs 1,200.50 a month", "heating included"]),
        ("陆远航因为胃受不了戒了咖啡，改喝乌龙茶。", ["陆远航因为胃受不了戒了咖啡", "改喝乌龙茶"]),
        ("", []),
    ],
)
def test_punctuation_and_joining_words_show_clauses(words: str, parts: list[str]) -> None:
    several = clauses.clauses(words)
    assert "".join(several) == words
    assert [clauses.bare(clause) for clause in several] == parts


@pytest.mark.parametrize(
    "text",
    ["Je ne travaille plus chez Renault depuis mars.", "My daughter is so allergic to peanuts that we read labels."],
)
def test_words_that_join_clauses_in_another_language_or_place_cut_nothing(text: str) -> None:
    assert clauses.clauses(text) == [text]


def test_what_several_remainders_share() -> None:
    content = "Ada said: “I'm a nurse in Leeds, I play the oboe, and I have two cats.”"
    rests = [clauses.without(content, {0}), clauses.without(content, {1})]
    assert clauses.common(content, rests) == "Ada said: “… I have two cats”"
    assert clauses.common(content, ["Ada said: “… I have two cats”", "Ada said: “I'm a nurse in Leeds …”"]) == ""
    assert clauses.common(content, ["Ada has cats."]) is None


def test_a_remainder_in_other_words_that_repeats_a_clause_is_not_cut() -> None:
    content = "Ada lives in Leeds, she plays the oboe."
    assert clauses.common(content, ["Ada lives in Leeds with her dog."]) is None


def test_a_long_text_has_a_bounded_number_of_clauses() -> None:
    assert len(clauses.clauses("I have a red bicycle, " * 200)) == clauses.MOST


VISITS = "My sister Ola visits in May, she's vegetarian, and she brings her dog."


@pytest.mark.parametrize(
    ("over", "rest"),
    [
        ({1}, "My sister Ola visits in May … she brings her dog"),
        ({0}, "… she's vegetarian, and she brings her dog"),
        ({2}, "My sister Ola visits in May, she's vegetarian …"),
        ({0, 1, 2}, None),
    ],
)
def test_a_quotation_shows_where_words_are_left_out(over: set[int], rest: str | None) -> None:
    frame = "Ada said on 4 May 2026: “{}”"
    assert clauses.without(frame.format(VISITS), over) == (frame.format(rest) if rest else "")


@pytest.mark.parametrize(
    ("content", "over", "rest"),
    [
        (
            "Ada's standing instruction: keep answers short and use metric units.",
            {0},
            "Ada's standing instruction: use metric units.",
        ),
        ("小安的长期要求：用中文回答，别用表情符号。", {1}, "小安的长期要求：用中文回答。"),
        ("Ada plays the oboe and lives in Leeds.", {1}, "Ada plays the oboe."),
        ("Ada plays the oboe and lives in Leeds.", {0}, ""),
    ],
)
def test_an_order_keeps_its_frame_and_the_third_person_its_subject(content: str, over: set[int], rest: str) -> None:
    assert clauses.without(content, over) == rest
