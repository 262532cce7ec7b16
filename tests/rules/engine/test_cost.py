"""The most that one event can make a rule do, known before it is in force."""

from __future__ import annotations

from typing import Any

import pytest

from bench.cost import cases, event
from core.types import Json
from rules.engine.cost import EVENT_BYTES, ITEMS, LOOKUP, MEANING, SCAN, Cost, upper_bound
from rules.engine.ruleset import Ruleset
from tests.rules.samples import RUN, a_leaf, a_rule
from tests.spent import spent

NOISE = 20
"""How many times slower than measured for the docstring this machine may be while the tests run."""


def cost_of(*leaves: Json, **fields: Any) -> Cost:
    return upper_bound(a_rule(conditions={"all": list(leaves)}, **fields))


def test_a_rule_without_conditions_costs_nothing() -> None:
    assert upper_bound(a_rule()).units == 0


def test_plain_comparisons_cost_a_few_units_each() -> None:
    assert cost_of(*[a_leaf(">=", 3)] * 100).units < 1_000
    assert cost_of(a_leaf("in", [f"v{n}" for n in range(1_000)])).units < 10


def test_expressions_cost_by_how_large_they_are_unless_they_are_words() -> None:
    small, large = cost_of(a_leaf("matches", "^(yes|no)$")), cost_of(a_leaf("matches", "a.{30}b"))
    words = cost_of(a_leaf("matches", "(?i)cancel|refund|broken|late|damaged|lost"))
    assert small.units < 2 * SCAN
    assert words.units < 2 * SCAN
    assert large.units > 20 * SCAN


def test_a_quantifier_multiplies_by_the_items_and_nesting_does_not_multiply_again() -> None:
    inner = a_leaf("==", 1, field="item")
    once = cost_of(a_leaf("any_of", inner)).units
    twice = cost_of(a_leaf("any_of", a_leaf("any_of", inner, field="item"))).units
    assert ITEMS < once < 20 * ITEMS
    assert twice < 2 * once


def test_looked_up_names_are_counted_once_each() -> None:
    found = cost_of(a_leaf(">", 1, field="user.memory_count"), a_leaf("<", 9, field="user.memory_count"))
    assert (found.lookups, found.units > LOOKUP) == (1, True)
    both = cost_of(a_leaf(">", {"field": "session.token_count"}), a_leaf("<", 9, field="user.memory_count"))
    assert both.lookups == 2


def test_meanings_are_texts_to_embed() -> None:
    assert cost_of(a_leaf("means", "x"), a_leaf("means", "y")).meanings == 2
    many = cost_of(a_leaf("any_of", a_leaf("means", "x", field="item")))
    assert many.meanings == 100
    assert many.units >= 100 * MEANING


def test_templates_and_keys_cost_for_they_copy_what_the_event_says() -> None:
    emit = {"action_type": "emit", "event_type": "x", "payload": {"a": ["{{payload}}", "{{time}} {{payload.b}}"]}}
    assert (
        upper_bound(a_rule(actions=[emit, RUN])).units
        == 3 * upper_bound(a_rule(actions=[{**emit, "payload": {"a": "{{time}}"}}])).units
    )
    assert upper_bound(a_rule(flow={"cooldown": {"seconds": 1, "key": ["payload.a", "payload.b"]}})).units > 0


def test_the_dearest_parts_come_first_with_their_places() -> None:
    found = cost_of(a_leaf("==", 1), a_leaf("iequals", "a"), a_leaf("contains", "b"))
    assert [part.pointer for part in found.parts] == ["/conditions/all/2", "/conditions/all/1", "/conditions/all/0"]
    assert found.dearest().startswith("/conditions/all/2 (`contains`)")


def test_what_is_shown_says_the_limit_too() -> None:
    assert cost_of(a_leaf("exists")).as_json(100) == {
        "units": 3,
        "limit": 100,
        "comparisons": 3,
        "lookups": 0,
        "meanings": 0,
    }


HOSTILE = {name: (leaves, payload) for name, leaves, payload in cases(EVENT_BYTES)}


@pytest.mark.parametrize("name", HOSTILE)
def test_deciding_stays_within_the_bound_for_events_made_to_be_expensive(name: str) -> None:
    leaves, payload = HOSTILE[name]
    rule = a_rule(event_type="x", conditions={"any": leaves})
    rules, given = Ruleset([(rule, 1)]), event(payload)
    assert rules.decide(given) == []
    assert 1e6 * spent(lambda: rules.decide(given)) < NOISE * 0.25 * upper_bound(rule).units
