from __future__ import annotations

import pytest

from core.types import Json
from rules.document.schema import parse
from rules.engine.conditions import MAX_MEANT, compile_conditions, explain, texts_compared
from rules.expressions.facts import Facts
from tests.rules.samples import a_document, a_leaf, an_event


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


def meant(field: str = "payload.x", **more: object) -> Json:
    return {"field": field, "op": "means", "value": "moving house", **more}


def compared(tree: Json, payload: Json) -> list[str]:
    conditions = parse(a_document(conditions=tree)).conditions
    assert conditions is not None
    return list(texts_compared(conditions, Facts(an_event(payload))))


def test_the_texts_that_are_compared_are_named_beforehand() -> None:
    inner = {"all": [meant("item.text"), a_leaf("==", 1, field="item.n")]}
    tree = {"any": [meant(), meant("payload.gone"), a_leaf("any_of", inner, field="payload.list")]}
    payload = {"x": "I moved", "list": [{"text": "to Lisbon"}, {"text": 5}, {}]}
    assert compared(tree, payload) == ["I moved", "moving house", "to Lisbon", "moving house"]
    assert compared(tree, {"x": 5, "list": "no list"}) == []


@pytest.mark.parametrize(("count", "known"), [(MAX_MEANT, True), (MAX_MEANT + 1, False)])
def test_a_list_of_too_many_texts_is_a_mismatch_and_nobody_embeds_it(count: int, *, known: bool) -> None:
    tree = a_leaf("any_of", meant("item"))
    payload = {"x": [f"text {place}" for place in range(count)]}
    counted: list[str] = []
    facts = Facts(
        an_event(payload), similarity=lambda _text, _meaning: 0.9, on_mismatch=lambda field, _op: counted.append(field)
    )
    assert compile_conditions(parse(a_document(conditions=tree)).conditions)(facts) is known
    assert counted == ([] if known else ["payload.x"])
    assert len(compared(tree, payload)) == (2 * count if known else 0)
    told = explain(parse(a_document(conditions=tree)).conditions, facts)
    assert (told.get("reason"), "items" in told) == (None if known else "mismatch", known)


def test_texts_within_texts_are_counted_together() -> None:
    tree = a_leaf("any_of", a_leaf("any_of", meant("item"), field="item"))
    few, many = [["a"] * 10] * 10, [["a"] * 11] * 10
    assert len(compared(tree, {"x": few})) == 200
    assert compared(tree, {"x": many}) == []


def test_the_explanation_of_a_meaning_shows_how_near_it_is() -> None:
    facts = Facts(an_event({"x": "I moved"}), similarity=lambda _text, _meaning: 0.42)
    told = explain(parse(a_document(conditions=meant(threshold=0.4))).conditions, facts)
    assert (told["similarity"], told["threshold"], told["result"]) == (0.42, 0.4, True)
