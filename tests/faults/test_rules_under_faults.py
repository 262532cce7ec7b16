"""Rules keep their word while routers, clocks, workers and servers are killed beside others of their kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, text

from bench.stand import Stand, stack
from core.types import Json
from tests.faults.stand import FAULT, IMPATIENT, eventually, found, kill_group, pid, rules_in_force

pytestmark = FAULT

BATCHES, BATCH = 30, 50
KEYS = 5
BURST = timedelta(seconds=1)
"""How long the cooldown and the throttle below look back."""


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(**IMPATIENT) as running:
        yield running


@contextmanager
def another(stand: Stand, process: str) -> Iterator[subprocess.Popen[bytes]]:
    """One more process of a kind, on the servers of the stack."""
    settings = {f"IMPRINT_{name.upper()}": value for name, value in IMPATIENT.items()}
    # The stack has written where its servers are into its home.
    environment = {**os.environ, **settings, "IMPRINT_HOME": str(stand.home), "IMPRINT_METRICS_PORT": "0"}
    with (stand.home / f"second-{process}.log").open("wb") as log:
        started = subprocess.Popen([sys.executable, "-m", "workers", process], env=environment, stdout=log, stderr=log)
        try:
            yield started
        finally:
            started.kill()
            started.wait(10)


def put(stand: Stand, name: str, **fields: Any) -> None:
    emit = {"action_type": "emit", "event_type": f"done.{name}", "payload": {"user_id": "{{payload.user_id}}"}}
    document = {"event_type": "load.came", "actions": [emit], **fields}
    stand.call("PUT", f"/v1/rules/{name}", {name: value for name, value in document.items() if value is not None})


def publish(stand: Stand, batch: list[Json]) -> str:
    token: str = eventually(lambda: stand.call("POST", "/v1/events", batch))["settle_token"]
    return token


def settled(stand: Stand, token: str, *, flush: bool = False) -> None:
    asked = f"/v1/settle?token={token}&timeout=5&flush={str(flush).lower()}"
    eventually(lambda: stand.call("GET", asked)["settled"])


def some(event_type: str, source: str, first: int, count: int) -> list[Json]:
    return [
        {
            "id": f"{source}-{n}",
            "event_type": event_type,
            "source": source,
            "payload": {"user_id": f"u{n % KEYS}", "n": n},
        }
        for n in range(first, first + count)
    ]


def test_flows_are_exact_while_routers_are_killed(stand: Stand, rows: Engine) -> None:
    key = ["payload.user_id"]
    put(stand, "waits", flow={"debounce": {"seconds": 0.2, "max_wait_seconds": 1, "key": key}})
    put(stand, "counts", flow={"count": {"threshold": 7, "key": key}})
    put(stand, "cools", flow={"cooldown": {"seconds": 1, "key": key}})
    put(stand, "throttles", flow={"throttle": {"limit": 3, "per_seconds": 1, "key": key}})
    put(stand, "plain")
    rules_in_force(stand)
    source = f"load-{uuid.uuid4().hex[:8]}"
    with ThreadPoolExecutor(4) as crowd:
        sent = [crowd.submit(publish, stand, some("load.came", source, n * BATCH, BATCH)) for n in range(BATCHES)]
        for _ in range(2):
            with another(stand, "router") as second:
                time.sleep(2.5)
                kill_group(stand, "router")
                time.sleep(0.7)
                second.kill()
        tokens = [one.result() for one in sent]
    for token in tokens:
        settled(stand, token, flush=True)
    assert_each_decided_once(rows, source)
    assert_handed_on_once(rows, source)
    assert_within_limits(rows)


def assert_each_decided_once(rows: Engine, source: str) -> None:
    """Every event met every rule once, and the rule that nothing holds back has acted once on each."""
    decided = found(
        rows,
        """
        SELECT d.rule, count(*) AS decisions, count(DISTINCT e.seq) AS events
        FROM events e JOIN decisions d ON d.tenant_id = e.tenant_id AND d.event_seq = e.seq
        WHERE e.source = :source GROUP BY 1
        """,
        source=source,
    )
    total = BATCHES * BATCH
    names = ("waits", "counts", "cools", "throttles", "plain")
    assert {row.rule: (row.decisions, row.events) for row in decided} == dict.fromkeys(names, (total, total))
    done = found(rows, "SELECT count(*), count(DISTINCT causation_id) FROM events WHERE event_type = 'done.plain'")
    assert [tuple(row) for row in done] == [(total, total)]


def assert_handed_on_once(rows: Engine, source: str) -> None:
    """What was gathered was handed to one action, together and in order; a count keeps only what is below it."""
    for rule, kept in (("waits", 0), ("counts", KEYS * (BATCHES * BATCH // KEYS % 7))):
        gathered = [row.params["gathered"] for row in found(rows, _GATHERED, rule=rule)]
        handed_on = Counter(event_id for ids in gathered for event_id in ids)
        assert set(handed_on.values()) == {1}
        places = {row.id: row.seq for row in found(rows, "SELECT id, seq FROM events WHERE source = :s", s=source)}
        assert all(places[a] < places[b] for ids in gathered for a, b in pairwise(ids))
        waiting = sum(row.gathered for row in found(rows, "SELECT gathered FROM flows WHERE rule = :rule", rule=rule))
        assert (waiting, len(handed_on)) == (kept, len(places) - kept)
        assert rule == "waits" or {len(ids) for ids in gathered} == {7}


def assert_within_limits(rows: Engine) -> None:
    """Read from when the dispatches were written, which is just after the moment that the flow went by."""
    slack = timedelta(milliseconds=500)
    for rule, limit in (("cools", 1), ("throttles", 3)):
        by_user: dict[str, list[datetime]] = {}
        for row in found(rows, _ACTED, rule=rule):
            by_user.setdefault(row.user_id, []).append(row.created_at)
        assert len(by_user) == KEYS
        for times in by_user.values():
            assert all(later - earlier > BURST - slack for earlier, later in zip(times, times[limit:], strict=False))


_GATHERED = "SELECT params FROM dispatches WHERE rule = :rule"

_ACTED = """
    SELECT e.user_id, d.created_at FROM dispatches d
    JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    WHERE d.rule = :rule ORDER BY d.created_at
