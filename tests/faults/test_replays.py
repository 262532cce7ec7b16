"""A replay decides and acts once, whatever is killed while it runs."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from bench.stand import Stand, stack
from core.types import Json
from tests.faults.stand import FAULT, IMPATIENT, eventually, found, kill_group, pid

pytestmark = FAULT

EVENTS = 500
USERS = 7
EMIT: Json = {"action_type": "emit", "event_type": "order.seen", "payload": {"n": "{{payload.n}}"}}
RULES: list[Json] = [
    {"name": "seen", "event_type": "order.placed", "actions": [EMIT]},
    {
        "name": "bursts",
        "event_type": "order.placed",
        "flow": {"debounce": {"seconds": 60, "max_events": 9, "key": ["payload.user_id"]}},
        "actions": [EMIT | {"event_type": "burst.seen"}],
    },
]


@pytest.fixture(scope="module")
def stand() -> Iterator[Stand]:
    with stack(**IMPATIENT) as running:
        yield running


def happened(stand: Stand) -> None:
    """Orders of yesterday, on which no rule acted."""
    begin = datetime(2026, 11, 20, 9, tzinfo=UTC)
    orders = [
        {
            "id": f"o{n}",
            "event_type": "order.placed",
            "source": "shop",
            "time": (begin + timedelta(seconds=5 * n + 300 * (n // 50))).isoformat(),
            "payload": {"user_id": f"u{n % USERS}", "n": n},
        }
        for n in range(EVENTS)
    ]
    for first in range(0, EVENTS, 500):
        token = stand.call("POST", "/v1/events", orders[first : first + 500])["settle_token"]
    stand.settle(token)


def test_a_live_replay_acts_once_while_workers_the_router_and_the_database_are_killed(
    stand: Stand, rows: Engine
) -> None:
    happened(stand)
    for rule in RULES:
        stand.call("POST", "/v1/rules", rule)
    asked = {"filter": {"types": ["order.placed"]}, "rules": ["seen", "bursts"], "mode": "live"}
    plan = stand.call("POST", "/v1/events/replay", asked | {"mode": "plan"})
    begun = stand.call("POST", "/v1/events/replay", asked)
    path = f"/v1/events/replays/{begun['id']}"
    for victim in ("worker-cpu", "worker-io", "router"):
        before = eventually(lambda: stand.call("GET", path))["decided"]
        eventually(lambda before=before: stand.call("GET", path)["decided"] > before or ended(stand, path))
        kill_group(stand, victim)
    old = pid(stand, "postgres")
    os.kill(old, signal.SIGKILL)
    eventually(lambda: pid(stand, "postgres") != old)
    standing = eventually(lambda: ended(stand, path))
    assert standing["decided"] == EVENTS
    eventually(lambda: stand.call("GET", f"/v1/settle?token={standing['settle_token']}&timeout=5")["settled"])
    assert_as_planned(rows, plan, standing["id"])


def ended(stand: Stand, path: str) -> Json | None:
    standing: Json = stand.call("GET", path)
    return standing if standing["status"] == "done" else None


def assert_as_planned(rows: Engine, plan: Json, replay_id: str) -> None:
    """Each event was decided once by each rule, each action was done once, and no burst was cut in another way."""
    decided = found(
        rows,
        "SELECT rule, count(*) AS times, count(DISTINCT event_seq) AS events FROM replay_decisions "
        "WHERE replay_id = :id GROUP BY 1",
        id=replay_id,
    )
    assert {row.rule: (row.times, row.events) for row in decided} == dict.fromkeys(("seen", "bursts"), (EVENTS, EVENTS))
    seen = found(
        rows,
        "SELECT event_type, count(*) AS times, count(DISTINCT causation_id) AS events FROM events "
        "WHERE event_type = 'order.seen' GROUP BY 1",
    )
    assert [(row.times, row.events) for row in seen] == [(EVENTS, EVENTS)]
    bursts = found(
        rows,
        "SELECT params -> 'gathered' AS ids, status FROM dispatches WHERE rule = 'bursts' AND replay_id = :id",
        id=replay_id,
    )
    handed_on = Counter(event_id for row in bursts for event_id in row.ids)
    assert (len(handed_on), set(handed_on.values()), {row.status for row in bursts}) == (EVENTS, {1}, {"done"})
    fired = {rule["rule"]: rule["fired"] for rule in plan["rules"]}
    assert (fired["seen"], fired["bursts"]) == (EVENTS, len(bursts))
    assert found(rows, "SELECT count(*) AS n FROM events WHERE event_type = 'burst.seen'")[0].n == len(bursts)
    assert found(rows, "SELECT count(*) AS n FROM events WHERE event_type = 'replay.completed'")[0].n == 1


def test_a_request_that_is_repeated_while_the_api_is_killed_begins_one_replay(stand: Stand, rows: Engine) -> None:
    before = found(rows, "SELECT count(*) AS n FROM events WHERE event_type = 'order.seen'")[0].n
    asked = {"filter": {"types": ["order.placed"]}, "rules": ["seen"], "mode": "live", "limit": 50}

    def begin() -> Json:
        answer = stand.http.post("/v1/events/replay", json=asked, headers={"Idempotency-Key": "one"})
        answer.raise_for_status()
        return dict(answer.json())

    ids = {eventually(begin)["id"]}
    kill_group(stand, "api")
    time.sleep(0.5)
    ids |= {eventually(begin)["id"] for _ in range(3)}
    [replay_id] = ids
    standing = eventually(lambda: ended(stand, f"/v1/events/replays/{replay_id}"))
    stand.settle(standing["settle_token"])
    assert found(rows, "SELECT count(*) AS n FROM events WHERE event_type = 'order.seen'")[0].n == before + 50
