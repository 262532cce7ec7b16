from __future__ import annotations

from jsonschema import Draft202012Validator

from core.types import Json
from rules.document.json_schema import json_schema
from rules.document.schema import parse
from rules.document.targets import TARGETS
from rules.expressions.operators import OPERATORS
from rules.expressions.paths import LOOKED_UP
from tests.rules.document.documents import EVERYTHING, SCHEDULED, VERBATIM
from tests.rules.samples import a_document, a_leaf


def test_the_schema_is_one_and_knows_what_the_parser_knows() -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for given in (VERBATIM, EVERYTHING, SCHEDULED):
        validator.validate(given)
    for wrong in (
        a_document(nmae=1),
        a_document(conditions={}),
        a_document(conditions=a_leaf("=", 1)),
        a_document(conditions=a_leaf("in", "user")),
        a_document(conditions=a_leaf("any_of", 1)),
        a_document(conditions=a_leaf("==")),
        a_document(conditions=a_leaf("==", 1, field="paylod.x")),
        a_document(schedule={"every_seconds": 1}),
        a_document(actions=[{"action_type": "run_agnt", "target": "x"}]),
    ):
        assert not validator.is_valid(wrong)


def test_the_schema_explains_every_operator_and_every_field_of_a_rule() -> None:
    schema = json_schema()
    leaf = schema["$defs"]["Leaf"]
    assert {entry["const"] for entry in leaf["properties"]["op"]["oneOf"]} == set(OPERATORS)
    assert all(entry["description"] for entry in leaf["properties"]["op"]["oneOf"])
    undescribed = [name for name, field in schema["properties"].items() if "description" not in field]
    assert undescribed == []


def fields_of(schema: Json) -> dict[str, Json]:
    """Every field of every part, by where it stands."""
    parts = {"Rule": schema, **schema["$defs"]}
    return {
        f"{name}.{field}": told for name, part in parts.items() for field, told in part.get("properties", {}).items()
    }


def test_every_field_of_every_part_is_described_for_editors() -> None:
    assert [place for place, told in fields_of(json_schema()).items() if not told.get("description")] == []


def test_every_field_has_a_value_to_begin_with_or_says_all_it_can_be() -> None:
    plain = [
        place
        for place, told in fields_of(json_schema()).items()
        if not {"examples", "oneOf", "const"} & set(told) and told.get("type") != "boolean"
    ]
    assert plain == []


def test_every_choice_is_explained() -> None:
    for place, told in fields_of(json_schema()).items():
        if "enum" in told and "oneOf" in told:
            assert {choice["const"] for choice in told["oneOf"]} == set(told["enum"]), place
            assert all(choice["description"] for choice in told["oneOf"]), place
    explained = {place for place, told in fields_of(json_schema()).items() if "oneOf" in told}
    assert {
        "Rule.action_mode",
        "Rule.risk_level",
        "Concurrency.on_conflict",
        "Schedule.for_each",
        "Leaf.op",
    } <= explained


def test_the_examples_are_right_themselves() -> None:
    schema = json_schema()
    for place, told in fields_of(schema).items():
        validator = Draft202012Validator({**told, "$defs": schema["$defs"]})
        for example in told.get("examples", ()):
            assert validator.is_valid(example), (place, example)
    parse(schema["examples"][0])


def test_looked_up_names_and_agents_are_offered() -> None:
    fields = fields_of(json_schema())
    offered = {choice["const"] for choice in fields["Leaf.field"]["anyOf"][0]["oneOf"]}
    assert set(LOOKED_UP) <= offered
    assert set(fields["RunAgent.target"]["enum"]) == set(TARGETS)
