from __future__ import annotations

import pytest

from core.consolidation.judge import Kind, judge
from core.language.spelling import american
from core.statements.comparison import difference, is_same, read
from tests.core.consolidation.samples import a_candidate, a_known


@pytest.mark.parametrize(
    ("british", "other"),
    [
        ("colour", "color"),
        ("colours", "colors"),
        ("favourite", "favorite"),
        ("neighbourhood", "neighborhood"),
        ("behaviour", "behavior"),
        ("organise", "organize"),
        ("organising", "organizing"),
        ("apologised", "apologized"),
        ("specialisation", "specialization"),
        ("analyse", "analyze"),
        ("centre", "center"),
        ("litres", "liters"),
        ("grey", "gray"),
        ("travelling", "traveling"),
        ("counsellor", "counselor"),
        ("jewellery", "jewelry"),
    ],
)
def test_british_and_american_words_are_one(british: str, other: str) -> None:
    assert american(british) == american(other) == other


@pytest.mark.parametrize(
    "word", "four hour our your tour pour flour sour court wise rise exercise advise there more tell".split()
)
def test_other_words_are_left_alone(word: str) -> None:
    assert american(word) == word


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada wants a blue colour scheme.", "Ada wants a blue color scheme."),
        ("Ada's favourite theatre is grey.", "Ada's favorite theater is gray."),
        ("Ada organises the neighbourhood party.", "Ada organizes the neighborhood party."),
    ],
)
def test_a_statement_in_another_spelling_is_the_same_however_far_the_vectors(one: str, other: str) -> None:
    mine, theirs = read(one), read(other)
    assert is_same(mine, theirs)
    assert difference(mine, theirs) is None
    assert judge(a_candidate(one), [a_known(other, 0.1)]).kind is Kind.CONFIRM


def test_a_value_in_another_spelling_fills_the_slot_as_before() -> None:
    known = a_known("Ada's favorite color is gray.", attribute="preference.color", value="gray")
    again = a_candidate("Ada's favourite colour is grey.", attribute="preference.colour", value="grey")
    assert judge(again, [known]).kind is Kind.CONFIRM
    teal = a_candidate("Ada's favourite colour is teal.", attribute="preference.colour", value="teal")
    assert judge(teal, [known]).kind is Kind.SUPERSEDE
