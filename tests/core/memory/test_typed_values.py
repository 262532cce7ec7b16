from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from core.memory.typed_values import LONGEST, TypedValue


@pytest.mark.parametrize(
    ("given", "text", "stored"),
    [
        ({"type": "string", "value": "tea"}, "tea", {"type": "string", "value": "tea"}),
        ({"type": "number", "value": 7}, "7", {"type": "number", "value": 7}),
        ({"type": "boolean", "value": True}, "true", {"type": "boolean", "value": True}),
        ({"type": "list", "value": ["tea", 3]}, "tea, 3", {"type": "list", "value": ["tea", 3]}),
        ({"type": "rating", "value": 4}, "4 of 5", {"type": "rating", "value": 4, "of": 5.0}),
        ({"type": "rating", "value": 7.5, "of": 10}, "7.5 of 10", {"type": "rating", "value": 7.5, "of": 10.0}),
        ({"type": "json", "value": {"a": [1]}}, '{"a": [1]}', {"type": "json", "value": {"a": [1]}}),
    ],
)
def test_a_value_of_each_type_is_stored_and_has_words(given: Any, text: str, stored: Any) -> None:
    one = TypedValue.model_validate(given)
    assert (one.text, one.as_json()) == (text, stored)


@pytest.mark.parametrize(
    "given",
    [
        {"type": "string", "value": 3}, {"type": "string", "value": " "}, {"type": "number", "value": True},
        {"type": "number", "value": "7"}, {"type": "number", "value": 10**400},
        {"type": "number", "value": float("nan")},
        {"type": "boolean", "value": 1}, {"type": "list", "value": []}, {"type": "list", "value": [{}]},
        {"type": "rating", "value": 6}, {"type": "rating", "value": -1}, {"type": "rating", "value": 11, "of": 10},
        {"type": "number", "value": 1, "of": 5}, {"type": "json", "value": 3}, {"type": "colour", "value": "red"},
        {"type": "string", "value": "x" * (LONGEST + 1)}, {"type": "string"},
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(given: Any) -> None:
    with pytest.raises(ValidationError):
        TypedValue.model_validate(given)
