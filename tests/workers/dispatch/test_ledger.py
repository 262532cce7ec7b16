from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from core.config import Settings
from core.errors import Conflict, Later, Never
from core.inference.quota import BreakerOpen
from core.storage.db import Database, Tx
from core.types import DispatchStatus, Json
from tests.outcomes import Writing
from tests.samples import TENANT, accept, event
from workers.dispatch import insertion, ledger, sweep
from workers.dispatch.model import Agent, Job, Ledger, LedgerPolicy, NewDispatch, Outcome
from workers.dispatch.policy import policy_of
from workers.dispatch.relay import DispatchRef

POLICY = LedgerPolicy(lease=5, resend=0.01, retry_base=0.01, retry_max=600, attempts=3)


def a_ledger(app: Database, agents: Mapping[str, Agent], policy: LedgerPolicy = POLICY) -> Ledger:
    return Ledger(app, agents, dict.fromkeys(agents, "io"), policy)


def owe(app: Database, target: str = "agent", **fields: Any) -> UUID:
    """A dispatch that reacts to a new event."""
    accepted = accept(app, event())
    plain = NewDispatch(TENANT, "run_agent", target, "io", {}, accepted.last_seq, accepted.last_seq, "c", 0)
    with app.tenant(TENANT) as tx:
        insertion.insert(tx, [replace(plain, **fields)], POLICY.resend)
    return plain.id


def row_of(app: Database, dispatch_id: UUID) -> Any:
    with app.tenant(TENANT) as tx:
        return tx.execute(text("SELECT * FROM dispatches WHERE id = :id"), {"id": dispatch_id}).one()


def marks(app: Database) -> int:
    """How many effects were committed."""
    with app.tenant(TENANT) as tx:
        return int(tx.execute(text("SELECT count(*) FROM relations")).scalar_one())


def mark(tx: Tx) -> Json:
    insert = "INSERT INTO relations (tenant_id, from_id, relation, to_id) VALUES (:tenant, uuidv7(), 'about', uuidv7())"
    tx.execute(text(insert), {"tenant": TENANT})
    return {"marked": 1}


def works(_job: Job) -> Outcome:
    return Outcome(Writing(mark))


def failing(error: Exception) -> Agent:
    def fail(_job: Job) -> Outcome:
        raise error

    return fail


