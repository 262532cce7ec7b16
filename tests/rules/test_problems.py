from __future__ import annotations

import math

import pytest

from rules import problems


@pytest.mark.parametrize(
    ("name", "guess"), [("gt", "did you mean `>`?"), ("contans", "did you mean `contains`?"), ("zzzzzz", "Known are:")]
)
def test_an_unknown_name_is_answered_with_the_nearest_one(name: str, guess: str) -> None:
    assert guess in problems.unknown("operator", name, [">", "contains", "=="])


@pytest.mark.parametrize(
    ("document", "pointer", "says"),
    [
        ({"a": {"b": {"c": 1}}}, "/a/b/c", "deeper than 3"),
        ({"a": [1] * 20}, "", "more than 10 values"),
        ({"a": "x" * 50}, "/a", "a text of 50 characters"),
        ({"a": "nul\0"}, "/a", "NUL"),
        ({"a": math.inf}, "/a", "finite"),
        ({"a/b": "half \ud800"}, "/a~1b", "surrogate"),
    ],
)
def test_the_first_place_that_is_too_large_or_unstorable_is_named(document: object, pointer: str, says: str) -> None:
    (found,) = problems.size_problems(document, nesting=3, nodes=10, text=20)
    assert found.pointer == pointer
    assert says in found.detail


def test_a_document_within_its_bounds_has_no_problem() -> None:
    assert list(problems.size_problems({"a": [1, "two", None]}, nesting=3, nodes=10, text=20)) == []


def test_a_step_of_a_pointer_is_escaped() -> None:
    assert problems.escape_step("a/b~c") == "a~1b~0c"
