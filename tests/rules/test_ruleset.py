from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.types import Event, Json
from rules import ruleset as ruleset_module
from rules.conditions import compile_conditions
from rules.facts import Facts
from rules.ruleset import Ruleset, flow_key, matches_type, sampled
from rules.schema import Rule, parse
from tests.rules.samples import NOON, RUN, a_leaf, a_rule, an_event


def a_set(*rules: Rule) -> Ruleset:
    return Ruleset([(rule, 1) for rule in rules])


def fired(ruleset: Ruleset, event: Event, **more: Any) -> list[str]:
    return [verdict.name for verdict in ruleset.decide(event, **more) if verdict.fired]


def held(ruleset: Ruleset, event: Event, **more: Any) -> dict[str, str | None]:
    return {verdict.name: verdict.held_by for verdict in ruleset.decide(event, **more)}


@pytest.mark.parametrize(
    ("pattern", "event_type", "fits"),
    [
        ("memory.*", "memory.created", True),
        ("memory.*", "memory.write.important", True),
        ("memory.*", "memory", False),
        ("memory.*", "xmemory.created", False),
        ("*.added", "message.added", True),
        ("*.added", "message.added.twice", False),
        ("*", "anything", True),
        ("a.b", "a.b", True),
        ("a.b", "axb", False),
    ],
)
def test_a_star_stands_for_any_run_of_characters(pattern: str, event_type: str, *, fits: bool) -> None:
    assert matches_type(pattern, event_type) is fits
    assert bool(fired(a_set(a_rule(event_type=pattern)), an_event(event_type=event_type))) is fits


def test_a_rule_answers_each_type_of_its_list_once() -> None:
    ruleset = a_set(a_rule(event_type=["message.*", "*.added", "session.ended"]))
    assert fired(ruleset, an_event()) == ["r"]
    assert fired(ruleset, an_event(event_type="session.ended")) == ["r"]
    assert fired(ruleset, an_event(event_type="session.started")) == []


def test_rules_go_by_priority_and_then_by_name() -> None:
    ruleset = a_set(a_rule("b"), a_rule("a"), a_rule("late", priority=-1), a_rule("first", priority=9))
    assert fired(ruleset, an_event()) == ["first", "a", "b", "late"]


def test_a_verdict_names_rule_and_version() -> None:
    rule = a_rule("a")
    verdict = Ruleset([(rule, 7)]).decide(an_event())[0]
    assert (verdict.name, verdict.version, verdict.rule, verdict.fired, verdict.held_by) == ("a", 7, rule, True, None)
    assert dict(verdict.keys) == {}


def test_a_rule_that_stops_holds_back_those_after_it_once_it_fires() -> None:
    rules = a_rule("a", stop=True, conditions=a_leaf("==", 1)), a_rule("b"), a_rule("c", conditions=a_leaf("==", 2))
    assert held(a_set(*rules), an_event({"x": 1})) == {"a": None, "b": "stop"}
    assert held(a_set(*rules), an_event({"x": 2})) == {"b": None, "c": None}


def test_only_the_first_match_of_a_group_fires() -> None:
    rules = (
        a_rule("a", group="g", conditions=a_leaf("==", 1)),
        a_rule("b", group="g"),
        a_rule("c", group="h"),
        a_rule("d"),
    )
    assert held(a_set(*rules), an_event({"x": 1})) == {"a": None, "b": "group", "c": None, "d": None}
    assert held(a_set(*rules), an_event()) == {"b": None, "c": None, "d": None}


@pytest.mark.parametrize(
    "fields", [{"enabled": False}, {"action_mode": "shadow"}, {"starts_at": "2030-01-01T00:00:00Z"}]
)
def test_a_rule_without_effect_displaces_nothing(fields: Json) -> None:
    rules = a_rule("a", group="g", stop=True, **fields), a_rule("b", group="g")
    assert held(a_set(*rules), an_event())["b"] is None


def test_a_disabled_rule_says_that_it_is_held_back() -> None:
    assert held(a_set(a_rule(enabled=False)), an_event()) == {"r": "disabled"}


@pytest.mark.parametrize(
    ("shift", "held_by"),
    [(-1, "window"), (0, None), (59, None), (60, "window")],
)
def test_a_rule_works_from_its_start_until_before_its_end(shift: int, held_by: str | None) -> None:
    ruleset = a_set(a_rule(starts_at="2026-11-21T12:00:00Z", ends_at="2026-11-21T14:01:00+01:00"))
    moment = NOON + timedelta(minutes=shift + (1 if shift == 60 else 0))
    assert held(ruleset, an_event(time=moment)) == {"r": held_by}
    assert held(ruleset, an_event(), now=moment) == {"r": held_by}


