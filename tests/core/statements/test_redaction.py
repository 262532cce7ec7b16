from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.statements.redaction import RedactedStatement, with_clauses, without
from core.statements.succession import Gathered

PEANUTS = RedactedStatement("Ada is allergic to peanuts.", "Ada", Gathered("allergy", ("peanuts",)))
TEA = RedactedStatement("Ada likes tea.", "Ada", Gathered("likes", ("tea",)))
CAT = RedactedStatement("Ada养了一只猫。", "Ada")


@pytest.mark.parametrize(
    ("text", "statement", "left"),
    [
        (
            "Ada moved to Lisbon in May 2026 and they are allergic to peanuts.",
            PEANUTS,
            "Ada moved to Lisbon in May 2026.",
        ),
        ("I moved to Lisbon in May and I am allergic to peanuts.", PEANUTS, "I moved to Lisbon in May."),
        ("Ada is allergic to peanuts and they moved to Lisbon.", PEANUTS, "Ada moved to Lisbon."),
        ("Ada is allergic to peanuts; their cat is black.", PEANUTS, "Ada's cat is black."),
        ("Ada is allergic to peanuts, and they are a nurse.", PEANUTS, "Ada is a nurse."),
        ("Ada is allergic to peanuts and milk.", PEANUTS, "Ada is allergic to milk."),
        ("Ada is allergic to milk, peanuts and eggs.", PEANUTS, "Ada is allergic to milk and eggs."),
        ("Ada likes tea and coffee.", TEA, "Ada likes coffee."),
        ("Ada is ALLERGIC to peanuts!", PEANUTS, ""),
        ("Ada is really allergic to peanuts.", PEANUTS, ""),
        ("Ada住在北京，养了一只猫。", CAT, "Ada住在北京。"),
    ],
)
def test_what_says_a_statement_is_taken_out_and_the_rest_stays(
    text: str, statement: RedactedStatement, left: str
) -> None:
    assert without(text, [statement], "Ada" if text.startswith("Ada") else "") == left


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("Ada is not allergic to peanuts.", PEANUTS),
        ("Ada's sister is allergic to peanuts.", PEANUTS),
        ("Ada is allergic to milk.", PEANUTS),
        ("Ada sells peanuts to people who are allergic to cats and dogs and horses.", PEANUTS),
        ("Ada dislikes tea and coffee.", TEA),
        ("Ada bought tea and coffee.", TEA),
        ("A nurse helped Ada.", RedactedStatement("Ada is a nurse.", "Ada")),
    ],
)
def test_what_says_something_else_is_left_alone(text: str, statement: RedactedStatement) -> None:
    assert without(text, [statement], "Ada") is None


def test_of_a_compound_statement_each_half_is_looked_for() -> None:
    both = with_clauses("Ada moved to Lisbon and they are allergic to peanuts.", "Ada")
    assert without("Ada is allergic to peanuts.", both, "Ada") == ""
    assert without("Ada plays chess.", both, "Ada") is None
    assert [one.content for one in with_clauses("Ada likes tea, coffee.", "Ada")] == ["Ada likes tea, coffee."]


@given(st.text(), st.text(min_size=1), st.text())
def test_any_text_can_be_read(text: str, statement: str, subject: str) -> None:
    left = without(text, with_clauses(statement, subject), subject)
    assert left is None or len(left) <= len(text) + 10 * (len(subject) + 3)
