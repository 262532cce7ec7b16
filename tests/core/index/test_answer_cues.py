from __future__ import annotations

import pytest

from core.index.answer_cues import asks_time, count_stated_terms, tells_time


def test_what_stands_in_a_question_is_not_told() -> None:
    assert count_stated_terms("Where do you live?") == 0
    assert count_stated_terms("你住在哪里？") == 0
    assert count_stated_terms("I moved to Lisbon. Where do you live?") == count_stated_terms("I moved to Lisbon.") == 2


def test_a_text_without_an_end_mark_is_told() -> None:
    assert count_stated_terms("moved to Lisbon") == 2
    assert count_stated_terms("") == 0


@pytest.mark.parametrize(
    "text",
    [
        "I went last week",
        "on 7 May 2023",
        "two years ago",
        "see you on Friday",
        "in July",
        "昨天下雨",
        "我3月搬家",
        "上周六",
        "七月十一号到",
        "二〇二三年的事",
        "两个星期前搬的",
        "昨晚下雨",
    ],
)
def test_a_time_is_recognised(text: str) -> None:
    assert tells_time(text)


@pytest.mark.parametrize(
    "text", ["I love tea", "she may come", "Sundance is a film festival", "我喜欢喝茶", "她一个人住", "前后两次"]
)
def test_what_names_no_time_is_not_taken_for_one(text: str) -> None:
    assert not tells_time(text)


@pytest.mark.parametrize(
    "question",
    [
        "When did Ada move?",
        "How long has she lived there?",
        "What year was it?",
        "小鹏什么时候搬家的?",
        "她哪一天到?",
        "住了多久?",
    ],
)
def test_a_question_for_a_time_is_recognised(question: str) -> None:
    assert asks_time(question)


@pytest.mark.parametrize("question", ["Where does Ada live?", "What is her whenua?", "她住在哪里?"])
def test_other_questions_are_not(question: str) -> None:
    assert not asks_time(question)
