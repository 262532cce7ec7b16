from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.types import Json
from rules.conditions import compile_conditions, explain
from rules.facts import Facts
from rules.ruleset import Ruleset
from rules.schema import parse
from tests.rules.samples import a_document, a_leaf, a_rule, an_event

NOT_THERE = object()


def interpret(tree: Json, payload: Json, item: Any = NOT_THERE) -> bool:
    """The conditions of the contract, read off the document one node at a time, with no thought of speed."""
    if "op" not in tree:
        return (
            all(interpret(node, payload, item) for node in tree.get("all", []))
            and ("any" not in tree or any(interpret(node, payload, item) for node in tree["any"]))
            and not any(interpret(node, payload, item) for node in tree.get("none", []))
        )
    actual, expected = read(tree["field"], payload, item), tree.get("value")
    if tree["op"] == "missing":
        return actual is NOT_THERE
    if actual is NOT_THERE:
        return False
    if tree["op"] in {"any_of", "all_of"}:
        results = [interpret(tree["value"], payload, each) for each in actual] if isinstance(actual, list) else []
        return bool(results) and (any(results) if tree["op"] == "any_of" else all(results))
    if isinstance(expected, dict):
        expected = read(expected["field"], payload, item)
        if expected is NOT_THERE:
            return False
    return compare(tree["op"], actual, expected)


def read(path: str, payload: Json, item: Any) -> Any:
    if path == "item":
        return item
    return payload.get(path.removeprefix("payload."), NOT_THERE)


def sort_of(value: Any) -> str:
    return {bool: "bool", int: "number", float: "number", str: "text", list: "list", type(None): "null"}[type(value)]


