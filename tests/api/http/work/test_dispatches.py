"""What people do to dispatches: say yes or no, call off, have tried again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.dispatches import retries as dispatch_retries
from core.storage.db import Database
from core.types import DispatchStatus, Event, Json
from rules.engine.ruleset import Ruleset
from tests.api.http.dispatching import (
    EMIT,
    NOTIFY,
    chain,
    events_of,
    owe,
    problem,
    save,
    shown,
    status_of,
    sweep,
)
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, ended, event
from tests.works import Works
from workers.dispatch import ledger
from workers.dispatch import sweep as workers_sweep
from workers.dispatch.model import Outcome
from workers.dispatch.relay import DispatchRef


def held(door: Doors, app: Database, works: Works) -> Json:
    """What a rule with approval has just asked for."""
    save(app, name="careful", action_mode="approve", actions=[NOTIFY, EMIT])
    accept(app, event(payload={"total": 12}, id="e1"))
    works.settle()
    (one,) = shown(door, status="held", hold="approval")
    return one


def test_what_waits_for_approval_says_what_it_would_do_why_and_who_may_decide(
    settings: Settings, door: Doors, app: Database, works: Works
) -> None:
    key_of(settings, TENANT, ("read", "write"))
    editor = key_of(settings, TENANT, ("rules",)).split(".")[2]
    one = held(door, app, works)
    assert (one["target"], one["params"]["template"], one["rule"], one["event_id"], one["event_type"]) == (
        "notifier",
        "Total: 12",
        "careful",
        "e1",
        "order.placed",
    )
    until = datetime.fromisoformat(one["expires_at"]) - datetime.now(UTC)
    assert timedelta(hours=23) < until < timedelta(hours=24)
    assert list(one["approval"]) == ["requested_at"]
    full = door.get(f"/v1/dispatches/{one['id']}").json()
    assert full.pop("edited_as") is None
    deciders = full.pop("may_decide")
    assert full == one
    admin = door.keys[TENANT].split(".")[2]
    assert {key["id"]: key["scopes"] for key in deciders} == {admin: ["admin"], editor: ["rules"]}


def test_what_is_approved_is_done_with_all_that_was_to_follow(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    one = held(door, app, works)
    answer = door.post(f"/v1/dispatches/{one['id']}/approve", {"comment": "go on"})
    assert (answer.status_code, answer.json()["status"], answer.json()["hold"]) == (200, "pending", None)
    sweep(works, queue)
    careful = shown(door, rule="careful")
    assert [(d["target"], d["status"]) for d in careful] == [("event_emitter", "done"), ("notifier", "done")]
    said = careful[1]["approval"]
    by = f"key:{door.keys[TENANT].split('.')[2]}"
    assert (said["verdict"], said["by"], said["comment"]) == ("approved", by, "go on")
    assert said["requested_at"] < said["at"]
    (decided,) = events_of(door, "approval.decided")
    assert decided["payload"] == {
        "dispatch_id": one["id"],
        "rule": "careful",
        "verdict": "approved",
        "by": by,
        "comment": "go on",
    }
    assert (decided["causation_id"], decided["correlation_id"], decided["hop"]) == ("e1", "e1", 1)
    assert "may_decide" not in door.get(f"/v1/dispatches/{one['id']}").json()


def test_what_is_rejected_is_not_done_nor_what_was_to_follow(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    one = held(door, app, works)
    answer = door.post(f"/v1/dispatches/{one['id']}/reject", {"comment": "too dear"}).json()
    assert (answer["status"], answer["approval"]["verdict"]) == ("cancelled", "rejected")
    assert answer["error"].endswith("too dear")
    sweep(works, queue)
    careful = shown(door, rule="careful")
    assert [d["status"] for d in careful] == ["cancelled", "cancelled"]
    assert one["id"] in careful[0]["error"]
    assert "too dear" in careful[0]["error"]
    assert [e["payload"]["verdict"] for e in events_of(door, "approval.decided")] == ["rejected"]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_the_same_word_twice_changes_nothing_and_the_other_word_is_refused(
    door: Doors, app: Database, works: Works, verdict: str
) -> None:
    one = held(door, app, works)
    opposite = {"approve": "reject", "reject": "approve"}[verdict]
    first = door.post(f"/v1/dispatches/{one['id']}/{verdict}")
    again = door.post(f"/v1/dispatches/{one['id']}/{verdict}", {"comment": "again"})
    assert (again.status_code, again.json()) == (200, first.json())
    detail = problem(door.post(f"/v1/dispatches/{one['id']}/{opposite}"), 409)
    assert first.json()["approval"]["by"] in detail
    assert first.json()["approval"]["at"][:16] in detail
    assert len(events_of(door, "approval.decided")) == 1


def test_of_many_who_decide_at_once_one_decides(door: Doors, app: Database, queue: Database, works: Works) -> None:
    """Six people at once, half of them against it: one verdict, one event, and it runs once or never."""
    one = held(door, app, works)
    together = threading.Barrier(6, timeout=20)

    def decide(number: int) -> tuple[str, int]:
        together.wait()
        word = ("approve", "reject")[number % 2]
        return word, door.post(f"/v1/dispatches/{one['id']}/{word}").status_code

    with ThreadPoolExecutor(6) as pool:
        answers = Counter(pool.map(decide, range(6)))
    (decided,) = events_of(door, "approval.decided")
    won, lost = ("approve", "reject") if decided["payload"]["verdict"] == "approved" else ("reject", "approve")
    assert answers == {(won, 200): 3, (lost, 409): 3}
    for _ in range(2):
        sweep(works, queue)
    row = door.get(f"/v1/dispatches/{one['id']}").json()
    assert (row["status"], row["attempt"]) == (("done", 1) if won == "approve" else ("cancelled", 0))


def test_once_the_time_is_over_nobody_can_decide(door: Doors, app: Database, queue: Database, works: Works) -> None:
    one = held(door, app, works)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET expires_at = now() - interval '1 second' WHERE hold = 'approval'"))
    assert "expired at" in problem(door.post(f"/v1/dispatches/{one['id']}/approve"), 409)
    with queue.queue() as tx:
        assert workers_sweep.expire(tx) == 1
    for word in ("approve", "reject"):
        assert "expired by clock" in problem(door.post(f"/v1/dispatches/{one['id']}/{word}"), 409)
    assert {d["status"] for d in shown(door, rule="careful")} == {"cancelled"}


def test_only_keys_for_rules_decide(settings: Settings, door: Doors, app: Database, works: Works) -> None:
    one = held(door, app, works)
    worker = key_of(settings, TENANT, ("read", "write", "publish"))
    for word in ("approve", "reject"):
        problem(door.post(f"/v1/dispatches/{one['id']}/{word}", key=worker), 403)
    problem(door.post(f"/v1/dispatches/{one['id']}/approve", tenant=OTHER), 404)
    assert status_of(door, one["id"]) == ["held"]
    editor = key_of(settings, TENANT, ("rules",))
    assert door.post(f"/v1/dispatches/{one['id']}/approve", key=editor).status_code == 200


def test_what_is_not_held_for_approval_cannot_be_approved(door: Doors, app: Database) -> None:
    first, second = chain(app, 2)
    for one in (first, second):
        assert "held for approval" in problem(door.post(f"/v1/dispatches/{one}/approve"), 409)
    problem(door.post(f"/v1/dispatches/{uuid4()}/approve"), 404)
    assert status_of(door, first, second) == ["pending", "held"]


@pytest.mark.parametrize("body", [{"comment": "x" * 2001}, {"comment": 1}, {"remark": "x"}, [], {"comment": "\x00"}])
def test_a_remark_that_is_none_decides_nothing(door: Doors, app: Database, works: Works, body: object) -> None:
    one = held(door, app, works)
    problem(door.post(f"/v1/dispatches/{one['id']}/approve", body), 422)
    assert status_of(door, one["id"]) == ["held"]


def test_what_has_not_begun_can_be_called_off_with_all_that_was_to_follow(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    first, second, third = chain(app, 3)
    answer = door.post(f"/v1/dispatches/{first}/cancel", {"comment": "no need"})
    assert (answer.status_code, answer.json()["status"]) == (200, "cancelled")
    assert "no need" in answer.json()["error"]
    assert status_of(door, first, second, third) == ["cancelled"] * 3
    assert door.post(f"/v1/dispatches/{first}/cancel").json() == answer.json()
    works.run([DispatchRef(TENANT, "io", UUID(first))])
    sweep(works, queue)
    assert status_of(door, first, second, third) == ["cancelled"] * 3


def test_one_in_the_middle_can_be_called_off(door: Doors, app: Database, works: Works) -> None:
    first, second, third = chain(app, 3)
    door.post(f"/v1/dispatches/{second}/cancel")
    assert status_of(door, first, second, third) == ["pending", "cancelled", "cancelled"]


@pytest.mark.parametrize("status", ["done", "dead", "shadow"])
def test_what_has_ended_cannot_be_called_off(door: Doors, app: Database, status: str) -> None:
    (one,) = owe(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = :status WHERE id = :id"), {"status": status, "id": one})
    assert status in problem(door.post(f"/v1/dispatches/{one}/cancel"), 409)
    assert status_of(door, one) == [status]


def test_a_dead_letter_that_is_tried_again_continues_its_chain(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    first, second = chain(app, 2)
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE dispatches SET params = \'{"channel": "none", "template": "x"}\''))
    works.run([DispatchRef(TENANT, "io", UUID(first))])
    assert status_of(door, first, second) == ["dead", "held"]
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE dispatches SET params = \'{"channel": "log", "template": "x"}\''))
    assert door.post(f"/v1/dispatches/{first}/retry").json()["status"] == "pending"
    sweep(works, queue)
    assert status_of(door, first, second) == ["done", "done"]


def replay(
    door: Doors, wanted: Json | None = None, limit: int = 100, *, dry_run: bool = False
) -> tuple[int, int, list[str]]:
    """How many fit, how many of them are tried again, and which."""
    answer = door.post("/v1/dispatches/replay", {"filter": wanted or {}, "limit": limit, "dry_run": dry_run})
    assert answer.status_code == 200, answer.text
    found = answer.json()
    return found["matched"], found["replayed"], found["ids"]


def dead(app: Database, number: int = 1, **fields: Any) -> list[str]:
    return owe(app, number, status=DispatchStatus.DEAD, **{"error": "Timeout after 10 s", **fields})


def test_dead_letters_are_tried_again_by_what_they_have_in_common(door: Doors, app: Database) -> None:
    late, no = dead(app, 3), dead(app, 2, error="404: no such hook")
    assert replay(door, {"error_contains": "timeout"}, dry_run=True) == (3, 0, late)
    assert status_of(door, *late) == ["dead"] * 3
    assert replay(door, {"error_contains": "timeout"}, 2) == (3, 2, late[:2])
    assert status_of(door, *late, *no) == ["pending", "pending", "dead", "dead", "dead"]
    assert replay(door, {"rule": "other"}) == replay(door, {"target": "event_emitter"}) == (0, 0, [])
    assert replay(door, {"rule": "r", "target": "notifier"})[:2] == (3, 3)
    assert replay(door) == (0, 0, [])


@pytest.mark.parametrize(
    "body", [{"filter": {"status": "done"}}, {"filter": {"from": "2026-11-21T12:00:00"}}, {"limit": 0}, {"filters": {}}]
)
def test_a_replay_that_asks_for_something_else_is_refused(door: Doors, app: Database, body: Json) -> None:
    (one,) = dead(app)
    problem(door.post("/v1/dispatches/replay", body), 422)
    assert status_of(door, one) == ["dead"]


def test_what_was_called_off_begins_again_in_its_order(
    door: Doors, app: Database, queue: Database, works: Works
) -> None:
    ids = chain(app, 3)
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE dispatches SET params = \'{"channel": "log", "template": "x"}\''))
    door.post(f"/v1/dispatches/{ids[0]}/cancel")
    assert replay(door, {"status": "cancelled"}) == (3, 3, ids)
    assert status_of(door, *ids) == ["pending", "held", "held"]
    sweep(works, queue)
    assert status_of(door, *ids) == ["done"] * 3


def test_what_begins_again_just_as_its_turn_comes_is_not_forgotten(door: Doors, app: Database, works: Works) -> None:
    first, second = chain(app, 2)
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE dispatches SET params = \'{"channel": "log", "template": "x"}\''))
    door.post(f"/v1/dispatches/{second}/cancel")
    job = ledger._claim(works.ledger, TENANT, UUID(first))
    assert job is not None
    with ThreadPoolExecutor(1) as pool:
        with app.tenant(TENANT) as tx:
            assert dispatch_retries.repeat(tx, [UUID(second)], DispatchStatus.CANCELLED)
            ending = pool.submit(ledger._finish, works.ledger, job, Outcome(), None)
            time.sleep(0.3)
        following, _ = ending.result(20)
    works.run(following)
    assert status_of(door, first, second) == ["done", "done"]


def test_a_no_stays_a_no(door: Doors, app: Database, works: Works) -> None:
    one = held(door, app, works)
    door.post(f"/v1/dispatches/{one['id']}/reject")
    assert replay(door, {"status": "cancelled"}) == (0, 0, [])
    problem(door.post(f"/v1/dispatches/{one['id']}/retry"), 409)
    assert {d["status"] for d in shown(door, rule="careful")} == {"cancelled"}


class Trap(RuntimeError):
    """What a broken rule raises."""


def undecided(door: Doors, app: Database, works: Works, monkeypatch: pytest.MonkeyPatch) -> Json:
    """The dead letter of an event on which the rules fail."""

    def broken(_self: Ruleset, _met: Event, *_: Any, **__: Any) -> Any:
        raise Trap("boom")

    accept(app, ended(message_count=3, id="e1"))
    with monkeypatch.context() as trap:
        trap.setattr(Ruleset, "decide", broken)
        works.settle()
    (letter,) = shown(door, status="dead")
    assert (letter["action_type"], letter["event_id"]) == ("decide", "e1")
    return letter


@pytest.mark.parametrize("way", ["retry", "replay"])
def test_an_event_that_the_rules_failed_on_is_decided_again(
    door: Doors, app: Database, works: Works, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    letter = undecided(door, app, works, monkeypatch)
    if way == "retry":
        assert door.post(f"/v1/dispatches/{letter['id']}/retry").json()["result"] == {"decided_again": True}
        problem(door.post(f"/v1/dispatches/{letter['id']}/retry"), 409)
    else:
        assert replay(door, {"target": "rules"}) == (1, 1, [letter["id"]])
        assert replay(door) == (0, 0, [])
    works.settle()
    made = [d for d in shown(door) if d["rule"] == "consolidate_on_session_end"]
    assert len(made) == 1
    assert status_of(door, letter["id"]) == ["done"]


def test_an_event_that_was_decided_is_never_decided_twice(
    door: Doors, app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = undecided(door, app, works, monkeypatch)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text(
                "INSERT INTO decisions (tenant_id, event_seq, rule, version, verdict) VALUES (:t, 1, 'r', 1, 'fired')"
            ),
            {"t": TENANT},
        )
    problem(door.post(f"/v1/dispatches/{letter['id']}/retry"), 409)
    assert replay(door) == (0, 0, [])


@pytest.mark.parametrize(
    "letter",
    [
        {"action_type": "run_agent", "target": "hop_limit", "rule": None},
        {"action_type": "publish", "target": "bus", "rule": None, "event_seq": None},
        {"action_type": "decide", "target": "rules"},
    ],
)
def test_what_nobody_can_try_again_is_refused_and_left_out(door: Doors, app: Database, letter: Json) -> None:
    (one,) = dead(app, **letter)
    assert "publish the event again" in problem(door.post(f"/v1/dispatches/{one}/retry"), 409)
    assert replay(door) == (0, 0, [])
    assert status_of(door, one) == ["dead"]


def test_an_outside_action_can_be_tried_again(door: Doors, app: Database) -> None:
    for kind, target in (("webhook", "webhook_sender"), ("celery", "task_sender")):
        (one,) = dead(app, action_type=kind, target=target)
        assert door.post(f"/v1/dispatches/{one}/retry").json()["status"] == "pending"


def test_who_tries_the_same_chains_again_at_once_waits_and_one_of_them_begins_them(door: Doors, app: Database) -> None:
    chains = [chain(app, 5) for _ in range(10)]
    for first, *_ in chains:
        door.post(f"/v1/dispatches/{first}/cancel")
    ready = threading.Barrier(6)

    def again(_: int) -> int:
        ready.wait(60)
        return replay(door, {"status": "cancelled"})[1]

    with ThreadPoolExecutor(6) as crowd:
        assert sum(crowd.map(again, range(6))) == 50
    assert [status_of(door, *ids) for ids in chains] == [["pending", *["held"] * 4]] * 10
