"""A backtest of an alarm says what its clock has said."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text

from core.errors import Invalid
from core.storage.db import Database
from core.types import Json
from rules.backtest import alarm_history, backtest, log_window
from rules.backtest.backtest import BacktestProgress
from rules.document.schema import parse
from rules.engine.counts import DailyBudget
from rules.flow import alarms, schedules
from rules.registry import store
from rules.registry.live_rules import LiveRules
from tests.rules.backtest.tried import install, steps, tried
from tests.rules.samples import NOON, an_alarm
from tests.samples import TENANT, accept_all, event

MINUTE = timedelta(minutes=1)
ORDERS: Json = {"of": "events", "event_type": "order.placed", "within_seconds": 300}
MANY: Json = {"field": "count.orders", "op": ">=", "value": 3}


def a_rush(each: str = "tenant", **fields: Any) -> Json:
    schedule = {"every_seconds": 60, "for_each": each}
    emit = {"action_type": "emit", "event_type": "rush.seen", "payload": {"n": "{{payload.counts.orders}}"}}
    return an_alarm("rush", schedule=schedule, counts={"orders": ORDERS}, conditions=MANY, actions=[emit]) | fields


def orders(app: Database, queue: Database) -> None:
    """Two rushes of one shop within half an hour, and one of another; some orders of neither."""
    moments = [(2, "shop"), (3, "shop"), (3, "stall"), (4, "shop"), (15, "stall"), (16, "stall"), (16, "stall"),
               (20, "shop"), (20, "shop"), (21, "shop"), (29, "stall")]  # fmt: skip
    accept_all(app, [event(source=source, id=f"o{n}") for n, (_, source) in enumerate(moments)])
    with queue.queue() as tx:
        for n, (minutes, _) in enumerate(moments):
            moment = NOON + minutes * MINUTE + timedelta(seconds=n)
            tx.execute(
                text("UPDATE events SET received_at = :at, time = :at WHERE id = :id"), {"at": moment, "id": f"o{n}"}
            )


def lived(queue: Database, until: datetime) -> list[tuple[str, str, Json]]:
    """What a clock announces that looks each minute from noon on."""
    book = LiveRules(0)
    with queue.queue() as tx:
        book.refresh(tx)
    [rule] = schedules.of_all(book.sets)
    now = NOON - MINUTE
    while now < until:
        with queue.queue() as tx:
            alarms.fire(tx, rule, now, DailyBudget())
        now += MINUTE
    with queue.queue() as tx:
        rows = tx.execute(text("SELECT * FROM events WHERE event_type LIKE 'alarm.%' ORDER BY seq"))
        return [(row.id, row.event_type, row.payload) for row in rows]


@pytest.mark.parametrize("each", ["tenant", "source"])
@pytest.mark.parametrize("clears", [None, {"field": "count.orders", "op": "==", "value": 0}])
def test_a_backtest_says_what_the_clock_has_said(
    app: Database, queue: Database, each: str, clears: Json | None
) -> None:
    document = a_rush(each) | ({} if clears is None else {"clears": clears})
    install(app, document)
    orders(app, queue)
    until = NOON + 30 * MINUTE
    live = lived(queue, until)
    result = tried(app, parse(document), since=NOON, until=until, samples=100)
    raised = [(name, payload["counts"]["orders"]) for name, kind, payload in live if kind == "alarm.raised"]
    assert len(raised) >= 2
    assert [(sample["events"], sample["actions"][0]["payload"]["n"]) for sample in result["samples"]] == [
        ([name], orders) for name, orders in raised
    ]
    cleared = sum(kind == "alarm.cleared" for _, kind, _ in live)
    assert result["fired"] == len(raised)
    assert result["alarm"] == {
        "looks": 30,
        "raised": len(raised),
        "cleared": cleared,
        "partial": 0,
        "standing": len(raised) - cleared,
    }


def test_an_edit_is_compared_with_the_alarm_in_force(app: Database, queue: Database) -> None:
    install(app, a_rush())
    orders(app, queue)
    more = {"field": "count.orders", "op": ">=", "value": 4}
    result = tried(app, parse(a_rush(conditions=more)), since=NOON, until=NOON + 30 * MINUTE)
    compared = result["compared"]
    assert compared["both"] + compared["only_draft"] == result["fired"]
    assert compared["only_in_force"] == 2, "each was raised earlier"
    same = tried(app, parse(a_rush(description="The same.")), since=NOON, until=NOON + 30 * MINUTE)["compared"]
    assert (same["both"], same["only_draft"], same["only_in_force"]) == (2, 0, 0)


def test_nothing_is_written(app: Database, queue: Database) -> None:
    install(app)
    orders(app, queue)
    tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)
    with queue.queue() as tx:
        assert tx.execute(text("SELECT count(*) FROM alarms")).scalar_one() == 0
        assert tx.execute(text("SELECT count(*) FROM events WHERE event_type LIKE 'alarm.%'")).scalar_one() == 0


def test_another_tenants_orders_raise_nothing(app: Database, queue: Database) -> None:
    install(app)
    accept_all(app, [event() for _ in range(9)], tenant="other")
    with queue.queue() as tx:
        tx.execute(text("UPDATE events SET received_at = :at, time = :at"), {"at": NOON})
    assert tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)["fired"] == 0


def test_what_only_the_present_knows_is_said(app: Database) -> None:
    install(app)
    assert tried(app, parse(an_alarm()), since=NOON, until=NOON + MINUTE)["not_simulated"] == ["dispatches"]


def test_a_range_with_too_many_looks_is_refused(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    install(app)
    monkeypatch.setattr(alarm_history, "MAX_LOOKS", 29)
    with pytest.raises(Invalid, match="counts more than 29 times"):
        tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)
    three = {"counts": dict.fromkeys(("orders", "more", "most"), ORDERS)}
    with pytest.raises(Invalid, match="counts more than 29 times"):
        tried(app, parse(a_rush(**three)), since=NOON, until=NOON + 10 * MINUTE)
    with pytest.raises(Invalid, match="counts more than 29 times"):
        tried(app, parse(a_rush("user")), since=NOON, until=NOON + 3 * MINUTE)
    assert tried(app, parse(a_rush("user")), since=NOON, until=NOON + 2 * MINUTE)["alarm"]["looks"] == 2


def test_a_backtest_that_takes_too_long_ends_with_what_to_do(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    install(app)
    monkeypatch.setattr(alarm_history, "MAX_SECONDS", 0)
    with pytest.raises(Invalid, match="not counted beyond 2026-11-21T12:00"):
        tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)


def test_slow_looks_report_their_progress(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    install(app)
    monkeypatch.setattr(log_window, "PAGE_SECONDS", 0)
    monkeypatch.setattr(backtest, "REPORT_SECONDS", 0)
    *progress, _ = steps(app, parse(a_rush()), since=NOON, until=NOON + 5 * MINUTE)
    assert [step.events for step in progress if isinstance(step, BacktestProgress)] == [0, 1, 2, 3, 4, 5]


def test_saving_it_does_not_change_what_a_backtest_says(app: Database, queue: Database) -> None:
    install(app)
    orders(app, queue)
    before = tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)["by_day"]
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_rush(), author="test")
    assert tried(app, parse(a_rush()), since=NOON, until=NOON + 30 * MINUTE)["by_day"] == before
