from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.pq import TransactionStatus
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from core.errors import Conflict, Later, Never, RateLimited
from core.inference.quota import BreakerOpen
from core.storage.db import Database, Tx
from core.types import Json
from tests.outcomes import Writing
from tests.patience import wait_until
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import (
    POLICY,
    a_ledger,
    chain,
    deaths,
    failing,
    in_lane,
    mark,
    marks,
    owe,
    row_of,
    rush,
    statuses,
    swept,
    works,
)
from tests.works import run_one
from workers.dispatch import fair_share, insertion, ledger
from workers.dispatch.model import Job, Ledger, NewDispatch, Outcome


def test_the_effect_and_the_end_are_one(app: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.result, row.attempt, row.lease, row.wake_at) == ("done", {"marked": 1}, 1, None, None)
    assert marks(app) == 1


def test_a_dispatch_with_nothing_to_write_takes_five_round_trips(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = a_ledger(app, {"agent": lambda _job: Outcome()})
    for _ in range(3):  # Statements are prepared in round trips of their own.
        run_one(book, TENANT, chain(app, "agent", "agent")[0])
    first, second = chain(app, "agent", "agent")
    trips, wait = [0], psycopg.Connection.wait

    def counted(connection: psycopg.Connection[object], *given: Any, **named: Any) -> Any:
        trips[0] += connection.info.transaction_status != TransactionStatus.IDLE  # Else there is nothing to end.
        return wait(connection, *given, **named)

    monkeypatch.setattr(psycopg.Connection, "wait", counted)
    assert [owed.id for owed in run_one(book, TENANT, first)] == [second]
    assert trips == [5]
    assert statuses(app, [first, second]) == ["done", "pending"]


def test_what_is_done_is_not_done_again(app: Database) -> None:
    one = owe(app)
    for _ in range(3):
        run_one(a_ledger(app, {"agent": works}), TENANT, one)
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
        run_one(a_ledger(app, {"agent": slow}), TENANT, one)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(claim, range(4)))
    assert len(ran) == marks(app) == 1


