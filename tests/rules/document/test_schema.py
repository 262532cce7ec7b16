from __future__ import annotations

import pytest

from core.errors import Invalid
from core.types import Json
from rules.document.schema import document, parse
from rules.registry import store
from tests.rules.document.documents import EVERYTHING, SCHEDULED, VERBATIM, nested, problems_of
from tests.rules.samples import RUN, a_document, a_leaf


def test_the_rule_of_the_contract_works_as_it_stands() -> None:
    assert document(parse(VERBATIM, ["memory_consolidator"])) == VERBATIM


@pytest.mark.parametrize("given", [VERBATIM, SCHEDULED, a_document()])
def test_a_rule_gives_back_the_document_it_came_from(given: Json) -> None:
    assert document(parse(given)) == given


def test_every_field_of_the_contract_is_understood() -> None:
    rule = parse(EVERYTHING)
    assert sorted(rule.flow.parts()) == ["concurrency", "cooldown", "count", "debounce", "sample", "throttle"]
    assert parse(document(rule)) == rule


def test_a_rule_that_says_little_has_the_documented_defaults() -> None:
    rule = parse(a_document())
    assert (rule.action_mode, rule.risk_level, rule.priority, rule.enabled, rule.stop) == (
        "auto",
        "low",
        0,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("fields", "pointer", "detail"),
    [
        ({"nmae": 1}, "/nmae", "did you mean `name`?"),
        ({"when": "x"}, "/when", "did you mean `event_type`?"),
        ({"trigger": "x"}, "/trigger", "did you mean `event_type`?"),
        ({"cron": "0 2 * * *"}, "/cron", "did you mean `schedule`?"),
        (
            {"actions": [{"action_type": "notify", "channel": "log", "template": "x", "message": "x"}]},
            "/actions/0/message",
            "did you mean `template`?",
        ),
        ({"event_type": None, "schedule": "0 2 * * *"}, "/schedule", 'such as `{"cron": "0 3 * * *"'),
        ({"flow": {"debounce": 30}}, "/flow/debounce", 'such as `{"seconds": 30}`'),
        ({"flow": "debounce"}, "/flow", 'such as `{"debounce": {"seconds": 30}}`'),
        ({"name": "Has Spaces"}, "/name", "[a-z0-9_.-]{1,100}"),
        ({"name": "a" * 101}, "/name", "{1,100}"),
        ({"name": "newline\n"}, "/name", "must fit"),
        ({"event_type": None}, "/event_type", "either `event_type` or `schedule`"),
        ({"schedule": {"every_seconds": 5}}, "/event_type", "either `event_type` or `schedule`"),
        ({"event_type": "has space"}, "/event_type", "wildcard such as `memory.*`"),
        ({"event_type": ["fine", ""]}, "/event_type/1", "wildcard"),
        ({"event_type": []}, "/event_type", "at least 1"),
        ({"event_type": 3}, "/event_type", "must be a text"),
        ({"conditions": {}}, "/conditions", "leave `conditions` out"),
        ({"conditions": {"all": []}}, "/conditions/all", "at least 1"),
        ({"conditions": []}, "/conditions", "must be an object"),
        ({"conditions": {"al": []}}, "/conditions/al", "did you mean `all`?"),
        ({"conditions": {"not": []}}, "/conditions/not", "did you mean `none`?"),
        ({"conditions": {"all": [a_leaf("=", 1)]}}, "/conditions/all/0/op", "did you mean `==`?"),
        ({"conditions": {"all": [a_leaf("regex", 1)]}}, "/conditions/all/0/op", "did you mean `matches`?"),
        ({"conditions": {"all": [a_leaf("containsany", 1)]}}, "/conditions/all/0/op", "did you mean `contains_any`?"),
        ({"conditions": a_leaf("==", 1, field="paylod.x")}, "/conditions/field", "did you mean `payload.x`?"),
        ({"conditions": a_leaf("==", {"field": "paylod.x"})}, "/conditions/value/field", "did you mean `payload.x`?"),
        ({"conditions": {"filed": "x", "op": "exists"}}, "/conditions/filed", "did you mean `field`?"),
        ({"conditions": a_leaf("==")}, "/conditions/value", "needs a value"),
        ({"conditions": a_leaf("==", {"a": 1})}, "/conditions/value/a", "unknown field"),
        ({"conditions": a_leaf("==", a_leaf("==", 1))}, "/conditions/value", "compare with a literal"),
        ({"conditions": a_leaf("==", float("nan"))}, "/conditions/value", "finite"),
        ({"conditions": a_leaf("exists", False)}, "/conditions/value", "use `missing`"),
        ({"conditions": a_leaf("in", "user")}, "/conditions/value", "give a list"),
        ({"conditions": a_leaf("in", [])}, "/conditions/value", "at least one value"),
        ({"conditions": a_leaf("in", [["a"]])}, "/conditions/value/0", "a finite number"),
        ({"conditions": a_leaf("in", ["a"] * 1001)}, "/conditions/value", "at most 1000"),
        ({"conditions": a_leaf(">", True)}, "/conditions/value", "a number, a string"),
        ({"conditions": a_leaf("between", [2, 1])}, "/conditions/value", "the lowest value comes first"),
        ({"conditions": a_leaf("between", [1])}, "/conditions/value", "the lowest and the highest"),
        ({"conditions": a_leaf("between", [1, "b"])}, "/conditions/value", "same type"),
        ({"conditions": a_leaf("matches", "(a")}, "/conditions/value", "missing )"),
        ({"conditions": a_leaf("matches", "a(?=b)")}, "/conditions/value", "no look-around"),
        ({"conditions": a_leaf("matches", "a" * 1001)}, "/conditions/value", "at most 1000"),
        ({"conditions": a_leaf("matches", {"field": "payload.y"})}, "/conditions/value", "write the value itself"),
        ({"conditions": a_leaf("older_than", "a week")}, "/conditions/value", "`7d`"),
        ({"conditions": a_leaf("length_>", 1.5)}, "/conditions/value", "whole number"),
        ({"conditions": a_leaf("means", " ")}, "/conditions/value", "describe the meaning"),
        ({"conditions": a_leaf("==", 1, threshold=0.5)}, "/conditions/threshold", "belongs to `means`"),
        ({"conditions": a_leaf("any_of", 1)}, "/conditions/value", "condition on `item`"),
        ({"conditions": a_leaf("==", 1, field="item.x")}, "/conditions/field", "only in the condition of `any_of`"),
        ({"conditions": a_leaf("==", {"field": "item"})}, "/conditions/value/field", "only in the condition"),
        ({"conditions": a_leaf("any_of", a_leaf("==", 1))}, "/conditions/value/field", "starts with `item`"),
        (
            {"conditions": a_leaf("any_of", a_leaf("in", {"field": "payload.y"}, field="item"))},
            "/conditions/value/value/field",
            "a literal or another part of `item`",
        ),
        ({"flow": {"debouce": {}}}, "/flow/debouce", "did you mean `debounce`?"),
        ({"flow": {"debounce": {}}}, "/flow/debounce/seconds", "required"),
        ({"flow": {"debounce": {"seconds": "30"}}}, "/flow/debounce/seconds", "must be a number"),
        ({"flow": {"debounce": {"seconds": True}}}, "/flow/debounce/seconds", "must be a number"),
        ({"flow": {"debounce": {"seconds": 0}}}, "/flow/debounce/seconds", "above 0"),
        (
            {"flow": {"debounce": {"seconds": 9, "max_wait_seconds": 8}}},
            "/flow/debounce/max_wait_seconds",
            "not be below",
        ),
        ({"flow": {"sample": {"ratio": 1.1}}}, "/flow/sample/ratio", "at most 1"),
        ({"flow": {"count": {"threshold": 5, "key": ["session.x"]}}}, "/flow/count/key/0", "unknown field"),
        ({"flow": {"count": {"threshold": 5, "key": ["user.memory_count"]}}}, "/flow/count/key/0", "cannot make a key"),
        (
            {"flow": {"concurrency": {"limit": 1, "on_conflict": "drop"}}},
            "/flow/concurrency/on_conflict",
            "queue, skip",
        ),
        ({"actions": []}, "/actions", "at least 1"),
        ({"actions": [{}]}, "/actions/0/action_type", "run_agent, emit"),
        ({"actions": [{"action_type": "run_agnt"}]}, "/actions/0/action_type", "did you mean `run_agent`?"),
        ({"actions": [RUN, {**RUN, "agent": "x"}]}, "/actions/1/agent", "did you mean `target`?"),
        ({"actions": [{**RUN, "params": {"a": [{"b/c": "{{x"}]}}]}, "/actions/0/params/a/0/b~1c", "two braces"),
        ({"actions": [{"action_type": "emit", "event_type": "a.*"}]}, "/actions/0/event_type", "wildcards are for"),
        ({"actions": [{"action_type": "webhook", "url": "ftp://x"}]}, "/actions/0/url", "http or https"),
        ({"actions": [{"action_type": "webhook", "url": "https://{{payload.h}}/"}]}, "/actions/0/url", "where to post"),
        ({"risk_level": "hihg"}, "/risk_level", "did you mean `high`?"),
        ({"enabled": "yes"}, "/enabled", "true or false"),
        ({"priority": 1.0}, "/priority", "whole number"),
        ({"starts_at": "tomorrow"}, "/starts_at", "RFC 3339"),
        ({"starts_at": 5}, "/starts_at", "RFC 3339"),
        ({"starts_at": "2026-01-02T00:00:00Z", "ends_at": "2026-01-01T00:00:00Z"}, "/ends_at", "after `starts_at`"),
        ({"description": "a\0b"}, "/description", "NUL"),
        ({"description": "\ud800"}, "/description", "surrogate"),
        ({"description": "a" * 10_001}, "/description", "10000 are allowed"),
    ],
)
def test_a_fault_has_its_place_and_its_way_out(fields: Json, pointer: str, detail: str) -> None:
    found = problems_of(a_document(**fields))
    assert pointer in found
    assert detail in found[pointer]
    assert len(found) == 1 or "op" in pointer or "filed" in pointer


