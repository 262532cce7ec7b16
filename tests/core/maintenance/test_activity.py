from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import text

from core.maintenance import activity, memory_stats
from core.maintenance.activity import Activity
from core.storage.db import Database
from core.types import DispatchStatus
from tests.samples import TENANT, accept, event, said
from tests.workers.dispatch.owing import owe

NOW = datetime.now(UTC)


def counted(app: Database, user: str | None = None) -> Activity:
    with app.tenant(TENANT) as tx:
        return activity.of(tx, user, NOW)


def test_events_are_counted_by_type_and_those_of_one_user_if_one_is_named(app: Database) -> None:
    accept(app, said("Hello."), said("Hi.", user="bob"), event("order.placed", {"user_id": "bob"}))
    assert counted(app).events == {"message.added": 2, "order.placed": 1}
    assert counted(app, "ada").events == {"message.added": 1}
    assert counted(app, "cem").events == {}


def test_dispatches_are_counted_by_target_and_status(app: Database) -> None:
    for status in (DispatchStatus.DONE, DispatchStatus.DONE, DispatchStatus.DEAD):
        owe(app, status=status)
    owe(app, "notifier", status=DispatchStatus.DONE)
    assert counted(app).dispatches == [
        {"target": "agent", "status": "dead", "count": 1},
        {"target": "agent", "status": "done", "count": 2},
        {"target": "notifier", "status": "done", "count": 1},
    ]


def test_searches_of_the_last_days_are_added_up_as_the_service_announced_them(app: Database) -> None:
    recalled = {"user_id": "ada", "session_id": "s1"}
    accept(app, *(event("memory.recalled", {**recalled, "searches": n}, source="shop") for n in (2, 3, "many")))
    accept(app, event("memory.recalled", {**recalled, "user_id": "bob", "searches": 7}, source="shop"))
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET time = :now"), {"now": NOW})
    assert counted(app).recalls == 0, "another service may not say so"
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE events SET source = 'imprint'"))
    assert (counted(app).recalls, counted(app, "ada").recalls) == (12, 5)
    with app.tenant(TENANT) as tx:
        long_ago = NOW - timedelta(days=memory_stats.DAYS, seconds=1)
        tx.execute(text("UPDATE events SET time = :then"), {"then": long_ago})
    assert counted(app).recalls == 0


def test_decisions_are_counted_by_rule_and_verdict(app: Database) -> None:
    one, other = (accept(app, event()).last_seq for _ in range(2))
    statement = """
        INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict) VALUES (:tenant, :seq, :rule, 1, :verdict)
    """
    rows = [(one, "r", "fired"), (other, "r", "fired"), (one, "s", "held")]
    with app.tenant(TENANT) as tx:
        for seq, rule, verdict in rows:
            tx.execute(text(statement), {"tenant": TENANT, "seq": seq, "rule": rule, "verdict": verdict})
    assert counted(app).decisions == [
        {"rule": "r", "verdict": "fired", "count": 2},
        {"rule": "s", "verdict": "held", "count": 1},
    ]