"""


def test_chains_lanes_and_approvals_outlive_workers_the_database_and_an_emptied_broker(
    stand: Stand, rows: Engine
) -> None:
    steps = [{"action_type": "emit", "event_type": f"step.{n}", "payload": {"n": "{{payload.n}}"}} for n in range(4)]
    lane = {"concurrency": {"limit": 1, "key": ["payload.user_id"]}}
    put(stand, "chained", event_type="chain.came", actions=steps, flow=lane)
    put(stand, "careful", event_type="chain.came", actions=steps[:2], action_mode="approve")
    rules_in_force(stand)
    token = publish(stand, some("chain.came", "chains", 0, 60))
    for name in ("worker-cpu", "worker-io"):
        time.sleep(0.3)
        kill_group(stand, name)
    with redis.Redis.from_url(_broker_url(stand)) as broker:
        broker.flushall()
    eventually(lambda: len(held(stand)) == 60)
    with ThreadPoolExecutor(4) as crowd:
        list(crowd.map(lambda one: stand.call("POST", f"/v1/dispatches/{one}/approve"), held(stand)[:30]))
    before = pid(stand, "postgres")
    os.kill(before, signal.SIGKILL)
    eventually(lambda: pid(stand, "postgres") != before)
    settled(stand, token)
    for rule, done in (("chained", 60), ("careful", 30)):
        ended = found(rows, _ENDED, rule=rule)
        assert Counter(len(row.statuses) for row in ended) == {len(steps) if rule == "chained" else 2: 60}
        assert sum(set(row.statuses) == {"done"} for row in ended) == done
        assert all(row.ends == sorted(row.ends) for row in ended), "each after the one before it"
    emitted = found(rows, "SELECT event_type, count(*) AS n FROM events WHERE event_type LIKE 'step.%' GROUP BY 1")
    assert {row.event_type: row.n for row in emitted} == {"step.0": 90, "step.1": 90, "step.2": 60, "step.3": 60}


_ENDED = """
    SELECT array_agg(status ORDER BY id) AS statuses,
           coalesce(array_agg(ended_at ORDER BY id) FILTER (WHERE status = 'done'), '{}') AS ends
    FROM dispatches WHERE rule = :rule GROUP BY event_seq
