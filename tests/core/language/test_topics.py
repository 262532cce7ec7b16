from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.language import topics


def test_the_topic_is_what_was_said_most_and_not_what_everyone_says() -> None:
    own = ["Hello! I need a visa for Japan.", "How long does the visa take?"]
    others = ["Thanks for asking, the visa takes weeks.", "Japan is great."]
    assert topics.topics(own, others)[:2] == ["visa", "Japan"]
    assert topics.topics(["Hi!", "Okay, thanks."], ["You're welcome."]) == []


def test_chinese_topics_are_words_and_none_is_part_of_another() -> None:
    found = topics.topics(["我想订一张去上海的机票", "机票多少钱"], ["上海的机票很贵"])
    assert "机票" in found
    assert not [1 for one in found for other in found if one != other and one in other]


def test_names_of_those_who_speak_are_no_topic() -> None:
    assert topics.topics(["Bob, look at the garden."], ["The garden, Ada!"], ["Ada", "Bob"]) == ["garden"]


@pytest.mark.parametrize(
    "message",
    [
        "Notre voiture est en panne et Elle ne démarre pas.",
        "Ich habe gestern mit meiner Schwester über das Haus gesprochen.",
        "新しい間取りを見に行きました。",
        "저녁에 김치찌개를 먹었다.",
        "Мы переехали в новый дом.",
    ],
)
def test_words_of_a_language_that_is_not_known_are_no_topics(message: str) -> None:
    assert topics.topics([message], []) == []


def test_a_quoted_name_is_a_topic_in_any_language() -> None:
    assert topics.topics(["Wir haben gestern das Buch „Momo“ gelesen und ich habe es geliebt."], []) == ["Momo"]


def test_pairs_of_characters_that_are_no_word_are_no_topic() -> None:
    assert "叫林" not in topics.topics(["我叫林小满，在杭州做美术。"], [])


@given(st.lists(st.text(max_size=40), max_size=6), st.lists(st.text(max_size=40), max_size=6))
def test_whatever_is_said_there_are_at_most_five_topics_and_each_was_said(own: list[str], others: list[str]) -> None:
    found = topics.topics(own, others)
    assert len(found) <= topics.WORDS
    said = unicodedata.normalize("NFKC", "\n".join([*own, *others])).casefold()
    assert all(unicodedata.normalize("NFKC", word).casefold() in said for word in found if word.isascii())
