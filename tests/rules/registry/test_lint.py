"""What is said when a rule is saved that will probably not do as meant."""

from __future__ import annotations

import time
from typing import Any

import pytest

from core.events.reserved import EMITTED
from core.types import Json
from rules.document.schema import Rule, parse
from rules.document.targets import TARGETS
from rules.registry import defaults, lint
from rules.registry.payload_fields import Payloads
from tests.rules.registry.samples import emits, warned
from tests.rules.samples import RUN, a_leaf, a_rule


def loops(name: str = "r", answers: str = "a", leads_to: str = "a", **fields: Any) -> Rule:
    return a_rule(name, event_type=answers, actions=[emits(leads_to)], **fields)


def test_a_rule_that_answers_its_own_emit_is_told_so() -> None:
    found = warned(loops())
    assert list(found) == ["/actions/0"]
    assert "can trigger itself" in found["/actions/0"]
    assert "does not act twice on one chain" in found["/actions/0"]


def test_with_repeat_the_chain_ends_at_the_hop_limit() -> None:
    assert "hop limit" in warned(loops(repeat=True))["/actions/0"]


def test_a_rule_that_answers_what_its_agent_leads_to_is_told_so() -> None:
    found = warned(a_rule(event_type="memory.*", actions=[RUN]))
    assert "`memory_extractor` leads to `memory.created`" in found["/actions/0"]
    assert warned(a_rule(event_type="message.added", actions=[RUN])) == {}


def test_approvals_are_events_too() -> None:
    assert "/action_mode" in warned(a_rule(event_type="approval.*", action_mode="approve"))


@pytest.mark.parametrize(
    "leaf",
    [
        a_leaf("==", "order.placed", field="event_type"),
        a_leaf("in", ["x", "y"], field="event_type"),
        a_leaf("!=", "a", field="event_type"),
        a_leaf("not_in", ["a"], field="event_type"),
        a_leaf("!=", "imprint", field="source"),
        a_leaf("==", "shop", field="source"),
    ],
)
def test_a_rule_that_rules_itself_out_by_type_or_source_is_left_in_peace(leaf: Json) -> None:
    assert warned(loops(answers="*", conditions={"all": [leaf]})) == {}
    assert warned(loops(answers="*", conditions={"any": [leaf, a_leaf("exists")]})) != {}


def test_a_shadow_does_nothing_and_so_triggers_nothing() -> None:
    assert warned(loops(action_mode="shadow")) == {}


def test_a_circle_through_others_is_named_with_all_who_are_in_it() -> None:
    others = [loops("two", "b", "c"), loops("three", "c", "a"), loops("aside", "b", "d")]
    found = warned(loops("one", "a", "b"), others)
    assert "`one` → `two` → `three` → `one`" in found["/actions/0"]
    assert "does not act twice" in found["/actions/0"]


def test_a_circle_goes_round_only_where_all_of_it_may_repeat() -> None:
    first = loops("one", "a", "b", repeat=True)
    assert "hop limit" in warned(first, [loops("two", "b", "a", repeat=True)])["/actions/0"]
    assert "does not act twice" in warned(first, [loops("two", "b", "a")])["/actions/0"]


@pytest.mark.parametrize("fields", [{"enabled": False}, {"action_mode": "shadow"}])
def test_who_does_nothing_closes_no_circle(fields: Json) -> None:
    assert warned(loops("one", "a", "b"), [loops("two", "b", "a", **fields)]) == {}


def test_the_version_in_force_does_not_count_beside_its_successor() -> None:
    assert warned(loops("one", "a", "b"), [loops("one", "b", "a")]) == {}


def test_a_thousand_rules_in_line_are_searched_in_no_time_and_too_long_a_circle_is_let_pass() -> None:
    line = [loops(f"r{n}", f"e{n}", f"e{n + 1}") for n in range(1, 1_000)]
    assert warned(loops("r0", "e999", "e1"), line) == {}


def test_high_risk_without_anyone_asked_is_worth_a_word() -> None:
    assert list(warned(a_rule(risk_level="high"))) == ["/action_mode"]
    assert warned(a_rule(risk_level="high", action_mode="approve")) == {}


def seen(**paths: str) -> Payloads:
    """Payloads of the log: by type (`_` for a dot), paths with spaces between them."""
    known = {
        kind.replace("_", "."): frozenset(tuple(path.split(".")) for path in written.split())
        for kind, written in paths.items()
    }
    return Payloads(known)


ORDERS = seen(order_placed="order order.total order.items order.items.[] order.items.[].sku user_id")


@pytest.mark.parametrize(
    ("field", "guess"),
    [
        ("payload.order.totl", "did you mean `payload.order.total`?"),
        ("payload.order.items[0].skuu", "did you mean `payload.order.items[].sku`?"),
        ("payload.userid", "did you mean `payload.user_id`?"),
        ("payload.zzz", "has `payload.zzz`"),
    ],
)
def test_a_field_that_no_payload_has_is_named_with_the_one_that_is_meant(field: str, guess: str) -> None:
    found = warned(a_rule(event_type="order.placed", conditions={"all": [a_leaf("==", 1, field=field)]}), (), ORDERS)
    assert list(found) == ["/conditions/all/0/field"]
    assert guess in found["/conditions/all/0/field"]