def rush(app: Database, dispatch_id: UUID) -> None:
    """Make what is due later due now."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET wake_at = clock_timestamp() WHERE id = :id"), {"id": dispatch_id})


def swept(queue: Database, policy: LedgerPolicy = POLICY) -> list[UUID]:
    with queue.queue() as tx:
        return [owed.id for owed in sweep.due(tx, policy)]


def deaths(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        rows = tx.execute(text("SELECT payload FROM events WHERE event_type = 'dispatch.dead' ORDER BY seq"))
        return [row.payload for row in rows]


def test_the_effect_and_the_end_are_one(app: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.result, row.attempt, row.lease, row.wake_at) == ("done", {"marked": 1}, 1, None, None)
    assert marks(app) == 1


def test_what_is_done_is_not_done_again(app: Database) -> None:
    one = owe(app)
    for _ in range(3):
        ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert marks(app) == 1


def test_of_many_claimants_one_works(app: Database) -> None:
    one, ran = owe(app), []
    together = threading.Barrier(4, timeout=20)

    def slow(job: Job) -> Outcome:
        ran.append(job.lease)
        time.sleep(0.2)
        return Outcome(Writing(mark))

    def claim(_: int) -> None:
        together.wait()
        ledger.run(a_ledger(app, {"agent": slow}), TENANT, one)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(claim, range(4)))
    assert len(ran) == marks(app) == 1


def test_another_tenant_cannot_run_it(app: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": works}), "globex", one)
    assert row_of(app, one).status == "pending"


def test_who_lost_the_lease_leaves_no_effect(app: Database, queue: Database) -> None:
    one = owe(app)

    def overtaken(_job: Job) -> Outcome:
        rush(app, one)
        assert swept(queue) == [one]
        ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
        return Outcome(Writing(mark))

    ledger.run(a_ledger(app, {"agent": overtaken}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.attempt) == ("done", 2)
    assert marks(app) == 1


def test_who_lost_the_lease_cannot_end_it_while_another_holds_it(app: Database, queue: Database) -> None:
    one = owe(app)
    second_begun, first_over = threading.Event(), threading.Event()

    def second(_job: Job) -> Outcome:
        second_begun.set()
        assert first_over.wait(20)
        return Outcome(Writing(mark))

    with ThreadPoolExecutor(1) as pool:

        def first(_job: Job) -> Outcome:
            rush(app, one)
            assert swept(queue) == [one]
            pool.submit(ledger.run, a_ledger(app, {"agent": second}), TENANT, one)
            assert second_begun.wait(20)
            return Outcome(Writing(mark))

        ledger.run(a_ledger(app, {"agent": first}), TENANT, one)
        held = (row_of(app, one).status, marks(app))
        first_over.set()
    assert held == ("running", 0), "the late one neither ended it nor left an effect"
    row = row_of(app, one)
    assert (row.status, row.attempt, marks(app)) == ("done", 2, 1)


def test_a_failure_of_one_who_lost_the_lease_changes_nothing(app: Database, queue: Database) -> None:
    one = owe(app)

    def overtaken(_job: Job) -> Outcome:
        rush(app, one)
        swept(queue)
        ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
        raise Never("too late to say so")

    ledger.run(a_ledger(app, {"agent": overtaken}), TENANT, one)
    assert row_of(app, one).status == "done"
    assert deaths(app) == []


def test_a_lease_is_renewed_while_the_agent_thinks(app: Database, queue: Database) -> None:
    one = owe(app)
    short = replace(POLICY, lease=3)  # A machine that is busy may renew it two seconds late.

    def thoughtful(_job: Job) -> Outcome:
        first_end = row_of(app, one).wake_at
        while datetime.now(UTC) <= first_end:
            time.sleep(0.1)
            assert swept(queue, short) == []
        assert swept(queue, short) == []
        return Outcome(Writing(mark))

    ledger.run(a_ledger(app, {"agent": thoughtful}, short), TENANT, one)
    assert (row_of(app, one).status, row_of(app, one).attempt) == ("done", 1)


def test_a_failure_is_tried_again_when_due_and_not_before(app: Database, queue: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": failing(Later("busy", timedelta(seconds=60)))}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.error, row.lease) == ("retrying", "busy", None)
    assert swept(queue) == []
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert marks(app) == 0
    rush(app, one)
    assert swept(queue) == [one]
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert (row_of(app, one).status, row_of(app, one).error, marks(app)) == ("done", None, 1)


def test_a_retry_never_comes_before_what_the_other_side_asked_for(app: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": failing(Later("busy", timedelta(seconds=60)))}), TENANT, one)
    with app.tenant(TENANT) as tx:
        left = tx.execute(
            text("SELECT extract(epoch FROM wake_at - clock_timestamp())::float8 FROM dispatches")
        ).scalar_one()
    assert left > 58


@pytest.mark.parametrize("error", [Later("x"), Conflict("x"), RuntimeError("x"), KeyError("x")])
def test_attempts_end_in_the_dead_letters_with_an_event_that_says_why(app: Database, error: Exception) -> None:
    one = owe(app, rule="r", rule_version=1)
    book = a_ledger(app, {"agent": failing(error)})
    for attempt in range(1, POLICY.attempts + 1):
        assert row_of(app, one).attempt == attempt - 1
        assert deaths(app) == []
        ledger.run(book, TENANT, one)
        rush(app, one)
    assert row_of(app, one).status == "dead"
    (death,) = deaths(app)
    assert (death["dispatch_id"], death["target"], death["rule"]) == (str(one), "agent", "r")
    assert "x" in death["reason"]


def test_never_is_dead_at_once(app: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": failing(Never("no such session"))}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.attempt, row.error, row.wake_at) == ("dead", 1, "no such session", None)
    assert [death["reason"] for death in deaths(app)] == ["no such session"]


def test_an_agent_that_nobody_knows_is_a_failure_and_no_crash(app: Database) -> None:
    one = owe(app, target="nobody")
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert row_of(app, one).status == "retrying"


@pytest.mark.parametrize("words", ["half \udc80 a pair", "a\x00b", "x" * 1_000_000])
def test_a_reason_in_any_characters_can_be_kept(app: Database, words: str) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": failing(Never(words))}), TENANT, one)
    row = row_of(app, one)
    assert row.status == "dead"
    assert len(row.error) <= ledger.ERROR_CHARACTERS
    assert len(deaths(app)) == 1


def test_an_effect_that_fails_halfway_leaves_nothing(app: Database) -> None:
    one = owe(app)

    def half(tx: Tx) -> Json:
        mark(tx)
        raise Conflict("changed meanwhile")

    ledger.run(a_ledger(app, {"agent": lambda _job: Outcome(Writing(half))}), TENANT, one)
    assert row_of(app, one).status == "retrying"
    assert marks(app) == 0


def test_what_follows_is_owed_once_the_effect_is_there(app: Database) -> None:
    one = owe(app, correlation_id="chain", hop=2)
    book = a_ledger(app, {"agent": lambda _job: Outcome(Writing(mark), [("next", {"a": 1})]), "next": works})
    (following,) = ledger.run(book, TENANT, one)
    row = row_of(app, following.id)
    assert (row.target, row.params, row.correlation_id, row.hop, row.status) == (
        "next",
        {"a": 1},
        "chain",
        2,
        "pending",
    )


def test_what_was_never_begun_is_sent_again_each_time_later(app: Database, queue: Database) -> None:
    one = owe(app)
    time.sleep(0.02)
    assert swept(queue) == [one]
    pauses, slow = [], replace(POLICY, resend=10)  # Of ten seconds and more each: what is done between counts little.
    for _ in range(4):
        rush(app, one)
        swept(queue, slow)
        with app.tenant(TENANT) as tx:
            select = text("SELECT extract(epoch FROM wake_at - clock_timestamp())::float8 FROM dispatches")
            pauses.append(tx.execute(select).scalar_one())
    assert pauses == sorted(pauses)
    assert pauses[-1] > 4 * slow.resend
    assert (row_of(app, one).status, row_of(app, one).sends) == ("pending", 5)


def test_what_lost_its_worker_is_sent_again(app: Database, queue: Database) -> None:
    one = owe(app)
    ledger._claim(a_ledger(app, {"agent": works}), TENANT, one)
    assert swept(queue) == []
    rush(app, one)
    assert swept(queue) == [one]
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert marks(app) == 1


def test_what_kills_its_worker_at_every_attempt_is_set_aside(app: Database, queue: Database) -> None:
    one = owe(app)
    book = a_ledger(app, {"agent": works})
    for _ in range(POLICY.attempts):
        assert ledger._claim(book, TENANT, one) is not None
        rush(app, one)
        last = swept(queue)
    assert last == []
    row = row_of(app, one)
    assert (row.status, row.attempt) == ("dead", POLICY.attempts)
    assert len(deaths(app)) == 1
    assert ledger._claim(book, TENANT, one) is None


def test_two_sweeps_at_once_send_each_thing_once(app: Database, queue: Database) -> None:
    owing = {owe(app) for _ in range(30)}
    time.sleep(0.02)
    patient = replace(POLICY, resend=60, running=100)
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: swept(queue, patient), range(2)))
    assert sorted(both[0] + both[1]) == sorted(owing)


@pytest.mark.parametrize("status", [DispatchStatus.SHADOW, DispatchStatus.DEAD])
def test_what_is_not_to_be_run_is_never_sent(app: Database, queue: Database, status: DispatchStatus) -> None:
    with app.tenant(TENANT) as tx:
        letter = NewDispatch(TENANT, "run_agent", "agent", "io", {}, None, 0, "", 0, status=status)
        assert insertion.insert(tx, [letter], 0) == []
    assert swept(queue) == []


def test_of_one_session_one_thinks_at_a_time_and_the_other_follows(app: Database) -> None:
    first, second = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    seen: list[str] = []

    def looks(_job: Job) -> Outcome:
        ledger.run(a_ledger(app, {"agent": works}), TENANT, second)
        seen.append(row_of(app, second).status)
        return Outcome(Writing(mark))

    following = ledger.run(a_ledger(app, {"agent": looks}), TENANT, first)
    assert seen == ["pending"]
    assert [owed.id for owed in following] == [second]
    ledger.run(a_ledger(app, {"agent": works}), TENANT, second)
    assert marks(app) == 2


@pytest.mark.parametrize("error", [Later("busy"), Never("no")])
def test_one_that_fails_hands_its_turn_to_the_one_that_waits(app: Database, error: Exception) -> None:
    first, second = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    following = ledger.run(a_ledger(app, {"agent": failing(error)}), TENANT, first)
    assert [owed.id for owed in following] == [second]


def chain(app: Database, *targets: str, **fields: Any) -> list[UUID]:
    """The actions of one firing: the first is owed, each other waits for the one before it."""
    accepted = accept(app, event())
    made: list[NewDispatch] = []
    for target in targets:
        plain = NewDispatch(TENANT, "run_agent", target, "io", {}, accepted.last_seq, accepted.last_seq, "c", 0, "r", 1)
        if made:
            plain = replace(plain, status=DispatchStatus.HELD, hold="turn", after=made[-1].id)
        made.append(replace(plain, **({} if made else fields)))
    with app.tenant(TENANT) as tx:
        insertion.insert(tx, made, POLICY.resend)
    return [one.id for one in made]


def statuses(app: Database, ids: Sequence[UUID]) -> list[str]:
    return [row_of(app, one).status for one in ids]


def said(app: Database, event_type: str) -> list[Json]:
    """The payloads of all events of a type."""
    with app.tenant(TENANT) as tx:
        rows = tx.execute(
            text("SELECT payload FROM events WHERE event_type = :type ORDER BY seq"), {"type": event_type}
        )
        return [row.payload for row in rows]


def run_all(book: Ledger, *ids: UUID) -> list[UUID]:
    """Run these and all that follows from them; in which order."""
    ran, waiting = [], list(ids)
    while waiting:
        ran.append(waiting.pop(0))
        waiting += [owed.id for owed in ledger.run(book, TENANT, ran[-1])]
    return ran


def test_the_next_action_is_owed_once_the_one_before_it_is_done(app: Database, queue: Database) -> None:
    ids = chain(app, "agent", "agent", "agent")
    book = a_ledger(app, {"agent": works})
    assert statuses(app, ids) == ["pending", "held", "held"]
    assert [owed.id for owed in ledger.run(book, TENANT, ids[0])] == [ids[1]]
    assert statuses(app, ids) == ["done", "pending", "held"]
    assert (row_of(app, ids[1]).hold, row_of(app, ids[2]).hold) == (None, "turn")
    assert ledger.run(book, TENANT, ids[2]) == [], "out of turn"
    rush(app, ids[1])
    assert swept(queue) == [ids[1]], "who was not told is found by the sweep"
    assert run_all(book, ids[1]) == ids[1:]
    assert (statuses(app, ids), marks(app)) == (["done", "done", "done"], 3)


def test_the_turn_and_the_effect_are_one(app: Database) -> None:
    ids = chain(app, "agent", "agent")

    def breaks(tx: Tx) -> Json:
        mark(tx)
        raise Conflict("changed meanwhile")

    assert ledger.run(a_ledger(app, {"agent": lambda _job: Outcome(Writing(breaks))}), TENANT, ids[0]) == []
    assert (statuses(app, ids), marks(app)) == (["retrying", "held"], 0)


def test_where_an_agent_goes_on_the_next_action_waits_for_all_of_it(app: Database) -> None:
    ids = chain(app, "reader", "agent")
    left = [2]

    def reads(_job: Job) -> Outcome:
        left[0] -= 1
        return Outcome(Writing(mark), [("reader", {"more": True})] if left[0] else [])

    book = a_ledger(app, {"reader": reads, "agent": works})
    (rest,) = ledger.run(book, TENANT, ids[0])
    assert (row_of(app, rest.id).after, row_of(app, ids[1]).after) == (ids[0], rest.id)
    assert statuses(app, ids) == ["done", "held"]
    assert run_all(book, rest.id) == [rest.id, ids[1]]
    assert statuses(app, ids) == ["done", "done"]


def test_what_another_agent_does_next_holds_no_turn_up(app: Database) -> None:
    ids = chain(app, "reader", "agent")
    book = a_ledger(
        app, {"reader": lambda _job: Outcome(Writing(mark), [("other", {})]), "agent": works, "other": works}
    )
    following = ledger.run(book, TENANT, ids[0])
    assert sorted(row_of(app, owed.id).target for owed in following) == ["agent", "other"]


def test_after_a_dead_action_the_others_stay_held_until_it_is_done_at_last(app: Database) -> None:
    ids = chain(app, "agent", "agent")
    ledger.run(a_ledger(app, {"agent": failing(Never("no"))}), TENANT, ids[0])
    assert statuses(app, ids) == ["dead", "held"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'pending', attempt = 0 WHERE status = 'dead'"))
    assert run_all(a_ledger(app, {"agent": works}), ids[0]) == ids


def in_lane(app: Database, number: int, limit: int = 1, **fields: Any) -> list[UUID]:
    return [owe(app, lane="r:ada", lane_limit=limit, **fields) for _ in range(number)]


def test_of_a_lane_no_more_run_at_a_time_than_may(app: Database) -> None:
    """Four workers, each of them asked for all twelve."""
    limit = 3
    ids = in_lane(app, 12, limit)
    other = owe(app, lane="r:bob", lane_limit=1)
    guard, running, most, full = threading.Lock(), [0], [0], threading.Event()

    def slow(_job: Job) -> Outcome:
        with guard:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == limit:
                full.set()
        full.wait(20)
        time.sleep(0.02)
        with guard:
            running[0] -= 1
        return Outcome(Writing(mark))

    book = a_ledger(app, {"agent": slow}, replace(POLICY, resend=60))
    together = threading.Barrier(4, timeout=20)

    def work(number: int) -> None:
        together.wait()
        run_all(book, *ids[number:], *ids[:number])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert most[0] == limit, "as many as may, and never more"
    assert set(statuses(app, ids)) == {"done"}, "whoever found the lane full was called when there was room"
    assert [row_of(app, one).attempt for one in ids] == [1] * 12
    assert marks(app) == 12
    assert row_of(app, other).status == "pending"


def test_a_lane_is_no_other_tenants_lane(app: Database) -> None:
    (mine,) = in_lane(app, 1)
    accepted = accept(app, event(), tenant="globex")
    theirs = NewDispatch(
        "globex",
        "run_agent",
        "agent",
        "io",
        {},
        accepted.last_seq,
        accepted.last_seq,
        "c",
        0,
        lane="r:ada",
        lane_limit=1,
    )
    with app.tenant("globex") as tx:
        insertion.insert(tx, [theirs], POLICY.resend)
    book = a_ledger(app, {"agent": works})
    assert ledger._claim(book, TENANT, mine) is not None
    assert ledger._claim(book, "globex", theirs.id) is not None


@pytest.mark.parametrize("error", [None, Later("busy"), Never("no")])
def test_whoever_ends_calls_the_oldest_that_waits_in_its_lane(app: Database, error: Exception | None) -> None:
    first, second, third = in_lane(app, 3)
    agent = failing(error) if error else works
    following = ledger.run(a_ledger(app, {"agent": agent}), TENANT, first)
    assert [owed.id for owed in following] == [second]
    assert row_of(app, third).status == "pending"


def test_two_that_end_at_once_do_not_both_call_the_same_one(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    ending, waiting = in_lane(app, 2, 2), in_lane(app, 2, 2)
    book = a_ledger(app, {"agent": works})
    jobs = [ledger._claim(book, TENANT, one) for one in ending]
    together = threading.Barrier(2, timeout=20)

    def both_are_done(*_: object) -> list[DispatchRef]:
        together.wait()
        return []

    monkeypatch.setattr(ledger, "_release_next_action", both_are_done)
    with ThreadPoolExecutor(2) as pool:
        called = list(pool.map(lambda job: ledger._finish(book, job, Outcome()) if job else [], jobs))
    assert {owed.id for owed in called[0] + called[1]} == set(waiting)


def test_who_finds_the_lane_full_waits_and_loses_nothing(app: Database, queue: Database) -> None:
    first, second = in_lane(app, 2)
    book = a_ledger(app, {"agent": works})
    assert ledger._claim(book, TENANT, first) is not None
    assert ledger._claim(book, TENANT, second) is None
    row = row_of(app, second)
    assert (row.status, row.attempt, row.lease, row.started_at) == ("pending", 0, None, None)
    rush(app, second)
    assert swept(queue) == [second]


def test_one_whose_worker_died_does_not_count_against_itself(app: Database, queue: Database) -> None:
    (one,) = in_lane(app, 1)
    book = a_ledger(app, {"agent": works})
    assert ledger._claim(book, TENANT, one) is not None
    rush(app, one)
    assert swept(queue) == [one]
    assert ledger._claim(book, TENANT, one) is not None


def test_what_goes_on_stays_in_its_lane(app: Database) -> None:
    (one,) = in_lane(app, 1, 2)
    (rest,) = ledger.run(a_ledger(app, {"agent": lambda _job: Outcome(Writing(mark), [("agent", {})])}), TENANT, one)
    assert (row_of(app, rest.id).lane, row_of(app, rest.id).lane_limit) == ("r:ada", 2)


def test_the_sweep_that_sets_one_aside_calls_who_waited_for_it(app: Database, queue: Database) -> None:
    first, second = in_lane(app, 2)
    patient = replace(POLICY, attempts=1)
    assert ledger._claim(a_ledger(app, {"agent": works}), TENANT, first) is not None
    rush(app, first)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET wake_at = wake_at + interval '1 hour' WHERE status = 'pending'"))
    assert swept(queue, patient) == [second]
    assert row_of(app, first).status == "dead"


def cancelled_waiting(queue: Database, limit: int) -> int:
    with queue.queue() as tx:
        return sweep.cancel_waiting(tx, TENANT, "r:ada", limit, "A newer one took its place.")


def test_of_those_that_wait_the_latest_is_left(app: Database, queue: Database) -> None:
    running, *waiting = in_lane(app, 4)
    assert ledger._claim(a_ledger(app, {"agent": works}), TENANT, running) is not None
    assert cancelled_waiting(queue, 1) == 2
    assert statuses(app, [running, *waiting]) == ["running", "cancelled", "cancelled", "pending"]
    row = row_of(app, waiting[0])
    assert (row.error, row.wake_at, row.ended_at is None) == ("A newer one took its place.", None, False)
    assert cancelled_waiting(queue, 1) == 0


def test_who_is_about_to_begin_does_not_wait(app: Database, queue: Database) -> None:
    ids = in_lane(app, 4, 2)
    assert cancelled_waiting(queue, 2) == 1
    assert statuses(app, ids) == ["pending", "pending", "cancelled", "pending"]


def test_what_has_begun_is_not_replaced_and_what_is_goes_with_all_that_was_to_follow(
    app: Database, queue: Database
) -> None:
    (begun,) = in_lane(app, 1)
    ledger.run(a_ledger(app, {"agent": failing(Later("busy"))}), TENANT, begun)
    rush(app, begun)
    swept(queue)
    waiting, second, third = chain(app, "agent", "agent", "agent", lane="r:ada", lane_limit=1)
    (running, newest) = in_lane(app, 2)
    assert ledger._claim(a_ledger(app, {"agent": works}), TENANT, running) is not None
    assert cancelled_waiting(queue, 1) == 1
    assert statuses(app, [begun, waiting, second, third, newest]) == [
        "pending",
        "cancelled",
        "cancelled",
        "cancelled",
        "pending",
    ]
    assert str(waiting) in row_of(app, third).error
    assert "A newer one took its place." in row_of(app, third).error


def held(app: Database, seconds: float, *targets: str) -> list[UUID]:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    return chain(app, *targets, status=DispatchStatus.HELD, hold="approval", expires_at=until)


def expired(queue: Database) -> int:
    with queue.queue() as tx:
        return sweep.expire(tx)


def test_what_is_held_for_approval_waits_and_notes_since_when(app: Database, queue: Database) -> None:
    (one,) = held(app, 60, "agent")
    assert swept(queue) == []
    assert ledger.run(a_ledger(app, {"agent": works}), TENANT, one) == []
    assert expired(queue) == 0
    row = row_of(app, one)
    assert (row.status, list(row.approval), marks(app)) == ("held", ["requested_at"], 0)


def test_what_nobody_approves_in_time_is_cancelled_with_all_that_was_to_follow(app: Database, queue: Database) -> None:
    ids = held(app, -1, "agent", "agent")
    assert expired(queue) == 1
    assert statuses(app, ids) == ["cancelled", "cancelled"]
    row = row_of(app, ids[0])
    assert (row.hold, row.approval["verdict"], row.approval["by"]) == (None, "expired", "clock")
    assert said(app, "approval.decided") == [
        {"dispatch_id": str(ids[0]), "rule": "r", "verdict": "expired", "by": "clock", "comment": None}
    ]
    assert expired(queue) == 0


def test_several_clocks_refuse_each_thing_once(app: Database, queue: Database) -> None:
    for _ in range(20):
        held(app, -1, "agent")
    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(lambda _: expired(queue), range(3))) == 20
    assert len(said(app, "approval.decided")) == 20


@given(st.integers(1, 60), st.none() | st.integers(0, 10_000))
def test_a_pause_grows_and_stays_within_its_bounds(attempt: int, asked: int | None) -> None:
    policy = LedgerPolicy(lease=5, resend=10, retry_base=2, retry_max=600, attempts=8)
    pause = policy.pause(attempt, None if asked is None else timedelta(seconds=asked))
    ceiling = min(600, 2 * 2 ** (attempt - 1))
    assert pause >= ceiling / 2
    assert pause >= (asked or 0)
    assert pause <= max(ceiling, asked or 0)


def test_a_pause_that_no_calendar_holds_is_cut(app: Database) -> None:
    one = owe(app)
    ledger.run(a_ledger(app, {"agent": failing(Later("busy", timedelta(days=900_000_000)))}), TENANT, one)
    assert row_of(app, one).status == "retrying"


def test_the_policy_is_the_one_that_was_set(settings: Settings) -> None:
    policy = policy_of(settings)
    assert (policy.lease, policy.retry_base, policy.attempts) == (5, 0.1, 8)


@pytest.mark.parametrize("room", [1, 1_000, 1_000_000])
def test_what_is_too_much_for_one_statement_goes_in_several(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    monkeypatch.setattr(insertion, "BATCH_CHARACTERS", room)
    seq = accept(app, event()).last_seq
    new = [NewDispatch(TENANT, "run_agent", "a", "io", {"text": "ü" * 300}, seq, seq, "c", 0) for _ in range(7)]
    with app.tenant(TENANT) as tx:
        owed = insertion.insert(tx, new, POLICY.resend)
    with queue.queue() as tx:
        found = tx.execute(text("SELECT id, params FROM dispatches ORDER BY id")).all()
    assert [row.id for row in found] == [o.id for o in owed] == [dispatch.id for dispatch in new]
    assert {row.params["text"] for row in found} == {"ü" * 300}


def test_an_attempt_that_met_an_open_breaker_does_not_count_not_even_the_last(app: Database) -> None:
    one = owe(app)
    away = a_ledger(app, {"agent": failing(BreakerOpen("left alone", timedelta(seconds=7)))})
    for attempt in range(2 * POLICY.attempts):
        began = datetime.now(UTC)
        ledger.run(away, TENANT, one)
        waiting = row_of(app, one)
        assert (waiting.status, waiting.attempt, waiting.error) == ("retrying", 0, "left alone"), attempt
        assert began + timedelta(seconds=7) <= waiting.wake_at <= datetime.now(UTC) + timedelta(seconds=7)
        rush(app, one)
    for _ in range(POLICY.attempts - 1):
        ledger.run(a_ledger(app, {"agent": failing(Later("busy"))}), TENANT, one)
        rush(app, one)
    ledger.run(away, TENANT, one)
    assert row_of(app, one).attempt == POLICY.attempts - 1
    rush(app, one)
    ledger.run(a_ledger(app, {"agent": works}), TENANT, one)
    assert (row_of(app, one).status, marks(app), deaths(app)) == ("done", 1, [])
