from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import ValidationError

from core.inference import structured_output
from tests.core.inference.endpoint import ADA, GOOD, Fact, Facts

HOSTILE = {
    "braces": "{" * 50_000,
    "nested": '{"a":' * 50_000,
    "lists": '{"a":' + "[" * 100_000,
    "fences": "```json\n{" * 20_000,
    "thoughts": "<think>" * 20_000 + "</think>" * 3,
}


@pytest.mark.parametrize("written", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_page_of_braces_is_given_up_soon(written: str) -> None:
    began = datetime.now(UTC)
    with pytest.raises(ValidationError):
        structured_output.read(written, Facts)
    assert datetime.now(UTC) - began < timedelta(seconds=5)


@pytest.mark.parametrize("opening", ["<think>", "<thinking>"])
def test_a_draft_in_a_thought_without_an_end_is_no_answer(opening: str) -> None:
    with pytest.raises(ValidationError):
        structured_output.read(f"{opening}Perhaps {json.dumps(GOOD)}, but I am not sure", Facts)
    assert structured_output.read(f"{opening}Hm.</{opening[1:]}{json.dumps(GOOD)}", Facts) == ADA
    assert structured_output.read(f"{json.dumps(GOOD)}\n{opening}Was that right?", Facts) == ADA


@hypothesis_settings(deadline=None)
@given(st.text(), st.text())
def test_whatever_stands_around_it_does_not_fail_otherwise_than_as_expected(before: str, after: str) -> None:
    try:
        found = structured_output.read(before + json.dumps(GOOD) + after, Facts)
    except ValidationError:
        assert "{" in before or '"' in before
    else:
        assert found == ADA


def keywords(node: Any) -> Iterator[tuple[str, Any]]:
    """Each schema within a schema."""
    if isinstance(node, dict):
        yield from node.items()
        for name, value in node.items():
            for inner in value.values() if name in {"properties", "$defs"} else [value]:
                yield from keywords(inner)
    if isinstance(node, list):
        for one in node:
            yield from keywords(one)


def test_the_schema_is_one_that_strict_mode_takes() -> None:
    schema = structured_output.schema(Facts)
    assert {name for name, _ in keywords(schema)} <= structured_output.STRICT_KEYWORDS
    assert {value for name, value in keywords(schema) if name == "format"} == {"date-time", "date"}
    fact, place = schema["$defs"]["Fact"], schema["$defs"]["Place"]
    assert fact["required"] == list(Fact.model_fields), "optional ones too: they may be null"
    assert fact["additionalProperties"] is False
    assert set(place["properties"]) == {"title", "format"}, "fields that are named as keywords are"
    assert place["properties"]["title"] == {"type": "string"}, "bounds are checked by the shape"
    assert fact["properties"]["place"] == {
        "anyOf": [{"$ref": "#/$defs/Place"}, {"type": "null"}],
        "description": "Where it is.",
    }
    assert fact["properties"]["mood"] == {"$ref": "#/$defs/Mood"}
