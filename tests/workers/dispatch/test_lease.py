from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.errors import Never
from core.storage.db import Database
from tests.outcomes import Writing
from tests.samples import TENANT
from tests.workers.dispatch.owing import (
    POLICY,
    a_ledger,
    deaths,
    mark,
    marks,
    owe,
    row_of,
    rush,
    swept,
    works,
)
from tests.works import run_one
from workers.dispatch import lease
from workers.dispatch.model import Job, Outcome


def test_who_lost_the_lease_leaves_no_effect(app: Database, queue: Database) -> None:
    one = owe(app)

    def overtaken(_job: Job) -> Outcome:
        rush(app, one)
        assert swept(queue) == [one]
        run_one(a_ledger(app, {"agent": works}), TENANT, one)
        return Outcome(Writing(mark))

    run_one(a_ledger(app, {"agent": overtaken}), TENANT, one)
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
            pool.submit(run_one, a_ledger(app, {"agent": second}), TENANT, one)
            assert second_begun.wait(20)
            return Outcome(Writing(mark))

        run_one(a_ledger(app, {"agent": first}), TENANT, one)
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
        run_one(a_ledger(app, {"agent": works}), TENANT, one)
        raise Never("too late to say so")

    run_one(a_ledger(app, {"agent": overtaken}), TENANT, one)
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

    run_one(a_ledger(app, {"agent": thoughtful}, short), TENANT, one)
    assert (row_of(app, one).status, row_of(app, one).attempt) == ("done", 1)


def lease_threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "lease"}


def test_one_thread_looks_after_all_attempts_and_ends_when_there_are_none(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "IDLE_TURNS", 1)
    monkeypatch.setattr(lease, "_WATCHES", lease._Watches())
    others, seen, together = lease_threads(), [], threading.Barrier(3, timeout=20)

    def meets_others(_job: Job) -> Outcome:
        together.wait()
        seen.append(lease_threads() - others)
        together.wait()
        return Outcome()

    book = a_ledger(app, {"agent": meets_others})
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda one: run_one(book, TENANT, one), [owe(app) for _ in range(3)]))
    assert [len(threads) for threads in seen] == [1, 1, 1]
    for thread in seen[0]:
        thread.join(20)
    assert not seen[0] & lease_threads()
