from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import text

from core.storage.db import Database
from core.types import DispatchStatus, Json
from tests.samples import TENANT
from tests.workers.dispatch.owing import (
    POLICY,
    a_ledger,
    deaths,
    expired,
    held,
    marks,
    owe,
    row_of,
    rush,
    statuses,
    swept,
    works,
)
from tests.works import run_one
from workers.dispatch import insertion, ledger, sweep
from workers.dispatch.model import NewDispatch


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
    run_one(a_ledger(app, {"agent": works}), TENANT, one)
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


def said(app: Database, event_type: str) -> list[Json]:
    """The payloads of all events of a type."""
    with app.tenant(TENANT) as tx:
        rows = tx.execute(
            text("SELECT payload FROM events WHERE event_type = :type ORDER BY seq"), {"type": event_type}
        )
        return [row.payload for row in rows]


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


def test_a_glance_sees_that_something_is_open(app: Database, queue: Database) -> None:
    def owing() -> bool:
        with queue.asking_queues(sweep.GLANCE) as (_, (((_now, _expiring, owing),),)):
            return owing

    assert not owing()
    owe(app)
    assert owing()
