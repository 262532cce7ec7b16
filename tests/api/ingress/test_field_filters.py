"""Filters by fields, as requests send them: as JSON or as its text, bounded, with a fault that says what to send."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from api.ingress import field_filters
from api.ingress.field_filters import FieldFilter, FieldsAsJson

OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(FieldFilter)
TEXT: TypeAdapter[str] = TypeAdapter(FieldsAsJson)


def test_an_object_and_its_text_are_the_same_filter() -> None:
    fields = {"project": ["atlas", "borealis"], "customer.tier": "gold"}
    assert OBJECT.validate_python(fields) == json.loads(TEXT.validate_python(json.dumps(fields))) == fields
    demanded = field_filters.demands(fields)
    assert demanded is not None
    assert [one["path"] for one in json.loads(demanded)] == [["project"], ["customer", "tier"]]
    assert field_filters.demands(None) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("atlas", 'is no JSON object; send {"project": "atlas"}'),
        ('["atlas"]', "is no JSON object"),
        ("{}", "name 1 to 10"),
        ('{"a": NaN}', "UTF-8 JSON cannot represent"),
        ('{"a": "\\u0000"}', "U+0000"),
        (json.dumps({"a": "ü" * 4_995}), "more than 5000 characters"),
    ],
)
def test_what_is_no_filter_is_refused_with_what_to_send(text: str, says: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(FieldsAsJson).validate_python(text)
    assert says in str(refused.value) or "at most 5000 characters" in str(refused.value)
