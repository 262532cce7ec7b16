"""Real clocks that are killed while they look at an alarm of many users."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from contextlib import ExitStack

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.types import Json
from rules.registry import store
from tests.faults.stand import FAULT, eventually
from tests.forked import forked
from tests.rules.samples import an_alarm
from tests.samples import TENANT, accept_all, event

pytestmark = FAULT

USERS = 1_500
ORDERS: Json = {"of": "events", "event_type": "order.placed", "within_seconds": 86_400}


@pytest.fixture(autouse=True)
def silent_users(app: Database, queue: Database) -> None:
    """An alarm of each user who has placed an order within the day, and no other rule with a time table."""
    document = an_alarm(
        "ordered",
        schedule={"every_seconds": 60, "for_each": "user"},
        counts={"orders": ORDERS},
        conditions={"field": "count.orders", "op": ">", "value": 0},
    )
    with app.tenant(TENANT) as tx:
        for stored in store.in_force(tx):
            if "schedule" in stored.document:
                store.delete(tx, TENANT, stored.name, author="test")
        store.save(tx, TENANT, document, author="test")
    accept_all(app, [event(payload={"user_id": f"user-{n}"}) for n in range(USERS)])
    change(queue, "UPDATE events SET received_at = received_at - interval '1 hour'")


def change(queue: Database, statement: str) -> None:
    with queue.queue() as tx:
        tx.execute(text(statement))


def announced(queue: Database, kind: str) -> Counter[str]:
    query = text("SELECT user_id, count(*) FROM events WHERE event_type = :kind GROUP BY 1")
    with queue.queue() as tx:
        return Counter({row.user_id: row.count for row in tx.execute(query, {"kind": kind})})


def kill_clocks_until(told: dict[str, str], queue: Database, kind: str) -> None:
    """Have two clocks look again and again, and kill both after a moment, until all users are announced."""
    chance = random.Random(7)

    def round_() -> bool:
        change(queue, "UPDATE schedules SET fired_to = fired_to - interval '2 minutes'")
        with ExitStack() as running:
            processes = [running.enter_context(forked(told, "workers", "clock")) for _ in range(2)]
            time.sleep(chance.uniform(0.2, 1))
            for process in processes:
                os.kill(process.pid, signal.SIGKILL)
        return len(announced(queue, kind)) == USERS

    eventually(round_)


def test_each_edge_of_each_user_is_announced_once(environment: dict[str, str], app: Database, queue: Database) -> None:
    kill_clocks_until(environment, queue, "alarm.raised")
    change(queue, "UPDATE events SET received_at = received_at - interval '2 days' WHERE event_type = 'order.placed'")
    kill_clocks_until(environment, queue, "alarm.cleared")
    assert set(announced(queue, "alarm.raised").values()) == {1}
    assert set(announced(queue, "alarm.cleared").values()) == {1}
    with queue.queue() as tx:
        assert tx.execute(text("SELECT count(*) FROM alarms WHERE raised_at IS NOT NULL")).scalar_one() == 0
