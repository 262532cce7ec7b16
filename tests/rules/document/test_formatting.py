"""One canonical text for each rule, whatever order and spelling it came in."""

from __future__ import annotations

import json
import random
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from rules.document.formatting import WIDTH, canonical_text, diff, same
from rules.registry import defaults
from tests.rules.document.test_schema import EVERYTHING, SCHEDULED, VERBATIM
from tests.samples import TENANT

NAMES = st.sampled_from(["name", "conditions", "all", "value", "field", "op", "params", "actions", "action_type", "b"])
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(NAMES | TEXTS, inner, max_size=6),
    max_leaves=30,
)
DOCUMENTS = st.dictionaries(NAMES | TEXTS, VALUES, max_size=8)


def shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [shuffled(one, chance) for one in value]
    if not isinstance(value, dict):
        return value
    return {name: shuffled(value[name], chance) for name in chance.sample(list(value), len(value))}


@given(DOCUMENTS, st.randoms(use_true_random=False))
def test_the_text_read_again_gives_the_same_text_in_whatever_order(document: Json, chance: random.Random) -> None:
    written = canonical_text(document)
    read = json.loads(written)
    assert canonical_text(read) == written
    assert canonical_text(shuffled(document, chance)) == written
    assert same(read, document)


@given(DOCUMENTS)
def test_the_text_says_what_the_document_says(document: Json) -> None:
    given_in = json.loads(json.dumps(document), parse_int=float)
    assert json.loads(canonical_text(document), parse_int=float) == given_in


def test_a_trip_through_the_database_changes_nothing(app: Database) -> None:
    cast = text("SELECT cast(:document AS jsonb)")

    @given(DOCUMENTS)
    def survives(document: Json) -> None:
        with app.tenant(TENANT) as tx:
            stored = tx.execute(cast, {"document": json.dumps(document)}).scalar_one()
        assert canonical_text(stored) == canonical_text(document)

    survives()


@pytest.mark.parametrize("number", [1, 1.0, -0.0, 1e16, 1e23, 123456789012345680000.0, 1e-7, 5e-324, 1.7e308, 2**70])
def test_numbers_come_out_of_the_database_as_they_went_in(app: Database, number: float) -> None:
    with app.tenant(TENANT) as tx:
        given_back = tx.execute(text("SELECT cast(:d AS jsonb)"), {"d": json.dumps({"a": number})}).scalar_one()
    assert canonical_text(given_back) == canonical_text({"a": number})


def test_one_and_true_are_not_the_same() -> None:
    assert not same({"value": 1}, {"value": True})
    assert not same({"value": 1}, {"value": 1.0})


def test_fields_stand_in_the_order_in_which_a_rule_is_read() -> None:
    read = json.loads(canonical_text(shuffled(EVERYTHING, random.Random(3))))
    assert list(read)[:7] == ["name", "description", "tags", "event_type", "conditions", "flow", "actions"]
    assert list(read["conditions"]["all"][2]) == ["field", "op", "value", "threshold"]
    assert list(read["actions"][0]) == ["action_type", "target", "params"]
    assert list(read["actions"][1]) == ["action_type", "event_type", "payload"]
    assert list(read["flow"]) == ["debounce", "count", "cooldown", "throttle", "sample", "concurrency"]


def test_what_people_name_themselves_goes_by_name() -> None:
    action = {"action_type": "run_agent", "target": "a", "params": {"op": 1, "field": {"target": 1, "all": 2}}}
    assert '"params": {"field": {"all": 2, "target": 1}, "op": 1}' in canonical_text({"actions": [action]})


def test_what_fits_stays_on_its_line_and_what_does_not_is_spread() -> None:
    for document in (VERBATIM, EVERYTHING, SCHEDULED):
        lines = canonical_text(document).splitlines()
        assert all(len(line) <= WIDTH for line in lines)
    assert '  "conditions": {"all": [{"field": "payload.message_count", "op": ">=", "value": 3}]},' in canonical_text(
        VERBATIM
    )
    words = {"conditions": {"field": "payload.x", "op": "in", "value": ["a" * 30, "b" * 30, "c" * 30]}}
    assert canonical_text(words).splitlines()[4:9] == [
        '    "value": [',
        f'      "{"a" * 30}",',
        f'      "{"b" * 30}",',
        f'      "{"c" * 30}"',
        "    ]",
    ]


def test_the_default_rules_are_in_their_canonical_form() -> None:
    folder = files("rules").joinpath("defaults")
    written = {entry.name: entry.read_text(encoding="utf-8") for entry in folder.iterdir()}
    assert written == {f"{document['name']}.json": canonical_text(document) for document in defaults.load()}


def test_a_difference_has_the_lines_that_go_and_come() -> None:
    after = {**VERBATIM, "priority": 3}
    lines = diff(VERBATIM, after, "r v1", "r v2").splitlines()
    assert lines[:2] == ["--- r v1", "+++ r v2"]
    assert [line for line in lines[2:] if line[0] in "+-"] == [
        '-  "risk_level": "low"',
        '+  "risk_level": "low",',
        '+  "priority": 3',
    ]
    assert diff(VERBATIM, dict(reversed(VERBATIM.items())), "a", "b") == ""


def test_what_begins_or_ends_is_compared_with_nothing() -> None:
    assert diff(None, VERBATIM, "r v0", "r v1").startswith("--- /dev/null\n+++ r v1\n")
    assert diff(VERBATIM, None, "r v1", "r v2").startswith("--- r v1\n+++ /dev/null\n")
