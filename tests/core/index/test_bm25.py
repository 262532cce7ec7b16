from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.index.bm25 import (
    K1,
    MOST_TERMS,
    READ,
    TERMS,
    VARIANTS,
    asked_terms,
    document_weights,
    message_terms,
    query_terms,
    query_weights,
)
from core.language.terms import _segmenter, term_id, terms
from tests.spent import spent

words = st.lists(st.sampled_from(["rain", "lisbon", "cat", "piano", "tea"]), max_size=12)


def score(asked: dict[int, float], document: dict[int, float]) -> float:
    return sum(weight * document.get(term, 0.0) for term, weight in asked.items())


def test_a_message_is_found_by_its_words_and_its_speaker() -> None:
    assert message_terms("I moved to Lisbon", "Ada") == ["move", "lisbon", "ada"]
    assert message_terms("I moved", None) == ["move"]


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("小雨现在的房租多少钱？", "租了个一居室"),
        ("阿哲什么时候考试？", "四月再考"),
        ("誰養貓？", "她養了兩隻貓"),
        ("谁养猫？", "她养了两只猫"),
    ],
)
def test_a_chinese_question_finds_a_word_of_its_own_put_another_way(question: str, telling: str) -> None:
    weights = query_weights(query_terms(question).all, {}, 10)
    assert score(weights, document_weights(message_terms(telling))) > 0


@pytest.mark.parametrize(
    "question", ["她买了什么车？", "她買了什麼車？", "谁买了车？", "她为什么买车？", "她怎么买的车？"]
)
def test_what_makes_a_question_is_in_no_answer(question: str) -> None:
    weights = query_weights(query_terms(question).all, {}, 10)
    assert score(weights, document_weights(message_terms("什么？什麼？谁？为什么？怎么？"))) == 0
    assert score(weights, document_weights(message_terms("她买车了，買車了"))) > 0


@pytest.mark.parametrize(
    ("question", "telling"),
    [
        ("頻道規則", "频道发文规则：每天最多三篇"),
        ("频道规则", "頻道發文規則：每天最多三篇"),
        ("API", "API를 호출한다"),
        ("김치찌개", "저녁에 김치찌개를 먹었다."),
        ("пароля", "Мой пароль изменён."),
        ("機械学習", "私は機械学習を勉強しています"),
        ("รหัสผ่าน", "ฉันเปลี่ยนรหัสผ่านแล้ว"),
    ],
)
def test_other_forms_and_other_characters_of_a_word_find_it(question: str, telling: str) -> None:
    other = document_weights(message_terms("Je préfère le thé. 我喝茶。 차를 마신다. Чай вкусный."))
    weights = query_weights(query_terms(question).all, {}, 10)
    assert score(weights, document_weights(message_terms(telling))) > 0
    assert score(weights, other) == 0


def test_rows_of_traditional_characters_are_still_found_as_they_were_written() -> None:
    assert score(query_weights(query_terms("養貓").all, {}, 10), document_weights(terms("她養了兩隻貓"))) > 0


def test_other_forms_count_only_where_they_occur() -> None:
    asked = query_terms("Passwörter")
    assert asked.occurring({}) == ["passwort"]
    assert asked.occurring({term_id("~passwort"): 2}) == ["passwort", "~passwort"]


@pytest.mark.parametrize("question", ["什么？", "谁？", "什么时候？"])
def test_a_question_of_nothing_else_asks_for_its_words(question: str) -> None:
    assert asked_terms(question) == terms(question) != []


def test_characters_that_stand_in_every_sentence_are_not_asked_for_alone() -> None:
    assert asked_terms("她去成都吗") == terms("她去成都吗") == ["去", "成都"]


@given(st.text(st.characters(max_codepoint=0x2E7F), max_size=80))
def test_without_chinese_a_question_asks_for_its_words(question: str) -> None:
    assert asked_terms(question) == terms(question)


