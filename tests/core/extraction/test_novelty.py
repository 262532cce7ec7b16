from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.extraction import novelty

KNOWN = [
    ("Ada lives in Lisbon.", 0.6),
    ("Ada plays chess on Sunday with Bob.", 0.6),
    ("Ada has a dog called Tom.", 0.6),
    ("阿达喜欢打羽毛球。", 0.6),
]
LEAST = 0.35


@pytest.mark.parametrize(
    "said",
    ["I live in Lisbon.", "I'm living in Lisbon", "I play chess with Bob", "My dog is called Tom", "我很喜欢打羽毛球"],
)
def test_what_says_again_what_is_known_is_not_new(said: str) -> None:
    assert novelty.novelty_of(said, KNOWN) < LEAST


@pytest.mark.parametrize(
    "said",
    [
        "I live in Porto.",
        "i live in porto",
        "My dog is called rex",
        "I have 2 dogs",
        "I play chess with Cy",
        "Bob lives in Lisbon",
        "I don't live in Lisbon any more",
        "我不喜欢打羽毛球",
        "我很喜欢打篮球",
        "I live in Lisbon since 2019",
        "I live in Lisbon with my parents and three cats",
    ],
)
def test_a_name_a_number_a_denial_or_other_words_make_it_new(said: str) -> None:
    assert novelty.novelty_of(said, KNOWN) >= LEAST


@pytest.mark.parametrize("said", ["I live in Porto.", "I have 2 dogs", "I don't live in Lisbon"])
def test_however_near_the_vectors_are_a_fact_that_differs_is_new(said: str) -> None:
    assert novelty.novelty_of(said, [(statement, 1.0) for statement, _ in KNOWN]) == 1


def test_against_nothing_everything_is_new() -> None:
    assert novelty.novelty_of("I live in Lisbon.", []) == 1


def test_what_two_statements_know_together_neither_knows() -> None:
    apart = [("Ada lives in Lisbon.", 0.7), ("Ada's cousin plays chess.", 0.7)]
    assert novelty.novelty_of("My cousin lives in Lisbon.", apart) >= LEAST


def test_of_the_same_words_those_with_the_farther_vector_are_newer() -> None:
    said = "We drink coffee in the kitchen"
    near, far = (novelty.novelty_of(said, [("Ada drinks tea in the kitchen.", cosine)]) for cosine in (0.9, 0.3))
    assert near < far


@given(st.text(max_size=120), st.lists(st.tuples(st.text(max_size=60), st.floats(-1, 1)), max_size=4))
def test_it_is_a_share_and_more_knowledge_never_makes_a_text_newer(text: str, near: list[tuple[str, float]]) -> None:
    known = [novelty.novelty_of(text, near[:n]) for n in range(len(near) + 1)]
    assert all(0 <= one <= 1 for one in known)
    assert known == sorted(known, reverse=True)
