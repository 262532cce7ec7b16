"""Alarms: what begins and ceases to hold is announced once, whoever looks."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from rules.document.schema import parse
from rules.document.timing import Schedule
from rules.engine import counts
from rules.engine.counts import DailyBudget, Look
from rules.flow import alarms, schedules
from rules.flow.alarms import Edge
from rules.flow.schedules import Fired, Scheduled
from rules.registry import store
from rules.registry.live_rules import LiveRules
from tests.rules.samples import an_alarm
from tests.samples import TENANT, accept_all, event

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ORDERS: Json = {"orders": {"of": "events", "event_type": "order.placed", "within_seconds": 300}}
MANY: Json = {"field": "count.orders", "op": ">=", "value": 3}
FEW: Json = {"field": "count.orders", "op": "==", "value": 0}


def save(app: Database, name: str = "rush", **fields: Any) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, an_alarm(name, **{"counts": ORDERS, "conditions": MANY} | fields), author="test")


def scheduled(queue: Database, name: str = "rush") -> Scheduled:
    book = LiveRules(0)
    with queue.queue() as tx:
        book.refresh(tx)
    return next(rule for rule in schedules.of_all(book.sets) if rule.rule.name == name)


def look(queue: Database, now: datetime, known: Scheduled | None = None) -> Fired | None:
    rule = known or scheduled(queue)
    with queue.queue() as tx:
        return alarms.fire(tx, rule, now, DailyBudget())


def orders(app: Database, queue: Database, at: datetime, count: int, **fields: Any) -> None:
    """Orders that were accepted at a moment."""
    accept_all(app, [event("order.placed", **fields) for _ in range(count)])
    with queue.queue() as tx:
        tx.execute(
            text("UPDATE events SET received_at = :at WHERE received_at > now() - interval '1 hour'"), {"at": at}
        )


def said(queue: Database) -> list[tuple[str, Json]]:
    with queue.queue() as tx:
        rows = tx.execute(
            text("SELECT id, event_type, payload FROM events WHERE event_type LIKE 'alarm.%' ORDER BY seq")
        )
        return [(row.id, row.payload) for row in rows]


def rows(queue: Database) -> list[Any]:
    with queue.queue() as tx:
        return list(tx.execute(text("SELECT * FROM alarms ORDER BY rule, key")))


def test_an_alarm_is_raised_once_and_cleared_once(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON + MINUTE, 3)
    assert look(queue, NOON + MINUTE) == Fired(1, NOON + 2 * MINUTE)
    assert look(queue, NOON + 2 * MINUTE) == Fired(0, NOON + 3 * MINUTE), "it holds still, which is no news"
    assert look(queue, NOON + 7 * MINUTE) == Fired(1, NOON + 8 * MINUTE)
    assert look(queue, NOON + 8 * MINUTE) == Fired(0, NOON + 9 * MINUTE)
    beginning: Json = {"rule": "rush", "version": 1, "due_at": "2026-11-21T12:01:00Z", "counts": {"orders": 3}}
    end: Json = beginning | {"due_at": "2026-11-21T12:07:00Z", "counts": {"orders": 0}}
    assert said(queue) == [
        ("rush@2026-11-21T12:01:00Z@raised", beginning),
        ("rush@2026-11-21T12:07:00Z@cleared", end | {"raised_at": "2026-11-21T12:01:00Z", "reason": "over"}),
    ]


def test_a_new_alarm_is_looked_at_from_now_on(app: Database, queue: Database) -> None:
    orders(app, queue, NOON, 5)
    save(app)
    assert look(queue, NOON) == Fired(0, NOON + MINUTE)
    assert rows(queue) == []


def test_the_row_of_the_tenant_has_the_last_look(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 2)
    look(queue, NOON + MINUTE)
    [row] = rows(queue)
    assert (row.key, row.for_each, row.raised_at, row.looked_at) == ("", "tenant", None, NOON + MINUTE)
    assert (row.counts, row.partial, row.version) == ({"orders": 2}, False, 1)


def test_an_alarm_with_conditions_of_its_end_does_not_flap(app: Database, queue: Database) -> None:
    save(app, clears=FEW)
    look(queue, NOON)
    orders(app, queue, NOON, 2)
    orders(app, queue, NOON + MINUTE, 1)
    look(queue, NOON + MINUTE)
    assert look(queue, NOON + 5 * MINUTE) == Fired(0, NOON + 6 * MINUTE), "two have left, one is there"
    assert look(queue, NOON + 6 * MINUTE) == Fired(1, NOON + 7 * MINUTE)
    assert [name.rpartition("@")[2] for name, _ in said(queue)] == ["raised", "cleared"]


def test_each_source_has_an_alarm_of_its_own(app: Database, queue: Database) -> None:
    save(app, schedule={"every_seconds": 60, "for_each": "source"})
    look(queue, NOON)
    orders(app, queue, NOON, 3, source="shop")
    orders(app, queue, NOON, 2, source="stall")
    look(queue, NOON + MINUTE)
    orders(app, queue, NOON + 4 * MINUTE, 3, source="stall")
    look(queue, NOON + 5 * MINUTE)
    assert [(name[5:30], payload["source"], payload["counts"]) for name, payload in said(queue)] == [
        ("2026-11-21T12:01:00Z@rais", "shop", {"orders": 3}),
        ("2026-11-21T12:05:00Z@clea", "shop", {"orders": 0}),
        ("2026-11-21T12:05:00Z@rais", "stall", {"orders": 3}),
    ]
    assert not any("shop" in name for name, _ in said(queue)), "ids stay where a user is erased"
    assert [(row.key, row.raised_at) for row in rows(queue)] == [("", None), ("stall", NOON + 5 * MINUTE)]


def test_who_fell_silent_is_told_of(app: Database, queue: Database) -> None:
    """More than zero within the day, none within the hour."""
    a_day: Json = {"of": "events", "event_type": "order.placed", "within_seconds": 86_400}
    silent: Json = {
        "all": [{"field": "count.lately", "op": "==", "value": 0}, {"field": "count.day", "op": ">", "value": 0}]
    }
    counted = {"day": a_day, "lately": a_day | {"within_seconds": 3600}}
    save(app, counts=counted, conditions=silent, schedule={"every_seconds": 60, "for_each": "user"})
    look(queue, NOON)
    orders(app, queue, NOON - 61 * MINUTE, 2, payload={"user_id": "ada"})
    orders(app, queue, NOON - 30 * MINUTE, 2, payload={"user_id": "bob"})
    look(queue, NOON + MINUTE)
    [(_, payload)] = said(queue)
    assert (payload["user_id"], payload["counts"]) == ("ada", {"day": 2, "lately": 0})


def test_two_clocks_announce_an_edge_once(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    rule, outcomes = scheduled(queue), list[Fired | None]()

    def run() -> None:
        outcomes.append(look(queue, NOON + MINUTE, rule))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(fired.events for fired in outcomes if fired) == 1
    assert len(said(queue)) == 1


def test_a_look_that_is_not_committed_has_announced_nothing(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    rule = scheduled(queue)
    with queue.queue() as tx:
        assert alarms.fire(tx, rule, NOON + MINUTE, DailyBudget()) == Fired(1, NOON + 2 * MINUTE)
        tx.rollback()
    assert (said(queue), rows(queue)) == ([], [])
    assert look(queue, NOON + MINUTE) == Fired(1, NOON + 2 * MINUTE)


def test_of_several_missed_looks_the_latest_counts(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    look(queue, NOON + 3.5 * MINUTE)
    assert [name for name, _ in said(queue)] == ["rush@2026-11-21T12:03:00Z@raised"]


def test_a_disabled_alarm_is_over(app: Database, queue: Database) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    look(queue, NOON + MINUTE)
    save(app, enabled=False)
    assert look(queue, NOON + 2 * MINUTE) == Fired(1, None), "it need not be looked at before it is edited"
    assert look(queue, NOON + 3 * MINUTE) == Fired(0, None)
    assert said(queue)[-1][1]["reason"] == "disabled"
    assert rows(queue) == []


@pytest.mark.parametrize("change", ["deleted", "no alarm", "other keys"])
def test_the_alarms_of_a_rule_that_is_gone_are_over(app: Database, queue: Database, change: str) -> None:
    save(app)
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    look(queue, NOON + MINUTE)
    with queue.queue() as tx:
        assert alarms.forget_gone(tx, NOON) == 0
    with app.tenant(TENANT) as tx:
        if change == "deleted":
            store.delete(tx, TENANT, "rush", author="test")
        elif change == "no alarm":
            document = an_alarm("rush")
            store.save(tx, TENANT, {name: document[name] for name in ("name", "schedule", "actions")}, author="test")
    if change == "other keys":
        save(app, schedule={"every_seconds": 60, "for_each": "user"})
    with queue.queue() as tx:
        assert [alarms.forget_gone(tx, NOON + 2 * MINUTE) for _ in range(2)] == [1, 0]
    assert said(queue)[-1][1]["reason"] == "changed"


def test_outside_of_its_time_an_alarm_is_not_looked_at(app: Database, queue: Database) -> None:
    save(app, starts_at=(NOON + 2 * MINUTE).isoformat(), ends_at=(NOON + 3 * MINUTE).isoformat())
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    assert [look(queue, NOON + minute * MINUTE) for minute in (1, 2)] == [
        Fired(0, NOON + 2 * MINUTE),
        Fired(1, NOON + 3 * MINUTE),
    ]


def test_a_count_that_takes_too_long_leaves_the_alarm_as_it_is(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(app, counts=ORDERS | {"spent": {"of": "budget"}})
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    look(queue, NOON + MINUTE)
    monkeypatch.setattr(alarms, "LOOK_SECONDS", 0.1)
    with app.tenant(TENANT) as tx, tx.begin_nested() as held:
        tx.execute(text("LOCK TABLE model_calls IN ACCESS EXCLUSIVE MODE"))
        assert look(queue, NOON + 7 * MINUTE) == Fired(0, NOON + 8 * MINUTE)
        held.rollback()
    assert [(row.partial, row.raised_at) for row in rows(queue)] == [(True, NOON + MINUTE)]
    monkeypatch.undo()
    assert look(queue, NOON + 8 * MINUTE) == Fired(1, NOON + 9 * MINUTE)


def test_an_alarm_is_over_when_its_rule_ends(app: Database, queue: Database) -> None:
    save(app, ends_at=(NOON + 1.5 * MINUTE).isoformat())
    look(queue, NOON)
    orders(app, queue, NOON, 3)
    assert look(queue, NOON + MINUTE) == Fired(1, NOON + 1.5 * MINUTE)
    assert look(queue, NOON + 1.5 * MINUTE) == Fired(1, None), "it need not be looked at before it is edited"
    assert look(queue, NOON + 2 * MINUTE) == Fired(0, None)
    assert said(queue)[-1][1]["reason"] == "ended"
    assert rows(queue) == []


def an_alarm_of(each: str = "source", **fields: Any) -> Scheduled:
    document = an_alarm(counts=ORDERS, conditions=MANY, schedule={"every_seconds": 60, "for_each": each}, **fields)
    rule = parse(document)
    return Scheduled(TENANT, rule, 1, rule.schedule or Schedule(every_seconds=60))


def test_where_rows_were_left_out_nothing_begins_or_ends() -> None:
    raised = {"stall": NOON}
    assert alarms.edges(an_alarm_of(), NOON, Look({"shop": {"orders": 9}}, partial=True), raised) == []
    assert alarms.edges(an_alarm_of(), NOON, Look({"shop": {"orders": 9}}), raised) == [
        Edge("shop", {"orders": 9}),
        Edge("stall", {"orders": 0}, NOON),
    ]


def test_a_key_of_which_nothing_is_counted_any_more_is_over_after_the_longest_period() -> None:
    rule = an_alarm_of(clears={"field": "count.orders", "op": ">", "value": 99})
    raised = {"shop": NOON}
    assert alarms.edges(rule, NOON + 5 * MINUTE, Look(), raised) == []
    counted = Look({"shop": {"orders": 1}})
    assert alarms.edges(rule, NOON + 6 * MINUTE, counted, raised) == [], "it does not clear, and something is counted"
    assert alarms.edges(rule, NOON + 6 * MINUTE, Look(), raised) == [Edge("shop", {"orders": 0}, NOON, "absent")]


def test_no_more_alarms_are_raised_than_keys_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MAX_KEYS", 2)
    look = Look({name: {"orders": 3} for name in "abc"})
    assert alarms.edges(an_alarm_of(), NOON, look, {}) == []
    assert look.partial
    look = Look({name: {"orders": 3} for name in "ab"})
    assert [edge.key for edge in alarms.edges(an_alarm_of(), NOON, look, {"z": NOON})] == ["z"], "it may be over"
    assert look.partial
    assert [edge.key for edge in alarms.edges(an_alarm_of(), NOON, Look({"b": {"orders": 3}}), {"z": NOON})] == [
        "b",
        "z",
    ]


def test_an_unknown_number_raises_nothing() -> None:
    assert alarms.edges(an_alarm_of("tenant"), NOON, Look({"": {"orders": None}}), {}) == []


def test_edges_beyond_the_limit_follow_at_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alarms, "EDGES", 2)
    look, raised = Look({name: {"orders": 3} for name in "abc"}), dict[str, datetime]()
    first = alarms.edges(an_alarm_of(), NOON, look, raised)
    raised = alarms.after(raised, first, NOON)
    second = alarms.edges(an_alarm_of(), NOON + MINUTE, look, raised)
    assert ([edge.key for edge in first], [edge.key for edge in second]) == (["a", "b"], ["c"])
