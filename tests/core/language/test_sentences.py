"""Cutting into sentences, and telling assertions from the rest."""

from __future__ import annotations

import pytest

from core.language import sentences
from core.language.zh.recognition import is_chinese


def test_sentences_end_where_people_end_them() -> None:
    text = "I met Dr. Meyer at 3 p.m. today. It went well! 我很好。谢谢\nBye"
    assert sentences.split(text) == ["I met Dr. Meyer at 3 p.m. today.", "It went well!", "我很好。", "Bye"]


def test_code_links_and_quoted_lines_are_no_speech() -> None:
    assert sentences.split("> I live in Rome\n`I am`\nhttps://example.org/I-am\nI live here.") == ["I live here."]


@pytest.mark.parametrize(
    "sentence",
    [
        "Do you live in Rome?",
        "If I lived in Rome, I'd be happy.",
        "I wish I had a dog.",
        'She said, "I live in Rome."',
        "I could have been a doctor.",
        "Write a poem about how I feel.",
        "Anna: I live in Rome.",
        "My sister wrote: I live in Rome.",
        "Translate this: I live in Rome.",
        "他说：我住在罗马。",
        "我应该搬家吗",
        "如果我有钱就好了。",
        "他说：“我住在罗马。”",
    ],
)
def test_what_is_not_asserted_is_left_out(sentence: str) -> None:
    assert sentences.asserted_part(sentence) is None


def test_a_lead_in_before_a_colon_is_cut() -> None:
    assert sentences.asserted_part("One more thing: I don't eat pork.") == "I don't eat pork."
    assert sentences.asserted_part("有件事：我不吃肉。") == "我不吃肉。"
    assert sentences.asserted_part("My plan is simple: I save more.") == "My plan is simple: I save more."


def test_the_statement_before_a_question_is_kept() -> None:
    assert sentences.asserted_part("I'm allergic to nuts, can you suggest a snack?") == "I'm allergic to nuts"
    assert sentences.asserted_part("我对花生过敏，能推荐点零食吗？") == "我对花生过敏"


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("我住在上海，喜欢喝绿茶。", True),
        ("我最爱喝「御茶の水」的绿茶，每周都去那家店。", True),
        ("去年の3月に北海道庁を定年退職しました。", False),
        ("カタカナだけ", False),
        ("I moved to 上海 in May with my two sisters.", False),
    ],
)
def test_japanese_is_not_read_as_chinese(text: str, *, chinese: bool) -> None:
    assert is_chinese(text) is chinese


@pytest.mark.parametrize("text", ["Lukas heiratet am 12. September in Lübeck.", "In Pension gehe ich am 1. März 2028."])
def test_a_german_day_does_not_end_a_sentence(text: str) -> None:
    assert sentences.split(text) == [text]


def test_a_number_at_the_end_of_an_english_sentence_does() -> None:
    assert sentences.split("I am 12. My sister is 15. We live in Porto.") == [
        "I am 12.",
        "My sister is 15.",
        "We live in Porto.",
    ]