"""


def held(stand: Stand) -> list[str]:
    items = stand.call("GET", "/v1/dispatches?rule=careful&hold=approval&limit=500")["items"]
    return [one["id"] for one in items]


def test_a_schedule_reaches_every_user_once_though_clocks_are_killed_halfway(stand: Stand, rows: Engine) -> None:
    users = 300
    began = [
        {"event_type": "session.started", "source": "fan", "payload": {"session_id": f"fan-{n}", "user_id": f"fan-{n}"}}
        for n in range(users)
    ]
    settled(stand, publish(stand, began))
    put(stand, "everyone", event_type=None, schedule={"every_seconds": 2, "for_each": "user"})
    with another(stand, "clock"), another(stand, "clock"):
        for number in range(1, 4):
            eventually(partial(reached, rows, number))
            kill_group(stand, "router")  # The stack's clock is a thread of it.
            # While it, or another, is on its way through the users.
            eventually(lambda: runs(stand, "router"))
        eventually(partial(reached, rows, 4))
    stand.call("PATCH", "/v1/rules/everyone", {"enabled": False})
    *complete, _last = ticks_of(rows)
    assert {tick.events for tick in complete} == {users}


def reached(rows: Engine, number: int) -> bool:
    return len(ticks_of(rows)) >= number


def ticks_of(rows: Engine) -> list[Any]:
    """How many users each due time has reached, oldest first."""
    query = """
        SELECT payload ->> 'due_at' AS due, count(*) AS events FROM events
        WHERE event_type = 'clock.ticked' AND user_id LIKE 'fan-%' GROUP BY 1 ORDER BY 1
    """
    return found(rows, query)


def runs(stand: Stand, name: str) -> bool:
    os.kill(pid(stand, name), 0)  # It would raise.
    return True


def _broker_url(stand: Stand) -> str:
    return (stand.home / "run" / "stack.json").read_text().split('"broker_url": "')[1].split('"')[0]


RUSH: Json = {
    "schedule": {"every_seconds": 60},
    "counts": {"orders": {"of": "events", "event_type": "order.placed", "within_seconds": 600}},
    "conditions": {"field": "count.orders", "op": ">=", "value": 3},
    "actions": [{"action_type": "emit", "event_type": "rush.began", "payload": {"n": "{{payload.counts.orders}}"}}],
}
OVER: Json = {
    "event_type": "alarm.cleared",
    "conditions": {"field": "payload.rule", "op": "==", "value": "rush"},
    "actions": [{"action_type": "emit", "event_type": "rush.ended", "payload": {"since": "{{payload.raised_at}}"}}],
}


def change(rows: Engine, statement: str) -> None:
    with rows.begin() as tx:
        tx.execute(text(statement))


def looked_at(stand: Stand) -> str | None:
    items = stand.call("GET", "/v1/alarms?rule=rush")["items"]
    return items[0]["looked_at"] if items else None


def look_with_another_clock(stand: Stand, rows: Engine) -> None:
    """Let two minutes pass, kill the clock, and wait until the next one has looked at the alarm."""
    change(rows, "UPDATE schedules SET fired_to = fired_to - interval '2 minutes' WHERE rule = 'rush'")
    change(rows, "UPDATE alarms SET looked_at = looked_at - interval '2 minutes' WHERE rule = 'rush'")
    before = looked_at(stand)
    kill_group(stand, "router")  # The stack's clock is a thread of it.
    eventually(lambda: looked_at(stand) not in {before, None})


def payloads(stand: Stand, kind: str) -> list[Json]:
    return [event["payload"] for event in stand.call("GET", f"/v1/events?type={kind}&limit=100")["items"]]


def test_an_alarm_begins_and_ends_once_though_its_clock_is_killed_again_and_again(stand: Stand, rows: Engine) -> None:
    stand.call("PUT", "/v1/rules/rush", RUSH)
    stand.call("PUT", "/v1/rules/rush_is_over", OVER)
    rules_in_force(stand)
    eventually(lambda: found(rows, "SELECT FROM schedules WHERE rule = 'rush'"))
    settled(stand, publish(stand, some("order.placed", "shop", 0, 3)))
    change(rows, "UPDATE events SET received_at = now() - interval '4 minutes' WHERE event_type = 'order.placed'")
    for _ in range(2):
        look_with_another_clock(stand, rows)
    [beginning] = eventually(lambda: payloads(stand, "alarm.raised"))
    [raised] = stand.call("GET", "/v1/alarms?raised=true")["items"]
    assert (raised["rule"], raised["counts"]) == ("rush", {"orders": 3})
    eventually(lambda: payloads(stand, "rush.began"))
    trace = stand.call("GET", f"/v1/events/rush@{beginning['due_at']}@raised/trace")
    [considered] = [rule for rule in trace["rules"] if rule["rule"] == "rush"]
    assert (considered["verdict"], considered["tree"]["actual"]) == ("fired", 3)
    change(rows, "UPDATE events SET received_at = now() - interval '15 minutes' WHERE event_type = 'order.placed'")
    for _ in range(2):
        look_with_another_clock(stand, rows)
    assert eventually(lambda: payloads(stand, "rush.ended")) == [{"since": beginning["due_at"]}]
    assert payloads(stand, "rush.began") == [{"n": 3}]
    assert [len(payloads(stand, f"alarm.{edge}")) for edge in ("raised", "cleared")] == [1, 1]
    assert stand.call("GET", "/v1/alarms?raised=true")["items"] == []
