"""What is wrong with an alarm is said with its place and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import Invalid
from core.types import Json
from rules.document.alarm_checks import compared_counts
from rules.document.schema import parse
from tests.rules.samples import DEAD, a_document, a_leaf, an_alarm

SOURCES: Json = {"every_seconds": 60, "for_each": "source"}


def problems(document: Json) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as caught:
        parse(document)
    return [(problem.pointer, problem.detail) for problem in caught.value.problems]


def test_an_alarm_reacts_to_its_own_event() -> None:
    assert parse(an_alarm()).event_types == ("alarm.raised",)
    assert parse(an_alarm(clears=a_leaf("==", 0, field="count.dead"))).clears is not None


@pytest.mark.parametrize(
    ("fields", "pointer", "detail"),
    [
        ({"schedule": {"every_seconds": 59}}, "/schedule/every_seconds", "at most every 60 seconds"),
        ({"schedule": SOURCES}, "/counts/dead/of", "for each source only events and memories"),
        ({"conditions": a_leaf(">", 1, field="count.x")}, "/conditions/field", "there are: `count.dead`"),
        ({"conditions": a_leaf(">", 100_000, field="count.dead")}, "/conditions/value", "ends at 100,000"),
        ({"conditions": a_leaf("==", 100_001, field="count.dead")}, "/conditions/value", "ends at 100,000"),
        ({"conditions": a_leaf("<", 200_000, field="count.dead")}, "/conditions/value", "ends at 100,000"),
        ({"clears": a_leaf("<=", 100_000, field="count.dead")}, "/clears/value", "ends at 100,000"),
        (
            {"conditions": a_leaf(">", {"field": "count.x"}, field="count.dead")},
            "/conditions/value/field",
            "no count is called `x`",
        ),
        ({"clears": a_leaf(">", 1, field="budget.cost_today")}, "/clears/field", "cannot look up"),
        ({"clears": a_leaf("means", "bad", field="payload.x")}, "/clears/op", "compares numbers"),
        ({"counts": {"dead": {**DEAD, "per": "all"}}}, "/counts/dead/per", "there are: none"),
        ({"counts": {"dead": {**DEAD, "per": "dead"}}}, "/counts/dead/per", "must name another count"),
        (
            {"counts": {"dead": {**DEAD, "per": "b"}, "b": {**DEAD, "per": "dead"}}},
            "/counts/dead/per",
            "another count without `per`",
        ),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(fields: Json, pointer: str, detail: str) -> None:
    assert any(at == pointer and detail in said for at, said in problems(an_alarm(**fields)))


def without(document: Json, name: str) -> Json:
    return {field: value for field, value in document.items() if field != name}


@pytest.mark.parametrize(
    ("document", "pointer", "detail"),
    [
        (without(an_alarm(), "conditions"), "/conditions", "needs conditions on its counts"),
        (without(an_alarm(), "counts"), "/conditions/field", "only a rule with `counts`"),
        (a_document(counts={"dead": DEAD}, conditions=a_leaf(">", 1, field="count.dead")), "/counts", "on a schedule"),
        (a_document(clears=a_leaf(">", 1)), "/clears", "only an alarm is cleared"),
        (
            without(a_document(schedule=SOURCES), "event_type"),
            "/schedule/for_each",
            "only an alarm looks at each source",
        ),
    ],
)
def test_what_only_an_alarm_has_is_refused_elsewhere(document: Json, pointer: str, detail: str) -> None:
    assert any(at == pointer and detail in said for at, said in problems(document))


def test_counts_that_are_compared_with_another_field_are_known() -> None:
    conditions = a_leaf(">", {"field": "payload.counts.b"}, field="count.a")
    named = dict.fromkeys("abc", DEAD)
    rule = parse(an_alarm(counts=named, conditions=conditions, clears=a_leaf("<", 2, field="count.c")))
    assert compared_counts(rule.conditions, rule.clears) == {"a", "b"}


@pytest.mark.parametrize(
    "count",
    [
        {"of": "events", "event_type": "order.placed", "within_seconds": 60, "sum": "payload.total"},
        {**DEAD, "per": "all"},
        {"of": "budget"},
    ],
)
@pytest.mark.parametrize("op", [">", "<", "<="])
def test_a_sum_or_a_share_may_be_any_number(count: Json, op: str) -> None:
    assert parse(an_alarm(counts={"n": count, "all": DEAD}, conditions=a_leaf(op, 200_000, field="count.n")))


@pytest.mark.parametrize("op", [">=", "<"])
def test_the_largest_count_can_be_told_from_smaller_ones(op: str) -> None:
    assert parse(an_alarm(conditions=a_leaf(op, 100_000, field="count.dead")))


@pytest.mark.parametrize("value", [99_999, 100_000.0, "many"])
def test_a_comparison_within_reach_is_none_of_its_business(value: Any) -> None:
    assert parse(an_alarm(conditions=a_leaf(">=", value, field="count.dead")))
