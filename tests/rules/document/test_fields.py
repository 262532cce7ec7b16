from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from rules.document import fields


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (fields.FieldPath, "payload.tags[0]"),
        (fields.KeyPath, "payload.session_id"),
        (fields.Zone, "Europe/Lisbon"),
        (fields.TypePattern, "memory.*"),
        (fields.Moment, "2026-11-21T10:00:00Z"),
        (fields.Seconds, 30.0),
    ],
)
def test_a_value_of_its_kind_is_taken(kind: object, value: object) -> None:
    assert TypeAdapter(kind).validate_python(value) is not None


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        (fields.KeyPath, "item.name", "cannot make a key"),
        (fields.KeyPath, "session.token_count", "cannot make a key"),
        (fields.Zone, "Europe/Nowhere", "no time zone"),
        (fields.TypePattern, "two words", "write a type"),
        (fields.Moment, "2026-11-21T10:00:00", "with its offset"),
        (fields.Moment, 7, "with its offset"),
        (fields.Seconds, 0, "greater than 0"),
    ],
)
def test_another_value_is_refused_with_the_way_out(kind: object, value: object, says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        TypeAdapter(kind).validate_python(value)


def test_an_emitted_event_has_no_wildcard() -> None:
    assert fields.concrete_type("order.placed") == "order.placed"
    with pytest.raises(Exception, match="wildcards are for"):
        fields.concrete_type("order.*")
