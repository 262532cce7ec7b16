from __future__ import annotations

from datetime import datetime
from typing import Any
from unittest.mock import ANY

import pytest
from sqlalchemy import text

from core import metrics
from core.errors import Later
from core.events import log
from core.storage.db import Database, Tx
from core.types import DispatchStatus, Event
from rules.engine import lookups
from rules.engine.ruleset import Ruleset
from rules.registry import defaults, store
from tests.rules.samples import RUN, a_document
from tests.samples import TENANT, accept, accept_all, ended, event, said
from tests.workers.routing.routed import EMIT, rows, save
from tests.works import Works
from workers.dispatch import insertion
from workers.routing import action_dispatches, router
from workers.routing.action_dispatches import FiredRule
from workers.routing.router import IDLE_POLLS, Router, RouterGlance


def unrouted(queue: Database) -> int:
    return sum(row.routed_at is None for row in rows(queue, "events"))


def test_a_rule_that_matches_becomes_a_decision_and_a_dispatch(app: Database, queue: Database, works: Works) -> None:
    accept(app, ended(message_count=3, id="e1"))
    count, owed = router.route(works.router)
    (dispatch,) = rows(queue, "dispatches")
    (decision,) = rows(queue, "decisions")
    assert count == 1
    assert [o.id for o in owed] == [dispatch.id]
    assert (dispatch.target, dispatch.status, dispatch.rule, dispatch.rule_version) == (
        "memory_consolidator",
        "pending",
        "consolidate_on_session_end",
        1,
    )
    assert (decision.rule, decision.verdict, decision.version) == ("consolidate_on_session_end", "fired", 1)


def test_what_no_rule_matches_is_routed_and_leaves_nothing(app: Database, queue: Database, works: Works) -> None:
    accept(app, ended(message_count=2), event())
    assert router.route(works.router) == (2, [])
    assert rows(queue, "dispatches") == rows(queue, "decisions") == []
    assert router.route(works.router) == (0, [])


def test_events_of_all_tenants_are_decided_by_their_own_rules(app: Database, queue: Database, works: Works) -> None:
    save(app, a_document(name="ours", event_type="order.placed"))
    save(app, a_document(name="theirs", event_type="order.placed"), tenant="globex")
    accept(app, event())
    accept(app, event(), event(), tenant="globex")
    router.route(works.router)
    assert sorted((d.tenant_id, d.rule) for d in rows(queue, "dispatches")) == [
        ("acme", "ours"),
        ("globex", "theirs"),
        ("globex", "theirs"),
    ]