@pytest.mark.parametrize("field", ["payload.order.total", "payload.order.items[3].sku", "payload", "source"])
def test_a_field_that_was_seen_is_known(field: str) -> None:
    assert warned(a_rule(event_type="order.placed", conditions=a_leaf("exists", field=field)), (), ORDERS) == {}


def test_fields_are_looked_for_wherever_a_rule_names_them() -> None:
    rule = a_rule(
        event_type="order.placed",
        conditions={
            "all": [
                a_leaf("==", {"field": "payload.b"}, field="payload.order"),
                a_leaf("any_of", a_leaf("==", 1, field="item.c"), field="payload.order.items"),
            ]
        },
        flow={"cooldown": {"seconds": 1, "key": ["payload.d"]}},
        actions=[emits("x", deep=["{{payload.e}}"])],
    )
    assert sorted(warned(rule, (), ORDERS)) == [
        "/actions/0/payload/deep/0",
        "/conditions/all/0/value/field",
        "/conditions/all/1/value/field",
        "/flow/cooldown/key/0",
    ]


def test_who_asks_whether_a_field_is_missing_may_name_what_nobody_sends() -> None:
    assert warned(a_rule(event_type="order.placed", conditions=a_leaf("missing")), (), ORDERS) == {}


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert warned(a_rule(event_type="order.placed", conditions=a_leaf("==", 1))) == {}
    types = ["message.added", "order.placed"]
    assert warned(a_rule(event_type=types, conditions=a_leaf("==", 1))) == {}


def test_of_a_wildcard_any_type_may_have_the_field() -> None:
    rule = a_rule(event_type="order.*", conditions=a_leaf("==", 1, field="payload.reason"))
    known = seen(order_placed="total", order_refused="reason")
    assert warned(rule, (), known) == {}
    assert warned(rule, (), seen(order_placed="total")) != {}


def test_no_default_rule_deserves_a_warning() -> None:
    rules = [parse(document, TARGETS) for document in defaults.load()]
    found = {rule.name: warned(rule, rules) for rule in rules if warned(rule, rules)}
    # What it finds is a memory, too; its condition leaves those out, which a warning does not look at. One agent finds
    # what a request means and, called by the event of that, erases it.
    assert found.keys() <= {"find_patterns", "forget_on_request", "forget_much_on_approval"}


def test_what_follows_from_agents_has_known_fields() -> None:
    assert {kind for follows in TARGETS.values() for kind in follows} <= set(EMITTED)


PUBLISHED = Payloads({}, frozenset({"order.placed"}))


@pytest.mark.parametrize(
    ("types", "place", "guess"),
    [
        ("mesage.added", "/event_type", "did you mean `message.added`?"),
        (["message.added", "message.aded"], "/event_type/1", "did you mean `message.added`?"),
        ("order.plced", "/event_type", "did you mean `order.placed`?"),
        ("parcel.lost", "/event_type", "nobody has published `parcel.lost`"),
        ("mesage.*", "/event_type", "nobody has published"),
    ],
)
def test_a_type_that_nobody_has_published_is_named_with_the_one_that_is_meant(
    types: Any, place: str, guess: str
) -> None:
    found = warned(a_rule(event_type=types), (), PUBLISHED)
    assert list(found) == [place]
    assert guess in found[place]


def test_a_type_that_ends_a_wait_is_looked_at_too() -> None:
    flow = {"debounce": {"seconds": 1, "flush_on": ["session.endd"]}}
    assert "did you mean `session.ended`?" in warned(a_rule(flow=flow), (), PUBLISHED)["/flow/debounce/flush_on/0"]


@pytest.mark.parametrize("kind", ["order.placed", "order.*", "*", "memory.*", "clock.ticked", "parcel.lost"])
def test_types_that_were_published_or_follow_from_the_service_or_a_rule_are_known(kind: str) -> None:
    other = a_rule("other", event_type="order.placed", actions=[emits("parcel.lost")], action_mode="shadow")
    assert not any("nobody" in said for said in warned(a_rule(event_type=kind), [other], PUBLISHED).values())


def cron(line: str) -> str | None:
    schedule = {"cron": line, "timezone": "UTC"}
    return warned(a_rule(event_type=None, schedule=schedule, actions=[RUN])).get("/schedule/cron")


@pytest.mark.parametrize(
    ("line", "meaning"),
    [("0 8 1-7 * mon", "fits either of them"), ("0 8 13 * fri", "either"), ("0 8 */2 * mon", "that fit both")],
)
def test_a_day_of_the_month_beside_a_weekday_is_warned_of_with_what_it_means(line: str, meaning: str) -> None:
    said = str(cron(line))
    assert meaning in said
    assert "mon#1" in said


@pytest.mark.parametrize("line", ["0 8 * * mon", "0 8 13 * *", "0 8 * * mon#1", "*/5 * * * *"])
def test_a_line_with_one_kind_of_day_deserves_no_warning(line: str) -> None:
    assert cron(line) is None


def test_among_any_number_of_long_names_a_similar_one_is_looked_for_in_bounded_time() -> None:
    names = {f"{'ab' * 48}{number:04}" for number in range(20_000)}
    began = time.process_time()
    near = lint._nearest("ba" * 48 + "0000", names, 0.6)
    assert len(near) <= 1
    assert time.process_time() - began < 10
    assert lint._nearest("order.placd", [*sorted(names), "order.placed"], 0.75) == ["order.placed"]