def test_a_sample_is_the_same_keys_every_time_and_near_its_share() -> None:
    chosen = [place for place in range(10_000) if sampled("r", f"user:{place}", 0.3)]
    assert 2_800 < len(chosen) < 3_200
    assert chosen[:5] == [1, 9, 12, 14, 15]


def test_two_rules_sample_apart_from_each_other() -> None:
    both = [place for place in range(10_000) if sampled("a", str(place), 0.3) and sampled("b", str(place), 0.3)]
    assert 700 < len(both) < 1_100


def test_a_larger_ratio_keeps_all_keys_of_a_smaller_one() -> None:
    for place in range(500):
        assert sampled("r", str(place), 0.5) or not sampled("r", str(place), 0.2)
    assert all(sampled("r", str(place), 1.0) for place in range(500))


def test_who_is_not_in_the_sample_goes_to_the_next_of_the_group() -> None:
    flow = {"sample": {"ratio": 0.3, "key": ["payload.user_id"]}}
    ruleset = a_set(a_rule("a", group="policy", flow=flow), a_rule("b", group="policy"))
    seen = {tuple(held(ruleset, an_event({"user_id": f"u{place}"})).values()) for place in range(50)}
    assert seen == {(None, "group"), ("sample", None)}


def test_events_of_nobody_are_sampled_one_by_one() -> None:
    ruleset = a_set(a_rule(flow={"sample": {"ratio": 0.5}}))
    events = [an_event(session_id=None, user_id=None, id=f"e{place}") for place in range(40)]
    assert {held(ruleset, event)["r"] for event in events} == {None, "sample"}


@pytest.mark.parametrize(
    ("fields", "event", "key"),
    [
        (None, an_event(), "session:s1"),
        (None, an_event(session_id=None), "user:ada"),
        (None, an_event(session_id=None, user_id=None), ""),
        (["payload.user_id"], an_event({"user_id": "李"}), '["李"]'),
        (["payload.a", "payload.b"], an_event({"a": 1, "b": "1"}), '[1,"1"]'),
        (["payload.a"], an_event(), "[null]"),
        (["payload"], an_event({"b": 1, "a": 2}), '[{"a":2,"b":1}]'),
        (["time"], an_event(), '["2026-11-21T12:00:00+00:00"]'),
    ],
)
def test_a_flow_is_kept_apart_by_its_key(fields: list[str] | None, event: Event, key: str) -> None:
    assert flow_key(fields, event) == key


def test_a_long_key_is_its_hash() -> None:
    long, other = (flow_key(["payload.a"], an_event({"a": sign * 1_000})) for sign in "xy")
    assert len(long) < 40
    assert long != other
    assert flow_key(["payload.a"], an_event({"a": "\ud800" * 300}))


def test_a_verdict_has_the_key_of_each_flow() -> None:
    flow = {
        "debounce": {"seconds": 3},
        "count": {"threshold": 5, "key": ["payload.user_id"]},
        "cooldown": {"seconds": 1},
    }
    verdict = a_set(a_rule(flow=flow)).decide(an_event({"user_id": "ada"}))[0]
    assert verdict.keys == {"debounce": "session:s1", "count": '["ada"]', "cooldown": "session:s1"}
    assert verdict.flow.count is not None
    assert verdict.fired


def test_a_debounce_is_flushed_by_its_types_alone() -> None:
    flow = {"debounce": {"seconds": 3, "flush_on": ["session.*"], "key": ["payload.user_id"]}}
    ruleset = a_set(a_rule("a", flow=flow), a_rule("b", flow={"debounce": {"seconds": 3}}), a_rule("c"))
    event = an_event({"user_id": "ada"}, event_type="session.ended")
    assert ruleset.flushed_by(event) == [("a", 1, '["ada"]')]
    assert ruleset.flushed_by(an_event()) == []


def test_a_scheduled_rule_answers_its_own_tick_only() -> None:
    tick = {"schedule": {"every_seconds": 60}, "event_type": None}
    ruleset = a_set(a_rule("hourly", **tick), a_rule("daily", **tick, conditions=a_leaf("==", 1)))
    assert fired(ruleset, an_event({"rule": "hourly"}, event_type="clock.ticked")) == ["hourly"]
    assert fired(ruleset, an_event({"rule": "daily", "x": 1}, event_type="clock.ticked")) == ["daily"]
    assert fired(ruleset, an_event({"rule": "daily"}, event_type="clock.ticked")) == []
    assert fired(ruleset, an_event({"rule": "daily", "x": 1})) == []