def equal(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return sort_of(left) == sort_of(right) and bool(left == right)


def compare(op: str, actual: Any, expected: Any) -> bool:  # noqa: C901, PLR0911 - one return an operator, as a table
    sorts = sort_of(actual), sort_of(expected)
    alike = sorts[0] == sorts[1] or "null" in sorts
    if op == "==":
        return equal(actual, expected)
    if op == "!=":
        return alike and not equal(actual, expected)
    if op in {"<", "<=", ">", ">="}:
        if sorts not in {("number", "number"), ("text", "text")}:
            return False
        return bool(
            {"<": actual < expected, "<=": actual <= expected, ">": actual > expected}.get(op, actual >= expected)
        )
    if op in {"in", "not_in"}:
        if sorts[1] != "list" or not (sorts[0] in {"null", *map(sort_of, expected)} or not expected):
            return False
        return any(equal(actual, each) for each in expected) is (op == "in")
    if op in {"contains", "not_contains"}:
        if sorts[0] == "list":
            return any(equal(each, expected) for each in actual) is (op == "contains")
        return sorts == ("text", "text") and (expected in actual) is (op == "contains")
    if op == "starts_with":
        return sorts == ("text", "text") and actual.startswith(expected)
    if op == "length_>":
        return type(expected) is int and expected >= 0 and sorts[0] in {"text", "list"} and len(actual) > expected
    return {"exists": True, "is_null": actual is None}[op]


SCALARS = st.none() | st.booleans() | st.integers(-2, 3) | st.sampled_from([0.0, 1.0, 1.5]) | st.text("ab", max_size=2)
LISTS = st.lists(SCALARS, min_size=1, max_size=3)
PAYLOADS = st.dictionaries(st.sampled_from("xyz"), SCALARS | st.lists(SCALARS, max_size=3), max_size=3)


def leaves(field: str) -> st.SearchStrategy[Json]:
    fields = st.just(field) if field == "item" else st.sampled_from(["payload.x", "payload.y", "payload.z"])
    reference = st.builds(lambda name: {"field": name}, fields)

    def leaf(ops: list[str], value: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
        return st.builds(lambda f, op, v: {"field": f, "op": op, "value": v}, fields, st.sampled_from(ops), value)

    bare = st.builds(lambda f, op: {"field": f, "op": op}, fields, st.sampled_from(["exists", "missing", "is_null"]))
    return st.one_of(
        bare,
        leaf(["==", "!="], SCALARS | LISTS),
        leaf(["==", "!=", "<", "<=", ">", ">=", "in", "not_in", "contains", "not_contains", "length_>"], reference),
        leaf(["<", "<=", ">", ">="], st.integers(-2, 3) | st.sampled_from([0.5, 1.0, "a", "ab"])),
        leaf(["in", "not_in"], LISTS),
        leaf(["contains", "not_contains"], SCALARS),
        leaf(["starts_with"], st.text("ab", max_size=2)),
        leaf(["length_>"], st.integers(0, 3)),
    )


def groups(inner: st.SearchStrategy[Json]) -> st.SearchStrategy[Json]:
    nodes = st.lists(inner, min_size=1, max_size=3)
    words = st.lists(st.sampled_from(["all", "any", "none"]), min_size=1, max_size=2, unique=True)
    return words.flatmap(lambda chosen: st.fixed_dictionaries(dict.fromkeys(chosen, nodes)))


ITEM_TREES = leaves("item") | groups(leaves("item"))
QUANTIFIED = st.builds(
    lambda op, value: {"field": "payload.x", "op": op, "value": value},
    st.sampled_from(["any_of", "all_of"]),
    ITEM_TREES,
)
TREES = st.recursive(leaves("payload") | QUANTIFIED, groups, max_leaves=8)


@given(TREES, PAYLOADS)
def test_compiled_conditions_decide_as_the_plain_reading_of_the_document(tree: Json, payload: Json) -> None:
    rule = parse(a_document(conditions=tree))
    expected = interpret(tree, payload)
    assert compile_conditions(rule.conditions)(Facts(an_event(payload))) is expected
    assert explain(rule.conditions, Facts(an_event(payload)))["result"] is expected


@given(st.lists(TREES, min_size=1, max_size=6), st.lists(PAYLOADS, min_size=1, max_size=4))
def test_a_ruleset_meets_the_rules_that_the_plain_reading_meets(trees: list[Json], payloads: list[Json]) -> None:
    ruleset = Ruleset([(a_rule(f"r{place}", conditions=tree), 1) for place, tree in enumerate(trees)])
    for payload in payloads:
        met = [verdict.name for verdict in ruleset.decide(an_event(payload))]
        assert met == [f"r{place}" for place, tree in enumerate(trees) if interpret(tree, payload)]


def test_what_must_be_looked_up_is_not_asked_for_where_the_event_decides() -> None:
    asked: list[str] = []
    looked_up = a_leaf(">", 1, field="session.message_count")
    for tree in (
        {"all": [looked_up, a_leaf("==", 1)]},
        {"any": [looked_up, a_leaf("==", 2)]},
        {"none": [looked_up, a_leaf("==", 2)]},
        {"all": [{"any": [looked_up]}], "none": [a_leaf("==", 2)]},
    ):
        compile_conditions(parse(a_document(conditions=tree)).conditions)(Facts(an_event({"x": 2}), asked.append))
    assert asked == []


def test_a_looked_up_field_is_compared_and_asked_for_once() -> None:
    asked: list[str] = []

    def lookup(name: str) -> int:
        asked.append(name)
        return 50

    tree = {"all": [a_leaf(op, value, field="user.memory_count") for op, value in ((">=", 50), ("<", 51))]}
    assert compile_conditions(parse(a_document(conditions=tree)).conditions)(Facts(an_event(), lookup))
    assert asked == ["user.memory_count"]


def test_the_item_of_an_outer_list_is_back_after_an_inner_one() -> None:
    inner = {"field": "item.parts", "op": "any_of", "value": a_leaf("==", 1, field="item")}
    tree = a_leaf("any_of", {"all": [inner, a_leaf("==", "a", field="item.name")]})
    holds = compile_conditions(parse(a_document(conditions=tree)).conditions)
    assert holds(Facts(an_event({"x": [{"name": "a", "parts": [0, 1]}]})))
    assert not holds(Facts(an_event({"x": [{"name": "b", "parts": [1]}, {"name": "a", "parts": [0]}]})))


def test_no_conditions_always_hold() -> None:
    assert compile_conditions(None)(Facts(an_event()))
    assert explain(None, Facts(an_event())) == {"op": "all", "result": True, "nodes": []}


def test_the_explanation_shows_every_node_with_what_was_there() -> None:
    tree = {
        "all": [a_leaf(">=", 3), a_leaf("in", ["user"], field="payload.role")],
        "none": [a_leaf("==", {"field": "payload.y"}, field="payload.z"), a_leaf("exists", field="payload.q")],
    }
    told = explain(parse(a_document(conditions=tree)).conditions, Facts(an_event({"x": "3", "z": 1})))
    assert told == {
        "op": "all",
        "result": False,
        "nodes": [
            {
                "op": "all",
                "result": False,
                "nodes": [
                    {
                        "op": ">=",
                        "field": "payload.x",
                        "actual": "3",
                        "expected": 3,
                        "result": False,
                        "reason": "mismatch",
                    },
                    {
                        "op": "in",
                        "field": "payload.role",
                        "actual": None,
                        "expected": ["user"],
                        "result": False,
                        "reason": "missing",
                    },
                ],
            },
            {
                "op": "none",
                "result": True,
                "nodes": [
                    {
                        "op": "==",
                        "field": "payload.z",
                        "actual": 1,
                        "expected": None,
                        "expected_field": "payload.y",
                        "result": False,
                        "reason": "missing",
                    },
                    {"op": "exists", "field": "payload.q", "actual": None, "result": False, "reason": "missing"},
                ],
            },
        ],
    }


def test_the_explanation_of_a_quantifier_shows_its_items() -> None:
    tree = a_leaf("any_of", a_leaf(">", 1, field="item"))
    told = explain(parse(a_document(conditions=tree)).conditions, Facts(an_event({"x": [1, 2]})))
    assert [(each["actual"], each["result"]) for each in told["items"]] == [(1, False), (2, True)]
    assert told["result"] is True


@pytest.mark.parametrize(("payload", "counted"), [({"x": "a"}, [("payload.x", ">")]), ({"x": 1}, []), ({}, [])])
def test_a_mismatch_is_counted_and_a_missing_field_is_not(payload: Json, counted: list[tuple[str, str]]) -> None:
    found: list[tuple[str, str]] = []
    facts = Facts(an_event(payload), on_mismatch=lambda field, op: found.append((field, op)))
    compile_conditions(parse(a_document(conditions=a_leaf(">", 5))).conditions)(facts)
    assert found == counted