@given(st.text("小雨什么时候搬到杭州房租多少 a1？", max_size=20))
def test_what_is_asked_for_once_stays_and_nothing_more_comes_twice(question: str) -> None:
    asked = asked_terms(question)
    assert set(asked) or not terms(question)
    alone = [term for term in asked if term not in terms(question)]
    assert len(alone) == len(set(alone))
    assert all(len(term) <= 2 for term in alone)


def test_the_inner_product_is_bm25() -> None:
    own = ["lisbon", "lisbon", "tea"]
    norm = 1.2 * (1 - 0.4 + 0.4 * 3 / 36)
    expected = math.log(1 + (10 - 2 + 0.5) / (2 + 0.5)) * 2 * (1.2 + 1) / (2 + norm)
    asked = query_weights(["lisbon"], {term_id("lisbon"): 2}, 10)
    assert score(asked, document_weights(own)) == pytest.approx(expected)


def test_a_neighbours_words_count_less_the_further_they_are() -> None:
    weights = document_weights(["tea"], near=[["rain"]], further=[["cat"]])
    assert weights[term_id("tea")] > weights[term_id("rain")] > weights[term_id("cat")] > 0


def test_a_long_neighbour_does_not_drown_the_message() -> None:
    flood = [f"word{number}" for number in range(5000)]
    beside, alone = document_weights(["tea"], near=[flood]), document_weights(["tea"])
    assert beside[term_id("tea")] > 0.8 * alone[term_id("tea")]


def test_a_very_long_text_keeps_its_most_frequent_terms() -> None:
    weights = document_weights([f"word{number}" for number in range(20_000)] + ["lisbon"] * 3)
    assert len(weights) == MOST_TERMS
    assert term_id("lisbon") in weights


def test_nothing_said_weighs_nothing() -> None:
    assert document_weights([]) == {}
    assert query_weights([], {}, 10) == {}


@given(words, words, words)
def test_weights_stay_between_nothing_and_saturation(own: list[str], near: list[str], further: list[str]) -> None:
    assert all(0 < weight < K1 + 1 for weight in document_weights(own, [near], [further]).values())


@given(st.integers(0, 1000), st.integers(0, 1000), st.integers(0, 1000))
def test_a_rarer_term_never_weighs_less(one: int, other: int, n_docs: int) -> None:
    rarer, commoner = sorted((one, other))
    asked = query_weights(["a", "b"], {term_id("a"): rarer, term_id("b"): commoner}, n_docs)
    assert asked[term_id("a")] >= asked[term_id("b")] > 0


def test_a_question_of_pages_costs_what_its_words_cost() -> None:
    words = [word for word, count in _segmenter().FREQ.items() if count and 2 <= len(word) <= 4][::11]
    question = "".join(words)[:10_000]
    assert spent(lambda: asked_terms(question)) < 6 * spent(lambda: terms(question))


def test_of_a_long_question_the_first_words_are_looked_for() -> None:
    short = " ".join(f"w{number}" for number in range(READ // 6))
    assert query_terms(short).terms == terms(short)[:TERMS]
    story = "cello " + " ".join(f"word{number}" for number in range(1_300))
    words = query_terms(story).terms
    assert words[0] == "cello"
    assert len(words) <= TERMS
    assert query_terms("好" * READ + "成都") == query_terms("好" * READ)


@pytest.mark.parametrize("word", ["сестра переехала ", "누나가 ", "妹妹搬家了，", "姊妹搬家了，", "Schwester für "])
def test_what_follows_the_beginning_of_a_long_question_costs_nothing(word: str) -> None:
    question = (word * READ)[:READ]
    assert query_terms(question + word * 1_000) == query_terms(question)


def test_a_long_question_has_not_more_forms_than_are_looked_for() -> None:
    syllables = "".join(chr(0xAC00 + 7 * number) for number in range(READ))
    assert len(query_terms(syllables).variants) == VARIANTS
