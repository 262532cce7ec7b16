"""Schemas of bodies that endpoints read by hand say the same as the code that reads them."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from api.ingress import schemas
from core.errors import Invalid
from core.events import parsing
from core.types import Json
from rules.document.schema import VERBATIM
from tests.samples import event


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": schemas.PREFIX + name, "components": {"schemas": dict(schemas.SCHEMAS)}})


def fits(name: str, value: Any) -> bool:
    return validator(name).is_valid(value)


def test_part_of_a_rule_or_null_is_a_change_of_one_and_no_other_field_is() -> None:
    assert fits("Rule", VERBATIM)
    assert fits("RuleChanges", {"enabled": False, "description": None})
    assert not fits("Rule", {"enabled": False})
    assert not fits("RuleChanges", {"enabeld": False})


def test_chosen_limits_are_numbers_by_their_names() -> None:
    assert fits("ChosenLimits", {})
    assert fits("ChosenLimits", {"settles": 8})
    assert not fits("ChosenLimits", {"settles": "8"})
    assert not fits("ChosenLimits", {"no_such_limit": 8})


@pytest.mark.parametrize(
    "wrong", [{"source": ""}, {"event_type": 7}, {"payload": []}, {"source": None}, {"occured_at": "now"}]
)
def test_what_is_no_event_by_its_schema_is_refused(wrong: Json) -> None:
    good = event()
    assert fits("NativeEvent", good)
    assert parsing.check([good])
    bad = good | wrong
    assert not fits("NativeEvent", bad)
    with pytest.raises(Invalid):
        parsing.check([bad])


def test_a_body_of_several_forms_is_one_of_them() -> None:
    content = schemas.body("Rule", "RuleChanges", description="Either")["requestBody"]
    assert content["description"] == "Either"
    assert content["content"]["application/json"]["schema"] == {
        "oneOf": [{"$ref": "#/components/schemas/Rule"}, {"$ref": "#/components/schemas/RuleChanges"}]
    }
    assert schemas.body("Rule")["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Rule"
    }
