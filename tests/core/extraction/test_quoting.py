"""What is kept in the speaker's words, and what is restated."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from core.extraction.rule_extractor import extract
from core.types import Candidate, Category, Message

AT = datetime(2026, 5, 20, 15, tzinfo=UTC)


def talk(*turns: str, user: str = "Ada") -> list[Candidate]:
    """What is kept of turns of the user; those that begin with ">" are the assistant's."""
    return extract([
        Message(
            "s1",
            f"m{place}",
            place,
            f"e{place}",
            user,
            "assistant" if turn.startswith(">") else "user",
            turn.removeprefix(">"),
            AT,
        )
        for place, turn in enumerate(turns, 1)
    ])  # fmt: skip


def kept(*turns: str) -> list[str]:
    return [one.content for one in talk(*turns)]


def test_a_pronoun_is_not_replaced_but_quoted_with_whom_it_means() -> None:
    assert kept("My sister Nadia is a paramedic in Leeds.", "She has just bought a flat in Harrogate.")[-1] == (
        "After “My sister Nadia is a paramedic in Leeds.”, Ada said: “She has just bought a flat in Harrogate.”"
    )


def test_a_bare_answer_is_quoted_with_its_question() -> None:
    (one,) = kept(">What does your daughter play?", "The clarinet, every morning at seven.")
    assert one == "Asked “What does your daughter play?”, Ada said: “The clarinet, every morning at seven.”"


def test_a_subject_that_chinese_leaves_out_is_not_made_up() -> None:
    assert kept("我妹妹在重庆当护士。", "每周二和周五值夜班，周末休息。")[-1] == (
        "在“我妹妹在重庆当护士。”之后，Ada说：“每周二和周五值夜班，周末休息。”"
    )


def test_one_clause_about_the_speaker_is_restated_with_its_date() -> None:
    assert kept("I moved to Lisbon last week.") == ["Ada moved to Lisbon in the week of 11 May 2026."]


def test_what_fills_a_slot_is_restated() -> None:
    (one,) = talk("My name is Ada Feld and I'm from Bremen, where it always rains.")[:1]
    assert one.attribute
    assert "“" not in one.content


def test_what_a_sentence_says_beside_its_slot_is_not_lost() -> None:
    said = kept("我外婆的生日是农历四月初四，今年八十岁。")
    assert any("农历四月初四" in one for one in said)
    assert any("八十岁" in one for one in said)


def test_a_day_that_depends_on_when_it_was_said_says_so() -> None:
    (one,) = talk("The people next door are moving to Harrogate next Friday, so we're getting new neighbours.")
    assert one.content.startswith("Ada said on 20 May 2026: “")
    assert one.category is Category.PLAN
    assert one.evidence[0].quote == one.content.split("“")[1].rstrip("”")


def test_what_is_put_right_is_quoted_with_what_puts_it_right_and_not_restated() -> None:
    assert kept("My sister's wedding is on the 3rd of June in Leeds. No wait, the 4th of June.") == [
        (
            "After “My sister's wedding is on the 3rd of June in Leeds.”, "
            "Ada said on 20 May 2026: “No wait, the 4th of June.”"
        )
    ]


@pytest.mark.parametrize(
    "sentence",
    [
        "If I lived in Paris, I'd eat croissants every day.",
        "What shall I give my sister Nadia for her birthday?",
        "Write a poem about my sister Nadia, who is a paramedic.",
        "Ich wohne seit 2014 in Bremen und arbeite als Lehrerin.",
        '"I was born in Kenya and grew up in Wales."',
        "如果我住在巴黎，我会每天吃羊角面包。",
        "我妹妹生日我该送她什么？",
    ],
)
def test_what_is_not_said_to_be_so_is_not_quoted(sentence: str) -> None:
    assert kept(sentence) == []


def test_among_people_nothing_is_quoted() -> None:
    ada, ben = (
        Message("s1", f"m{n}", n, f"e{n}", name.lower(), "user", text, AT, name, "g")
        for n, (name, text) in enumerate(
            [("Ada", "Nadia is a paramedic in Leeds, and she loves it there."), ("Ben", "Nice!")], 1
        )
    )
    assert not any("“" in one.content for one in extract([ada, ben]))