def test_lookups_are_made_only_for_rules_that_may_still_match() -> None:
    asked: list[str] = []

    def lookup(name: str) -> int:
        asked.append(name)
        return 9

    looked_up = a_leaf(">", 5, field="session.message_count")
    ruleset = a_set(
        a_rule("a", conditions={"all": [looked_up, a_leaf("==", 1)]}),
        a_rule("b", conditions={"all": [looked_up, a_leaf("starts_with", "a", field="payload.y")]}),
        a_rule("c", event_type="session.ended", conditions=looked_up),
    )
    assert fired(ruleset, an_event({"x": 2, "y": "b"}), lookup=lookup) == []
    assert asked == []
    assert fired(ruleset, an_event({"x": 1, "y": "a"}), lookup=lookup) == ["a", "b"]
    assert asked == ["session.message_count"]


def test_what_a_batch_must_look_up_is_known_beforehand() -> None:
    tree = {"all": [a_leaf(">", 5, field="user.memory_count"), a_leaf("==", 1), a_leaf("exists", field="payload.y")]}
    ruleset = a_set(a_rule("a", conditions=tree), a_rule("b", conditions=a_leaf(">", 0, field="memory.importance")))
    assert ruleset.asks(an_event({"x": 1, "y": 1})) == {"user.memory_count", "memory.importance"}
    assert ruleset.asks(an_event({"x": 1})) == {"memory.importance"}
    assert ruleset.asks(an_event({"x": 1, "y": 1}, event_type="other")) == frozenset()


def test_a_type_that_fits_no_comparison_is_counted_once_for_the_field() -> None:
    counted: list[tuple[str, str]] = []
    ruleset = a_set(*(a_rule(f"r{place}", conditions=a_leaf(">", place)) for place in range(5)))
    ruleset.decide(an_event({"x": "many"}), on_mismatch=lambda field, op: counted.append((field, op)))
    ruleset.decide(an_event(), on_mismatch=lambda field, op: counted.append((field, op)))
    assert counted == [("payload.x", ">")]


def test_the_memory_of_event_types_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ruleset_module, "MAX_CACHED_TYPES", 4)
    ruleset = a_set(a_rule(event_type="*", flow={"debounce": {"seconds": 1, "flush_on": ["t1*"]}}))
    for place in range(20):
        event = an_event(event_type=f"t{place}")
        assert fired(ruleset, event) == ["r"]
        assert bool(ruleset.flushed_by(event)) is f"t{place}".startswith("t1")


def test_a_ruleset_of_no_rules_decides_nothing() -> None:
    assert Ruleset([]).decide(an_event()) == []
    assert len(Ruleset([])) == 0


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [0, 1, 2, 1.0, 1.5, True, False, "a", "b", "", None, float("nan"), float("inf"), Decimal(1), [], {}]
)
LITERALS = st.sampled_from([0, 1, 2, 1.0, 1.5, True, False, "a", "b", ""])
NUMBERS = st.sampled_from([0, 1, 2, 1.0, 1.5, 10**30])
FIELDS = st.sampled_from(["payload.x", "payload.y", "event_type", "subject"])


def leaf_of(field: str, op: str, value: Any) -> Json:
    return a_leaf(op, value, field=field)


INDEXED = st.one_of(
    st.builds(leaf_of, FIELDS, st.just("=="), LITERALS),
    st.builds(leaf_of, FIELDS, st.just("in"), st.lists(LITERALS, min_size=1, max_size=3)),
    st.builds(leaf_of, FIELDS, st.sampled_from(["<", "<=", ">", ">="]), NUMBERS),
)
CONJUNCTIONS = st.lists(INDEXED, min_size=1, max_size=4).map(lambda leaves: {"all": leaves})


@given(
    st.lists(CONJUNCTIONS, min_size=1, max_size=12),
    st.dictionaries(st.sampled_from("xy"), VALUES),
    st.sampled_from([None, "a"]),
)
def test_the_index_meets_exactly_what_the_conditions_meet_alone(
    trees: list[Json], payload: Json, subject: str | None
) -> None:
    rules = [a_rule(f"r{place:02}", conditions=tree) for place, tree in enumerate(trees)]
    event = an_event(payload, subject=subject)
    alone = [rule.name for rule in rules if compile_conditions(rule.conditions)(Facts(event))]
    assert fired(a_set(*rules), event) == alone


def test_a_rule_document_has_no_way_to_become_code() -> None:
    evil = "__import__('os').abort()"
    rule = parse(
        {
            "name": "evil",
            "event_type": "*",
            "conditions": {"any": [a_leaf("==", evil), a_leaf("contains", evil), a_leaf("wildcard", evil)]},
            "actions": [{**RUN, "params": {"a": evil}}],
        }
    )
    assert fired(a_set(rule), an_event({"x": evil})) == ["evil"]