def test_events_of_a_tenant_created_since_the_last_refresh_are_decided_by_its_rules(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    router.route(works.router)
    monkeypatch.setattr(works.router.book, "_poll_s", 3600)
    save(app, a_document(name="theirs", event_type="order.placed"), tenant="globex")
    accept(app, event(), event(), tenant="globex")
    accept(app, event(), tenant="hooli")
    assert router.route(works.router) == (3, ANY)
    assert [(d.tenant_id, d.rule) for d in rows(queue, "dispatches")] == [("globex", "theirs")] * 2
    assert router.route(works.router) == (0, [])


def test_a_tenant_without_rules_is_looked_for_once(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    router.route(works.router)
    monkeypatch.setattr(works.router.book, "_poll_s", 3600)
    accept(app, event(), tenant="hooli")
    router.route(works.router)
    refreshes = 0

    def refresh(_tx: Tx) -> None:
        nonlocal refreshes
        refreshes += 1

    monkeypatch.setattr(works.router.book, "refresh", refresh)
    accept(app, event(), tenant="hooli")
    assert router.route(works.router) == (1, [])
    assert refreshes == 0


def test_every_message_is_indexed_whatever_the_rules_say(app: Database, queue: Database, works: Works) -> None:
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            store.delete(tx, TENANT, stored.name, author="test")
    accept(app, said("a"), said("b", session="s2"))
    accept(app, said("c"), tenant="globex")
    router.route(works.router)
    indexing = {d.tenant_id: d.params["sessions"] for d in rows(queue, "dispatches")}
    assert indexing == {"acme": ["s1", "s2"], "globex": ["s1"]}


def test_a_rule_held_back_is_recorded_with_what_held_it(app: Database, queue: Database, works: Works) -> None:
    save(app, a_document(event_type="order.placed", enabled=False))
    accept(app, event())
    router.route(works.router)
    (decision,) = rows(queue, "decisions")
    assert (decision.verdict, decision.reason) == ("held", "disabled")


def test_a_chain_without_end_is_stopped_with_a_dead_letter_that_says_so(
    app: Database, queue: Database, works: Works
) -> None:
    save(
        app,
        a_document(name="again", event_type="order.*", actions=[{**EMIT, "event_type": "order.again"}], repeat=True),
    )
    accept(app, event())
    works.settle()
    assert [e.hop for e in rows(queue, "events", "seq")] == list(range(9))
    dead = [d for d in rows(queue, "dispatches") if d.status == "dead"]
    assert [d.target for d in dead] == ["hop_limit"]
    assert "hop 8" in dead[0].error
    assert "again" in dead[0].error


def test_a_condition_may_ask_the_database(app: Database, queue: Database, works: Works) -> None:
    long = {"all": [{"field": "session.message_count", "op": ">=", "value": 3}]}
    save(app, a_document(name="long", event_type="session.ended", conditions=long))
    accept_all(app, [*(said(f"{n}") for n in range(3)), said("x", session="s2")])
    accept(app, ended("s1", id="long"), ended("s2", id="short"))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        met = [log.at(tx, d.event_seq).id for d in rows(queue, "dispatches") if d.rule == "long"]
    assert met == ["long"]


class Trap(RuntimeError):
    """What a broken rule raises."""


def fail_on(monkeypatch: pytest.MonkeyPatch, event_id: str) -> None:
    decide = Ruleset.decide

    def broken(self: Ruleset, met: Event, *given: Any, **more: Any) -> Any:
        if met.id == event_id:
            raise Trap("boom")
        return decide(self, met, *given, **more)

    monkeypatch.setattr(Ruleset, "decide", broken)


def test_an_event_that_the_rules_fail_on_is_set_aside_and_stops_no_other(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, "bad")
    accept(app, ended(message_count=3, id="a"), ended(message_count=3, id="bad"), ended(message_count=3, id="b"))
    count, owed = router.route(works.router)
    assert (count, len(owed), unrouted(queue)) == (3, 2, 0)
    dead = [d for d in rows(queue, "dispatches") if d.status == "dead"]
    assert [(d.target, d.event_seq) for d in dead] == [("rules", 2)]
    assert "Trap: boom" in dead[0].error


def test_a_lookup_that_fails_sets_one_event_aside_and_spoils_no_other(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = lookups.ask

    def broken(tx: Tx, asked: Any) -> Any:
        if any(met.session_id == "bad" for met, _ in asked):
            tx.execute(text("SELECT 1 / 0"))
        return ask(tx, asked)

    monkeypatch.setattr(lookups, "ask", broken)
    conditions = {"all": [{"field": "user.memory_count", "op": "==", "value": 0}]}
    save(app, a_document(name="asks", event_type="session.ended", conditions=conditions))
    accept(app, ended("good"), ended("bad"), ended("fine"))
    router.route(works.router)
    assert unrouted(queue) == 0
    assert [(d.target, d.status) for d in rows(queue, "dispatches", "event_seq")] == [
        ("memory_extractor", "pending"),
        ("rules", "dead"),
        ("memory_extractor", "pending"),
    ]


def test_a_rule_that_cannot_act_is_set_aside_and_holds_up_no_other(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispatches = action_dispatches.dispatches

    def broken(shop: Any, occasion: FiredRule, now: datetime) -> Any:
        if occasion.rule.name == "bad":
            raise Trap("boom")
        return dispatches(shop, occasion, now)

    monkeypatch.setattr(action_dispatches, "dispatches", broken)
    wait = {"debounce": {"seconds": 3600}}
    save(app, a_document(name="bad", event_type="a", flow=wait), a_document(name="good", event_type="b", flow=wait))
    accept(app, event("a"), event("b"))
    router.route(works.router)
    works._make_due()
    owed = router.fire_due(works.router)
    assert len(owed) == 1
    assert sorted((d.rule, d.status) for d in rows(queue, "dispatches")) == [("bad", "dead"), ("good", "pending")]
    assert rows(queue, "flows") == []


def test_what_a_debounce_lets_go_and_the_database_refuses_is_set_aside_alone(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = insertion.insert_rows

    def refused(tx: Tx, new: Any) -> Any:
        if any(one.rule == "bad" and one.status is DispatchStatus.PENDING for one in new):
            tx.execute(text("SELECT 1 / 0"))
        return write(tx, new)

    monkeypatch.setattr(insertion, "insert_rows", refused)
    wait = {"debounce": {"seconds": 3600}}
    save(app, a_document(name="bad", event_type="a", flow=wait), a_document(name="good", event_type="b", flow=wait))
    accept(app, event("a"), event("b"))
    router.route(works.router)
    works._make_due()
    assert len(router.fire_due(works.router)) == 1
    assert sorted((d.rule, d.status) for d in rows(queue, "dispatches")) == [("bad", "dead"), ("good", "pending")]
    assert rows(queue, "flows") == []


def test_rules_that_cannot_even_say_what_they_ask_set_one_event_aside(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_on(monkeypatch, "bad")
    asks = Ruleset.asks

    def broken(self: Ruleset, met: Event, **more: Any) -> Any:
        if met.id == "bad":
            raise Trap("boom")
        return asks(self, met, **more)

    monkeypatch.setattr(Ruleset, "asks", broken)
    accept(app, ended(message_count=3, id="bad"), ended(message_count=3, id="good"))
    count, owed = router.route(works.router)
    assert (count, len(owed), unrouted(queue)) == (2, 1, 0)


@pytest.mark.parametrize("edit", ["delete", "disable", "spoil"])
def test_a_debounce_whose_rule_is_gone_does_not_act_and_the_log_says_so(
    app: Database, queue: Database, works: Works, edit: str
) -> None:
    document = a_document(name="waits", event_type="a", flow={"debounce": {"seconds": 3600}})
    save(app, document)
    accept(app, event("a"))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        if edit == "delete":
            store.delete(tx, TENANT, "waits", author="test")
        elif edit == "disable":
            store.save(tx, TENANT, {**document, "enabled": False}, author="test")
        else:
            store.save(tx, TENANT, {**document, "priority": 1}, author="test")
            tx.execute(text("UPDATE rule_versions SET document = '{}' WHERE name = 'waits' AND version = 1"))
    works._make_due()
    assert router.fire_due(works.router) == []
    assert [(d.verdict, d.reason) for d in rows(queue, "decisions")] == [("held", "gone")]


def test_an_edited_rule_acts_on_what_it_had_gathered_as_it_said_then(
    app: Database, queue: Database, works: Works
) -> None:
    document = a_document(name="waits", event_type="a", flow={"debounce": {"seconds": 3600}}, actions=[EMIT])
    save(app, document)
    accept(app, event("a"))
    router.route(works.router)
    save(app, {**document, "actions": [RUN]})
    works._make_due()
    router.fire_due(works.router)
    assert [(d.target, d.rule_version) for d in rows(queue, "dispatches")] == [("event_emitter", 1)]


def test_what_a_later_stage_holds_back_is_written_down_for_each_event(
    app: Database, queue: Database, works: Works
) -> None:
    flow = {"debounce": {"seconds": 3600, "max_events": 2}, "cooldown": {"seconds": 3600}}
    save(app, a_document(name="calm", event_type="a", flow=flow))
    accept(app, *(event("a", id=f"e{n}", payload={"session_id": "s1"}) for n in range(3)))
    router.route(works.router)
    works._make_due()
    router.fire_due(works.router)
    assert [(d.verdict, d.reason) for d in rows(queue, "decisions", "event_seq")] == [
        ("gathered", "debounce"),
        ("fired", None),
        ("held", "cooldown"),
    ]
    assert [d.params["gathered"] for d in rows(queue, "dispatches")] == [["e0", "e1"]]


def test_of_those_that_wait_in_a_lane_only_the_latest_is_kept(app: Database, queue: Database, works: Works) -> None:
    flow = {"concurrency": {"limit": 1, "on_conflict": "latest"}}
    save(app, a_document(name="lane", event_type="a", flow=flow))
    accept(app, *(event("a", id=f"e{n}", payload={"session_id": "s1"}) for n in range(4)))
    router.route(works.router)
    assert [d.status for d in rows(queue, "dispatches", "id")] == ["pending", "cancelled", "cancelled", "pending"]


def test_a_lane_that_is_full_holds_back_what_must_not_wait(app: Database, queue: Database, works: Works) -> None:
    flow = {"concurrency": {"limit": 2, "on_conflict": "skip"}}
    save(app, a_document(name="lane", event_type="a", flow=flow, actions=[EMIT, EMIT]))
    accept(app, *(event("a", id=f"e{n}", payload={"session_id": "s1"}) for n in range(3)))
    _, owed = router.route(works.router)
    assert [(d.verdict, d.reason) for d in rows(queue, "decisions", "event_seq")] == [
        ("fired", None),
        ("fired", None),
        ("held", "concurrency"),
    ]
    works.run(owed)
    accept(app, event("a", id="e4", payload={"session_id": "s1"}))
    router.route(works.router)
    assert rows(queue, "decisions", "event_seq")[-1].verdict == "fired"


def test_a_flow_acts_as_far_down_the_chain_as_any_event_it_gathered(
    app: Database, queue: Database, works: Works
) -> None:
    emit = {"action_type": "emit", "event_type": "b", "payload": {"session_id": "s1"}}
    save(
        app,
        a_document(name="first", event_type="a", actions=[emit]),
        a_document(name="gathers", event_type="b", flow={"count": {"threshold": 2}}),
    )
    accept(app, event("a", payload={"session_id": "s1"}))
    works.settle()
    accept(app, event("b", id="outside", payload={"session_id": "s1"}))
    router.route(works.router)
    acting = next(d for d in rows(queue, "dispatches") if d.rule == "gathers")
    root = rows(queue, "events", "seq")[0].seq
    assert (acting.hop, acting.lineage, acting.root_seq) == (1, ["first", "gathers"], root)


def test_two_rules_that_call_each_other_come_to_an_end(app: Database, queue: Database, works: Works) -> None:
    ping = {"action_type": "emit", "event_type": "ping"}
    pong = {"action_type": "emit", "event_type": "pong"}
    save(
        app,
        a_document(name="pinger", event_type="pong", actions=[ping]),
        a_document(name="ponger", event_type="ping", actions=[pong]),
    )
    accept(app, event("ping"))
    works.settle()
    assert [e.event_type for e in rows(queue, "events", "seq")] == ["ping", "pong", "ping"]
    assert [(d.rule, d.verdict, d.reason) for d in rows(queue, "decisions", "event_seq")] == [
        ("ponger", "fired", None),
        ("pinger", "fired", None),
        ("ponger", "held", "repeat"),
    ]


def test_a_rule_compares_meanings_that_were_embedded_before(app: Database, queue: Database, works: Works) -> None:
    same = {"all": [{"field": "payload.text", "op": "means", "value": "a red car", "threshold": 0.99}]}
    save(app, a_document(name="means", event_type="a", conditions=same))
    accept(app, event("a", payload={"text": "a red car"}), event("a", payload={"text": "something else entirely"}))
    count, _ = router.route(works.router)
    assert count == 2
    assert [(d.rule, d.event_seq) for d in rows(queue, "decisions")] == [("means", rows(queue, "events", "seq")[0].seq)]


def test_an_event_whose_meaning_nobody_can_tell_is_set_aside_and_stops_no_other(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_texts: Any) -> None:
        raise Later("The embedder is away.")

    monkeypatch.setattr(works.router.meanings.of(None), "warm", refuse)
    same = {"all": [{"field": "payload.text", "op": "means", "value": "a red car"}]}
    save(app, a_document(name="means", event_type="a", conditions=same), a_document(name="other", event_type="b"))
    accept(app, event("a", payload={"text": "a red car"}), event("b"))
    router.route(works.router)
    assert [(d.target, d.status) for d in rows(queue, "dispatches", "event_seq")] == [
        ("rules", "dead"),
        ("memory_extractor", "pending"),
    ]


def test_an_event_is_decided_once_however_often_it_is_routed(app: Database, queue: Database, works: Works) -> None:
    accept_all(app, [ended(f"s{n}", message_count=3) for n in range(20)])
    for _ in range(3):
        router.route(works.router)
    assert len(rows(queue, "dispatches")) == 20


def test_what_follows_in_a_session_waits_for_what_another_router_holds(
    app: Database, queue: Database, works: Works
) -> None:
    first, last, other = said("I live in Porto."), ended(), ended("s2")
    accept(app, first, last, other, event())
    with queue.queue() as elsewhere:
        elsewhere.execute(text("SELECT FROM events WHERE seq = (SELECT min(seq) FROM events) FOR UPDATE"))
        assert router.route(works.router)[0] == 2
        assert router.route(works.router)[0] == 0
    assert unrouted(queue) == 2
    assert router.route(works.router)[0] == 2


def test_if_the_decision_cannot_be_written_the_event_stays_unrouted(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(app, ended(message_count=3))
    with monkeypatch.context() as broken:
        broken.setattr(router, "_record", lambda *_: (_ for _ in ()).throw(Trap("disk full")))
        with pytest.raises(Trap):
            router.route(works.router)
    assert unrouted(queue) == 1
    assert rows(queue, "dispatches") == []
    assert len(router.route(works.router)[1]) == 1


def test_what_a_flow_gathered_is_handed_on_whatever_the_events_are_called(
    app: Database, queue: Database, works: Works
) -> None:
    save(app, a_document(name="waits", event_type="a", flow={"count": {"threshold": 2}}))
    accept(app, event("a", {"word": "secret"}, id="{{payload.word}}"), event("a", {"word": "secret"}, id="second"))
    router.route(works.router)
    assert [d.params["gathered"] for d in rows(queue, "dispatches")] == [["{{payload.word}}", "second"]]


@pytest.mark.parametrize("refusal", ["SELECT 1 / 0", "SELECT repeat(repeat('x', 1000000), 2000)"])
def test_an_event_whose_consequences_the_database_refuses_is_set_aside_and_stops_no_other(
    app: Database, queue: Database, works: Works, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    record = router._record

    def refused(tx: Tx, decisions: Any) -> None:
        if any(decision["seq"] == 2 for decision in decisions):
            tx.execute(text(refusal))
        record(tx, decisions)

    monkeypatch.setattr(router, "_record", refused)
    accept(app, ended(message_count=3, id="a"), ended(message_count=3, id="bad"), ended(message_count=3, id="b"))
    count, owed = router.route(works.router)
    assert (count, len(owed), unrouted(queue)) == (3, 2, 0)
    found = rows(queue, "dispatches", "event_seq")
    assert [(d.target, d.status) for d in found] == [
        ("memory_consolidator", "pending"),
        ("rules", "dead"),
        ("memory_consolidator", "pending"),
    ]
    assert [d.event_seq for d in rows(queue, "decisions", "event_seq")] == [1, 3]


def test_metrics_name_no_rule_of_a_tenant(app: Database, works: Works) -> None:
    for number in range(3):
        rule = a_document(name=f"secret-project-{number}", event_type="order.placed", action_mode="shadow")
        with app.tenant(TENANT) as tx:
            store.save(tx, TENANT, rule, author="test")
    accept(app, event("order.placed"), said("x"))
    works.settle()
    found = {
        sample.labels["rule"]
        for family in metrics.DECISIONS.collect()
        for sample in family.samples
        if sample.name.endswith("_total")
    }
    assert "other" in found
    assert found <= {*defaults.NAMES, "other"}


def test_an_idle_router_asks_once_a_turn_and_a_hint_spares_the_question(
    app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, sent = list[bool](), list[Any]()
    glance = router.glance

    def noted(routing: Router) -> RouterGlance:
        seen = glance(routing)
        asked.append(seen.has_work)
        return seen

    monkeypatch.setattr(router, "glance", noted)
    turns = router.Turns(works.router, sent.extend, 0.5)
    assert [turns.take(), turns.take()] == [0.5, 0.5]
    assert asked == [False], "the first turn routes without asking"
    accept(app, said("I live in Lisbon."))
    assert turns.take() == 0.0
    assert asked == [False, True]
    assert [one.queue for one in sent] == ["cpu"]
    assert turns.take() == 0.5
    accept(app, said("I live in Porto."))
    turns.expect()
    assert turns.take() == 0.0
    assert asked == [False, True]


def test_an_idle_router_notices_edited_rules_and_debounces_that_end(app: Database, works: Works) -> None:
    turns = router.Turns(works.router, lambda _: None, 0.5)
    turns.take()
    turns.take()
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="late", event_type="order.placed", actions=[RUN]), author="test")
    works.router.book.expect([])
    turns.take()
    assert works.router.book.of(TENANT).get("late") is not None


def test_a_router_that_hears_hints_rests_longer_unless_something_goes_on(app: Database, works: Works) -> None:
    turns = router.Turns(works.router, lambda _: None, 0.5, lambda: True)
    assert [turns.take(), turns.take()] == [0.5, IDLE_POLLS * 0.5]
    accept(app, said("I live in Lisbon."))
    assert [turns.take(), turns.take()] == [0.0, 0.5]
    assert turns.take() == 0.5, "its dispatch is open: what that emits comes without a hint"
    with works.router.db.queue() as tx:
        tx.execute(text("UPDATE dispatches SET status = 'done', wake_at = NULL, ended_at = clock_timestamp()"))
    assert turns.take() == IDLE_POLLS * 0.5
    deaf = router.Turns(works.router, lambda _: None, 0.5, lambda: False)
    assert [deaf.take(), deaf.take()] == [0.5, 0.5]


def test_a_router_that_rests_is_there_when_a_debounce_ends(app: Database, works: Works) -> None:
    save(app, a_document(name="waits", event_type="a", flow={"debounce": {"seconds": 1}}, actions=[RUN]))
    turns = router.Turns(works.router, lambda _: None, 0.5, lambda: True)
    accept(app, event(event_type="a"))
    turns.take()
    turns.take()
    assert 0.5 < turns.take() <= 1.0
