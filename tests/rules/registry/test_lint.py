"""What is said when a rule is saved that will probably not do as meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from core.storage.db import Database
from core.types import Json
from rules.document.schema import Rule, parse
from rules.document.targets import EMITTED, TARGETS
from rules.expressions.paths import EVENT_FIELDS, LOOKED_UP
from rules.registry import defaults, lint
from rules.registry.field_kinds import EMITTED_SHAPES, OTHER_EVENT_FIELDS
from rules.registry.lint import Neighbours
from rules.registry.payload_fields import Payloads, payloads_of
from tests.rules.samples import RUN, a_leaf, a_rule
from tests.samples import TENANT, accept, event, said

NOTHING = Payloads({})


def emits(kind: str, **payload: Any) -> Json:
    return {"action_type": "emit", "event_type": kind, "payload": payload}


def warned(rule: Rule, others: Sequence[Rule] = (), payloads: Payloads = NOTHING) -> dict[str, str]:
    return {problem.pointer: problem.detail for problem in lint.of(rule, Neighbours(others), payloads)}


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


def test_checked_types_are_known_by_their_declared_fields_and_what_lies_within() -> None:
    known = ["payload.role", "payload.metadata.plan.deep", "payload.tool_calls[0].name"]
    for field in known:
        assert warned(a_rule(conditions=a_leaf("exists", field=field))) == {}
    assert (
        "did you mean `payload.content`?"
        in warned(a_rule(conditions=a_leaf("==", 1, field="payload.contents")))["/conditions/field"]
    )


def test_the_events_of_the_service_are_known_too() -> None:
    assert (
        warned(a_rule(event_type="memory.*", conditions=a_leaf("exists", field="payload.by"), actions=[emits("x")]))
        == {}
    )
    found = warned(a_rule(event_type="rule.changed", conditions=a_leaf("==", 1, field="payload.nmae")))
    assert "/conditions/field" in found


def test_of_a_wildcard_any_type_may_have_the_field() -> None:
    rule = a_rule(event_type="order.*", conditions=a_leaf("==", 1, field="payload.reason"))
    known = seen(order_placed="total", order_refused="reason")
    assert warned(rule, (), known) == {}
    assert warned(rule, (), seen(order_placed="total")) != {}


def test_what_the_log_has_is_read_from_its_latest_events(app: Database) -> None:
    deep = {"order": {"items": [{"sku": 1}, {"name": "a"}]}, "user_id": "ada"}
    accept(app, event("order.placed", deep), event("order.refused", {"why": None}), event("other", {"x": 1}))
    accept(app, said("Hello.", session="s1"))
    with app.tenant(TENANT) as tx:
        found = payloads_of(tx, ["order.*"])
    assert set(found.seen) == {"order.placed", "order.refused"}
    assert ("order", "items", "[]", "name") in found.seen["order.placed"]
    assert ("why",) in found.seen["order.refused"]


def test_signs_of_a_pattern_are_signs_of_the_type_and_nothing_more(app: Database) -> None:
    accept(app, event("order_placed", {"a": 1}), event("orderXplaced", {"b": 1}))
    with app.tenant(TENANT) as tx:
        assert set(payloads_of(tx, ["order_placed"]).seen) == {"order_placed"}


def test_one_tenant_does_not_know_the_payloads_of_another(app: Database) -> None:
    accept(app, event("order.placed", {"secret": 1}), tenant="globex")
    with app.tenant(TENANT) as tx:
        assert payloads_of(tx, ["*"]).seen == {}


def test_no_default_rule_deserves_a_warning() -> None:
    rules = [parse(document, TARGETS) for document in defaults.load()]
    found = {rule.name: warned(rule, rules) for rule in rules if warned(rule, rules)}
    # What it finds is a memory, too; its condition leaves those out, which a warning does not look at.
    assert found.keys() <= {"find_patterns"}


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


def test_what_was_published_is_read_from_the_log(app: Database) -> None:
    accept(app, event("order.placed", {}), event("other", {}))
    with app.tenant(TENANT) as tx:
        assert payloads_of(tx, ["order.*", "parcel.lost"]).published == {"order.placed"}


@pytest.mark.parametrize(
    ("types", "leaf", "said"),
    [
        ("message.added", a_leaf(">", "0.7", field="payload.importance"), "did you mean 0.7, without quotes?"),
        ("message.added", a_leaf(">", 1, field="payload.importance"), "lies between 0 and 1"),
        ("message.added", a_leaf("between", [2, 3], field="payload.importance"), "lies between 0 and 1"),
        ("message.added", a_leaf("==", True, field="payload.importance"), "is a number"),
        ("message.added", a_leaf("==", "human", field="payload.role"), "one of user, assistant, system, tool"),
        ("message.added", a_leaf("in", ["User", "bot"], field="payload.role"), "did you mean `user`?"),
        ("message.added", a_leaf("starts_with", "U", field="payload.role"), "never holds"),
        ("message.added", a_leaf("==", "vip", field="payload.tags"), "did you mean `contains`?"),
        ("message.added", a_leaf(">", 3, field="payload.content"), "is a text"),
        ("message.added", a_leaf("any_of", a_leaf("exists", field="item"), field="payload.content"), "items of a list"),
        ("memory.created", a_leaf("==", "preferences", field="payload.category"), "did you mean `preference`?"),
        ("memory.created", a_leaf("contains", "x", field="payload.importance"), "is a number"),
        (["session.ended", "session.summarized"], a_leaf(">", "3", field="payload.message_count"), "is a number"),
        ("*", a_leaf(">=", "3", field="session.message_count"), "did you mean 3, without quotes?"),
        ("*", a_leaf(">", 2, field="memory.importance"), "lies between 0 and 1"),
        ("*", a_leaf("==", 5, field="event_type"), "is a text"),
        ("*", a_leaf(">", "yesterday", field="time"), "is a time"),
    ],
)
def test_a_comparison_that_never_holds_is_named_with_its_reason(types: Any, leaf: Json, said: str) -> None:
    found = warned(a_rule(event_type=types, conditions={"any": [leaf]}, action_mode="shadow"))
    assert list(found) == ["/conditions/any/0/value"]
    assert said in found["/conditions/any/0/value"]


@pytest.mark.parametrize(
    ("types", "leaf"),
    [
        ("message.added", a_leaf(">", 0.7, field="payload.importance")),
        ("message.added", a_leaf(">=", 1, field="payload.importance")),
        ("message.added", a_leaf("<", 0.0001, field="payload.importance")),
        ("message.added", a_leaf("between", [0.9, 2], field="payload.importance")),
        ("message.added", a_leaf("==", None, field="payload.importance")),
        ("message.added", a_leaf("!=", "user", field="payload.role")),
        ("message.added", a_leaf("not_in", ["user", "bot"], field="payload.role")),
        ("message.added", a_leaf("matches", "^(user|tool)$", field="payload.role")),
        ("message.added", a_leaf("==", {"field": "payload.content"}, field="payload.importance")),
        ("message.added", a_leaf("contains", "vip", field="payload.tags")),
        ("message.added", a_leaf("older_than", "1d", field="payload.content")),
        ("message.added", a_leaf("==", "x", field="payload.metadata.deep")),
        ("plan.updated", a_leaf("==", "x", field="payload.plan")),
        ("plan.updated", a_leaf("length_>", 3, field="payload.plan")),
        ("session.ended", a_leaf("==", "idle", field="payload.reason")),
        (["message.added", "order.placed"], a_leaf("==", "human", field="payload.role")),
        ("*", a_leaf("newer_than", "1h", field="time")),
        ("*", a_leaf("==", "2026-11-21T10:00:00Z", field="time")),
    ],
)
def test_a_comparison_that_may_hold_is_left_in_peace(types: Any, leaf: Json) -> None:
    assert warned(a_rule(event_type=types, conditions=leaf, action_mode="shadow")) == {}


def test_a_type_among_several_that_lacks_a_needed_field_is_named() -> None:
    types, leaf = ["memory.created", "rule.changed"], a_leaf("==", "preference", field="payload.category")
    found = warned(a_rule(event_type=types, conditions={"all": [leaf]}, action_mode="shadow"))
    assert list(found) == ["/event_type/1"]
    assert "for this type the rule never fires" in found["/event_type/1"]
    either = {"any": [leaf, a_leaf("exists", field="payload.version")]}
    assert warned(a_rule(event_type=types, conditions=either, action_mode="shadow")) == {}


def test_every_shape_belongs_to_a_field_that_is_emitted() -> None:
    fields = {field for names in EMITTED.values() for field in names}
    assert set(EMITTED_SHAPES) <= fields | {"filled_in"}
    assert set(OTHER_EVENT_FIELDS) == {*EVENT_FIELDS, *LOOKED_UP}
