from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.search.lexical import K1, MOST_TERMS, document_weights, message_terms, query_weights
from core.text import term_id

words = st.lists(st.sampled_from(["rain", "lisbon", "cat", "piano", "tea"]), max_size=12)


def score(asked: dict[int, float], document: dict[int, float]) -> float:
    return sum(weight * document.get(term, 0.0) for term, weight in asked.items())


def test_a_message_is_found_by_its_words_and_its_speaker() -> None:
    assert message_terms("I moved to Lisbon", "Ada") == ["move", "lisbon", "ada"]
    assert message_terms("I moved", None) == ["move"]


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