def test_another_tenant_cannot_run_it(app: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": works}), "globex", one)
    assert row_of(app, one).status == "pending"


def test_a_failure_is_tried_again_when_due_and_not_before(app: Database, queue: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": failing(Later("busy", timedelta(seconds=60)))}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.error, row.lease) == ("retrying", "busy", None)
    assert swept(queue) == []
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
    assert marks(app) == 0
    rush(app, one)
    assert swept(queue) == [one]
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
    assert (row_of(app, one).status, row_of(app, one).error, marks(app)) == ("done", None, 1)


def test_a_retry_never_comes_before_what_the_other_side_asked_for(app: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": failing(Later("busy", timedelta(seconds=60)))}), TENANT, one)
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
        run_one(book, TENANT, one)
        rush(app, one)
    assert row_of(app, one).status == "dead"
    (death,) = deaths(app)
    assert (death["dispatch_id"], death["target"], death["rule"]) == (str(one), "agent", "r")
    assert "x" in death["reason"]


def test_never_is_dead_at_once(app: Database) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": failing(Never("no such session"))}), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.attempt, row.error, row.wake_at) == ("dead", 1, "no such session", None)
    assert [death["reason"] for death in deaths(app)] == ["no such session"]


def test_an_agent_that_nobody_knows_is_a_failure_and_no_crash(app: Database) -> None:
    one = owe(app, target="nobody")
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
    assert row_of(app, one).status == "retrying"


@pytest.mark.parametrize("words", ["half \udc80 a pair", "a\x00b", "x" * 1_000_000])
def test_a_reason_in_any_characters_can_be_kept(app: Database, words: str) -> None:
    one = owe(app)
    run_one(a_ledger(app, {"agent": failing(Never(words))}), TENANT, one)
    row = row_of(app, one)
    assert row.status == "dead"
    assert len(row.error) <= ledger.ERROR_CHARACTERS
    assert len(deaths(app)) == 1


def test_an_effect_that_fails_halfway_leaves_nothing(app: Database) -> None:
    one = owe(app)

    def half(tx: Tx) -> Json:
        mark(tx)
        raise Conflict("changed meanwhile")

    run_one(a_ledger(app, {"agent": lambda _job: Outcome(Writing(half))}), TENANT, one)
    assert row_of(app, one).status == "retrying"
    assert marks(app) == 0


def test_what_follows_is_owed_once_the_effect_is_there(app: Database) -> None:
    one = owe(app, correlation_id="chain", hop=2)
    book = a_ledger(app, {"agent": lambda _job: Outcome(Writing(mark), [("next", {"a": 1})]), "next": works})
    (following,) = run_one(book, TENANT, one)
    row = row_of(app, following.id)
    assert (row.target, row.params, row.correlation_id, row.hop, row.status) == (
        "next",
        {"a": 1},
        "chain",
        2,
        "pending",
    )


def test_of_one_session_one_thinks_at_a_time_and_the_other_follows(app: Database) -> None:
    first, second = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    seen: list[str] = []

    def looks(_job: Job) -> Outcome:
        run_one(a_ledger(app, {"agent": works}), TENANT, second)
        seen.append(row_of(app, second).status)
        return Outcome(Writing(mark))

    following = run_one(a_ledger(app, {"agent": looks}), TENANT, first)
    assert seen == ["pending"]
    assert [owed.id for owed in following] == [second]
    run_one(a_ledger(app, {"agent": works}), TENANT, second)
    assert marks(app) == 2


@pytest.mark.parametrize(("status", "left"), [("cancelled", ("cancelled", 0)), ("pending", ("done", 1))])
def test_a_claim_is_tried_again_after_a_deadlock(app: Database, status: str, left: tuple[str, int]) -> None:
    running, waiting = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    book = a_ledger(app, {"agent": works})
    _set_status(app, "running", running)
    with ThreadPoolExecutor(1) as pool:
        for _ in range(5):
            # The server ends the transaction that has waited for a second: this one, if it was held up for as long.
            with contextlib.suppress(OperationalError):
                with app.tenant(TENANT) as tx:
                    tx.execute(_SET_STATUS, {"status": "cancelled", "ids": [running]})
                    claim = pool.submit(run_one, book, TENANT, waiting)
                    wait_until(lambda: _is_waited_for(app), every=0.005)
                    tx.execute(_SET_STATUS, {"status": status, "ids": [waiting]})
                break
        assert claim.result(20) == []
    assert (row_of(app, waiting).status, marks(app)) == left


def _set_status(app: Database, status: str, *ids: UUID) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(_SET_STATUS, {"status": status, "ids": list(ids)})


_SET_STATUS = text("""
    UPDATE dispatches SET status = cast(:status AS text),
        ended_at = CASE WHEN :status = 'cancelled' THEN clock_timestamp() END
    WHERE id = ANY(:ids)
""")


def _is_waited_for(app: Database) -> bool:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'transactionid'"
    with app.tenant(TENANT) as tx:
        return bool(tx.execute(text(waiting)).scalar_one())


@pytest.mark.parametrize("error", [Later("busy"), Never("no")])
def test_one_that_fails_hands_its_turn_to_the_one_that_waits(app: Database, error: Exception) -> None:
    first, second = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    following = run_one(a_ledger(app, {"agent": failing(error)}), TENANT, first)
    assert [owed.id for owed in following] == [second]


def run_all(book: Ledger, *ids: UUID) -> list[UUID]:
    """Run these and all that follows from them; in which order."""
    ran, waiting = [], list(ids)
    while waiting:
        ran.append(waiting.pop(0))
        waiting += [owed.id for owed in run_one(book, TENANT, ran[-1])]
    return ran


def test_the_next_action_is_owed_once_the_one_before_it_is_done(app: Database, queue: Database) -> None:
    ids = chain(app, "agent", "agent", "agent")
    book = a_ledger(app, {"agent": works})
    assert statuses(app, ids) == ["pending", "held", "held"]
    assert [owed.id for owed in run_one(book, TENANT, ids[0])] == [ids[1]]
    assert statuses(app, ids) == ["done", "pending", "held"]
    assert (row_of(app, ids[1]).hold, row_of(app, ids[2]).hold) == (None, "turn")
    assert run_one(book, TENANT, ids[2]) == [], "out of turn"
    rush(app, ids[1])
    assert swept(queue) == [ids[1]], "who was not told is found by the sweep"
    assert run_all(book, ids[1]) == ids[1:]
    assert (statuses(app, ids), marks(app)) == (["done", "done", "done"], 3)


def test_the_turn_and_the_effect_are_one(app: Database) -> None:
    ids = chain(app, "agent", "agent")

    def breaks(tx: Tx) -> Json:
        mark(tx)
        raise Conflict("changed meanwhile")

    assert run_one(a_ledger(app, {"agent": lambda _job: Outcome(Writing(breaks))}), TENANT, ids[0]) == []
    assert (statuses(app, ids), marks(app)) == (["retrying", "held"], 0)


def test_where_an_agent_goes_on_the_next_action_waits_for_all_of_it(app: Database) -> None:
    ids = chain(app, "reader", "agent")
    left = [2]

    def reads(_job: Job) -> Outcome:
        left[0] -= 1
        return Outcome(Writing(mark), [("reader", {"more": True})] if left[0] else [])

    book = a_ledger(app, {"reader": reads, "agent": works})
    (rest,) = run_one(book, TENANT, ids[0])
    assert (row_of(app, rest.id).after, row_of(app, ids[1]).after) == (ids[0], rest.id)
    assert statuses(app, ids) == ["done", "held"]
    assert run_all(book, rest.id) == [rest.id, ids[1]]
    assert statuses(app, ids) == ["done", "done"]


def test_what_another_agent_does_next_holds_no_turn_up(app: Database) -> None:
    ids = chain(app, "reader", "agent")
    book = a_ledger(
        app, {"reader": lambda _job: Outcome(Writing(mark), [("other", {})]), "agent": works, "other": works}
    )
    following = run_one(book, TENANT, ids[0])
    assert sorted(row_of(app, owed.id).target for owed in following) == ["agent", "other"]


def test_after_a_dead_action_the_others_stay_held_until_it_is_done_at_last(app: Database) -> None:
    ids = chain(app, "agent", "agent")
    run_one(a_ledger(app, {"agent": failing(Never("no"))}), TENANT, ids[0])
    assert statuses(app, ids) == ["dead", "held"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'pending', attempt = 0 WHERE status = 'dead'"))
    assert run_all(a_ledger(app, {"agent": works}), ids[0]) == ids


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
    following = run_one(a_ledger(app, {"agent": agent}), TENANT, first)
    assert [owed.id for owed in following] == [second]
    assert row_of(app, third).status == "pending"


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
    (rest,) = run_one(a_ledger(app, {"agent": lambda _job: Outcome(Writing(mark), [("agent", {})])}), TENANT, one)
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


def test_an_attempt_that_met_an_open_breaker_does_not_count_not_even_the_last(app: Database) -> None:
    one = owe(app)
    away = a_ledger(app, {"agent": failing(BreakerOpen("left alone", timedelta(seconds=7)))})
    for attempt in range(2 * POLICY.attempts):
        began = datetime.now(UTC)
        run_one(away, TENANT, one)
        waiting = row_of(app, one)
        assert (waiting.status, waiting.attempt, waiting.error) == ("retrying", 0, "left alone"), attempt
        assert began + timedelta(seconds=7) <= waiting.wake_at <= datetime.now(UTC) + timedelta(seconds=7)
        rush(app, one)
    for _ in range(POLICY.attempts - 1):
        run_one(a_ledger(app, {"agent": failing(Later("busy"))}), TENANT, one)
        rush(app, one)
    run_one(away, TENANT, one)
    assert row_of(app, one).attempt == POLICY.attempts - 1
    rush(app, one)
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
    assert (row_of(app, one).status, marks(app), deaths(app)) == ("done", 1, [])


def test_a_rate_limit_is_waited_for_and_counts_as_no_attempt_until_the_dispatch_is_old(app: Database) -> None:
    dispatch_id = owe(app)
    limited = a_ledger(app, {"agent": failing(RateLimited("slow down", timedelta(seconds=7)))})
    for _ in range(2 * POLICY.attempts):
        began = datetime.now(UTC)
        run_one(limited, TENANT, dispatch_id)
        row = row_of(app, dispatch_id)
        assert (row.status, row.attempt, row.error) == ("retrying", 0, "slow down")
        assert row.wake_at >= began + timedelta(seconds=7)
        rush(app, dispatch_id)
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("UPDATE dispatches SET created_at = created_at - cast(:age AS interval)"), {"age": ledger.LONGEST_WAIT}
        )
    for attempt in range(1, POLICY.attempts + 1):
        rush(app, dispatch_id)
        run_one(limited, TENANT, dispatch_id)
        assert row_of(app, dispatch_id).attempt == attempt
    assert row_of(app, dispatch_id).status == "dead"


def turns(app: Database, monkeypatch: pytest.MonkeyPatch, **fields: Any) -> tuple[list[UUID], int]:
    """Run five dispatches in one turn of a worker; return those that were done, and how often one was claimed alone."""
    owed = [owe(app, **fields) for _ in range(5)]
    claims, claim = [0], ledger._claim

    def counted(*given: Any) -> Job | None:
        claims[0] += 1
        return claim(*given)

    monkeypatch.setattr(ledger, "_claim", counted)
    monkeypatch.setattr(ledger, "TURN_SECONDS", 60)
    narrow = replace(POLICY, running=1, resend=600)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET turn = 'ready' WHERE id <> :id"), {"id": owed[0]})
    ledger.take_turn(a_ledger(app, {"agent": works}, narrow), TENANT, "io", owed[:1], lambda _owed: None)
    return [one for one in owed if row_of(app, one).status == "done"], claims[0]


def test_a_worker_claims_the_next_as_it_ends_one(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    done, claims = turns(app, monkeypatch)
    assert (len(done), claims, marks(app)) == (5, 1, 5)


def test_what_shares_a_key_is_claimed_by_itself(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    done, claims = turns(app, monkeypatch, alone="session:s1")
    assert (len(done), claims, marks(app)) == (5, 5, 5)


def test_an_effect_stays_where_nothing_can_be_offered_behind_it(
    app: Database, queue: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, after = chain(app, "agent", "agent")

    def lost(*_given: Any) -> None:
        raise OperationalError("offer", {}, psycopg.OperationalError("the server is gone"))

    monkeypatch.setattr(fair_share, "offer_again", lost)
    assert run_one(a_ledger(app, {"agent": works}), TENANT, one) == []
    monkeypatch.undo()
    assert (statuses(app, [one, after]), marks(app)) == (["done", "pending"], 1)
    assert after in swept(queue), "the sweep finds what waits"


@pytest.mark.parametrize("error", [KeyError("content"), RuntimeError("first\nsecond"), RuntimeError()])
def test_an_unexpected_error_is_a_sentence_and_its_trace_is_for_the_log(error: Exception) -> None:
    try:
        raise error
    except (KeyError, RuntimeError) as caught:
        sentence, frames = ledger._error_text(caught), ledger._frames(caught)
    assert sentence.startswith(f"Unexpected {type(error).__name__}: ")
    assert "\n" not in sentence
    assert ".py" not in sentence
    assert "test_ledger.py" in frames["trace"]
    assert ledger._frames(Never("no")) == {}