def test_all_faults_are_told_at_once() -> None:
    given = a_document(name="A", priority="1", conditions={"all": [a_leaf("=", 1), a_leaf("in", 1)]}, actions=[{}])
    assert set(problems_of(given)) == {
        "/name",
        "/priority",
        "/conditions/all/0/op",
        "/conditions/all/1/value",
        "/actions/0/action_type",
    }


@pytest.mark.parametrize("given", [None, [], "rule", 5, {}])
def test_what_is_no_object_is_refused(given: object) -> None:
    assert problems_of(given)


def test_a_document_nested_without_end_is_refused_and_not_followed() -> None:
    assert "nested deeper" in next(iter(problems_of(a_document(conditions=nested(5_000))).values()))


def test_a_document_of_too_many_values_is_refused() -> None:
    assert "more than 20000 values" in problems_of(a_document(actions=[{**RUN, "params": {"a": [0] * 20_000}}]))[""]


def test_faults_of_every_stage_are_told_at_once() -> None:
    """Of the shape, of a part against another, of conditions as a whole, and of what is allowed."""
    given = a_document(
        name="Has Spaces",
        schedule={"every_seconds": 5},
        conditions={
            "all": [a_leaf("==", 1, field="item.x"), *[a_leaf("exists")] * 100],
            "any": [a_leaf("exists")] * 100,
        },
        starts_at="2026-11-22T00:00:00Z",
        ends_at="2026-11-21T00:00:00Z",
        risk_level="high",
        actions=[
            {"action_type": "run_agent", "target": "nobody"},
            {"action_type": "webhook", "url": "https://example.org/x"},
            {"action_type": "celery", "task": "x", "queue": "q", "nmae": 1},
            {"action_type": "celery", "task": "x", "queue": "closed"},
        ],
        priority="high",
    )
    with pytest.raises(Invalid) as caught:
        store.check(given)
    assert {problem.pointer for problem in caught.value.problems} == {
        "/name",
        "/event_type",
        "/conditions",
        "/conditions/all/0/field",
        "/ends_at",
        "/risk_level",
        "/actions/0/target",
        "/actions/1/url",
        "/actions/2/nmae",
        "/actions/3/queue",
        "/priority",
    }


def test_a_document_of_which_nothing_can_be_read_still_names_its_faults() -> None:
    assert set(problems_of({})) == {"/name", "/actions", "/event_type"}
    assert set(problems_of({"actions": 3, "name": 4, "x": 5})) == {"/name", "/actions", "/x", "/event_type"}
