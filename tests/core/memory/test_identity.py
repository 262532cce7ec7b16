from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.consolidation.judge import Kind, OpinionKind, judge, verdict_from_opinions
from core.memory.identity import content_keys, statement_key
from core.statements.comparison import read
from core.statements.succession import normal_value
from tests.core.consolidation.samples import MERGED, a_candidate, a_known


@pytest.mark.parametrize(
    "again",
    ["Ada lives in Lisbon.", "ada LIVES in  lisbon", "Ada lives, in Lisbon!", "Ａｄａ lives in Lisbon。"],
)
def test_case_width_spaces_and_punctuation_make_no_new_statement(again: str) -> None:
    assert statement_key("ada", again) == statement_key("ada", "Ada lives in Lisbon.")
    assert judge(a_candidate(again), [a_known("Ada lives in Lisbon.")]).kind is Kind.CONFIRM


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Rent is 1.5", "Rent is 15"),
        ("It is -3 degrees", "It is 3 degrees"),
        ("Meet at 10:30", "Meet at 1030"),
        ("Ada likes C", "Ada likes C+"),
        ("Ada lives in Lisbon", "Ada lives in London"),
        ("我住在北京", "我住在南京"),
    ],
)
def test_signs_that_carry_meaning_are_part_of_a_statement(one: str, other: str) -> None:
    assert statement_key("ada", one) != statement_key("ada", other)


HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=12)


@given(HAN, HAN)
def test_two_chinese_statements_never_collapse_into_one(one: str, other: str) -> None:
    assert (statement_key("ada", one) == statement_key("ada", other)) is (one == other)
    mine, theirs = read(one).signs, read(other).signs
    if mine - theirs and theirs - mine:
        assert judge(a_candidate(one), [a_known(other, 1.0)]).kind not in MERGED
        assert verdict_from_opinions(a_candidate(one), [(a_known(other, 1.0), OpinionKind.SAME)]) is None


@given(st.text(alphabet="abcou r1.5-+,'é") | st.text())
def test_spellings_have_one_key_exactly_if_their_normal_forms_are_one_statement(content: str) -> None:
    normal = content_keys.work(normal_value(content))
    assert content_keys.work(content).spelling == normal.exact


def test_a_british_and_an_american_spelling_share_only_the_key_of_spellings() -> None:
    british, american = content_keys("Ada likes the colour grey."), content_keys("Ada likes the color gray.")
    assert british.spelling == american.spelling == american.exact
    assert british.exact != american.exact
