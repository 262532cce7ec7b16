"""No agent runs without an end: not one that takes too long, and not one that was called off."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import replace
from signal import SIGALRM

import pytest
from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from tests.doors import Doors
from tests.outcomes import Writing
from tests.samples import TENANT
from tests.workers.dispatch.owing import deaths, mark, marks, owe, row_of, rush, swept
from tests.works import run_one
from workers.agents import table
from workers.dispatch import deadline, lease, ledger
from workers.dispatch.model import BoundAgent, Job, Ledger, LedgerPolicy, Outcome

POLICY = LedgerPolicy(lease=3, resend=0.01, retry_base=0.01, retry_max=600, attempts=8)
SECONDS = 0.5

pytestmark = pytest.mark.timeout(60, method="thread")


def a_worker(app: Database, agent: BoundAgent, seconds: float | None = SECONDS) -> Ledger:
    """A ledger in a process of its own, as a worker has it."""
    limits = {} if seconds is None else {"agent": seconds}
    return Ledger(app, {"agent": agent}, {"agent": "io"}, POLICY, seconds=limits, interrupts=True)


def computes(_job: Job) -> Outcome:
    """Computes for ever, and handles whatever fails."""
    while True:
        try:
            sum(range(1000))
        except Exception:  # noqa: BLE001, S112 - as agents do
            continue


def sleeps(_job: Job) -> Outcome:
    time.sleep(3600)
    return Outcome(Writing(mark))


@pytest.mark.parametrize("agent", [computes, sleeps])
def test_an_attempt_that_takes_too_long_is_ended_and_the_second_was_the_last(app: Database, agent: BoundAgent) -> None:
    one = owe(app)
    began = time.monotonic()
    run_one(a_worker(app, agent), TENANT, one)
    assert time.monotonic() - began < SECONDS + 3 * lease.CHECK_SECONDS
    row = row_of(app, one)
    assert (row.status, row.overruns, row.attempt) == ("retrying", 1, 1)
    rush(app, one)
    run_one(a_worker(app, agent), TENANT, one)
    row = row_of(app, one)
    assert (row.status, row.overruns) == ("dead", 2)
    assert row.error == "agent took longer than the 0.5 s that it may take (2 of 2 times)."
    assert [death["reason"] for death in deaths(app)] == [row.error]


def test_an_attempt_that_waits_for_the_database_is_ended_and_the_connections_stay_usable(app: Database) -> None:
    one = owe(app)

    def asks(job: Job) -> Outcome:
        with app.tenant(job.tenant_id) as tx:
            tx.execute(text("SELECT pg_sleep(3600)"))
        return Outcome(Writing(mark))

    run_one(a_worker(app, asks), TENANT, one)
    assert row_of(app, one).overruns == 1
    rush(app, one)
    run_one(a_worker(app, lambda _job: Outcome(Writing(mark))), TENANT, one)
    assert (row_of(app, one).status, marks(app)) == ("done", 1)


def test_who_is_in_time_is_not_disturbed(app: Database) -> None:
    one = owe(app)

    def quick(_job: Job) -> Outcome:
        time.sleep(SECONDS / 5)
        return Outcome(Writing(mark))

    run_one(a_worker(app, quick), TENANT, one)
    assert (row_of(app, one).status, marks(app)) == ("done", 1)


def test_what_keeps_the_interpreter_is_ended_with_its_process() -> None:
    program = """
import re
from workers.dispatch import deadline
deadline.GRACE_SECONDS = 0.2
with deadline.interruptible(0.2):
    re.match(r"(a+)+$", "a" * 60 + "b")
"""
    ended = subprocess.run([sys.executable, "-c", program], timeout=50, check=False)
    assert ended.returncode == -SIGALRM


def test_a_process_that_had_to_be_ended_counts_as_an_overrun(app: Database, queue: Database) -> None:
    one = owe(app)
    book = a_worker(app, computes, seconds=60)
    for overruns in (1, 2):
        assert ledger._claim(book, TENANT, one) is not None
        with app.tenant(TENANT) as tx:
            tx.execute(text("UPDATE dispatches SET deadline_at = now(), wake_at = now()"))
        swept(queue)
        assert row_of(app, one).overruns == overruns
    row = row_of(app, one)
    assert row.status == "dead"
    assert row.error == ("agent took longer than it may, at each of 2 attempts, and its process had to be ended.")
    assert len(deaths(app)) == 1


def test_a_lease_is_not_renewed_beyond_the_deadline(app: Database) -> None:
    one = owe(app)
    book = a_worker(app, computes, seconds=1)
    job = ledger._claim(book, TENANT, one)
    assert job is not None
    with app.tenant(TENANT) as tx:
        tx.execute(lease._RENEW, {"id": one, "lease": job.lease, "seconds": 3600})
    row = row_of(app, one)
    assert row.wake_at == row.deadline_at


def test_a_crash_long_before_the_deadline_is_no_overrun(app: Database, queue: Database) -> None:
    one = owe(app)
    assert ledger._claim(a_worker(app, computes, seconds=60), TENANT, one) is not None
    rush(app, one)
    assert swept(queue) == [one]
    assert (row_of(app, one).status, row_of(app, one).overruns) == ("pending", 0)


def test_what_runs_can_be_called_off_and_its_agent_stops_within_seconds(
    settings: Settings, door: Doors, app: Database
) -> None:
    one, begun = owe(app), threading.Event()

    def busy(job: Job) -> Outcome:
        begun.set()
        return computes(job)

    def call_off() -> None:
        assert begun.wait(20)
        answers.append(door.post(f"/v1/dispatches/{one}/cancel", {"comment": "by mistake"}))

    answers: list = []  # type: ignore[type-arg]
    caller = threading.Thread(target=call_off)
    caller.start()
    began = time.monotonic()
    run_one(a_worker(app, busy, seconds=None), TENANT, one)
    assert time.monotonic() - began < 3 * lease.CHECK_SECONDS + 5
    caller.join()
    assert (answers[0].status_code, answers[0].json()["status"]) == (200, "cancelled")
    row = row_of(app, one)
    assert (row.status, row.lease) == ("cancelled", None)
    assert "by mistake" in row.error
    assert marks(app) == 0


def test_what_was_called_off_while_it_wrote_leaves_nothing(door: Doors, app: Database) -> None:
    one = owe(app)

    def called_off(_job: Job) -> Outcome:
        assert door.post(f"/v1/dispatches/{one}/cancel").status_code == 200
        return Outcome(Writing(mark))

    run_one(Ledger(app, {"agent": called_off}, {"agent": "io"}, POLICY), TENANT, one)
    assert (row_of(app, one).status, marks(app)) == ("cancelled", 0)


def test_who_waited_for_one_that_was_called_off_is_called(door: Doors, app: Database, queue: Database) -> None:
    first, second = owe(app, alone="session:s1"), owe(app, alone="session:s1")
    book = a_worker(app, lambda _job: Outcome(Writing(mark)))
    assert ledger._claim(book, TENANT, first) is not None
    assert run_one(book, TENANT, second) == [], "it waits for the first"
    assert door.post(f"/v1/dispatches/{first}/cancel").status_code == 200
    assert second in swept(queue, replace(POLICY, resend=600))


def test_every_agent_has_a_limit_far_below_ten_minutes_but_those_that_read_a_whole_history(settings: Settings) -> None:
    limits = table.seconds(settings)
    assert {name for name, most in limits.items() if most > 180} == {"archive_restorer", "memory_rebuilder"}
    assert (limits["plan_tracker"], limits["webhook_sender"], limits["memory_deduplicator"]) == (60, 120, 180)
    with_model = settings.model_copy(update={"llm_base_url": "http://127.0.0.1:1/v1"})
    assert table.seconds(with_model)["memory_extractor"] == 180


def test_limits_are_set_by_agent_or_by_queue_and_never_above_the_limit_of_all(settings: Settings) -> None:
    given = {"cpu": 10.0, "mirror_writer": 7.0, "notifier": 9_999.0}
    limits = table.seconds(settings.model_copy(update={"agent_seconds": given}))
    assert (limits["plan_tracker"], limits["mirror_writer"]) == (10, 7)
    assert limits["notifier"] == settings.task_seconds


def test_the_hard_end_comes_after_the_soft_one() -> None:
    assert deadline.GRACE_SECONDS > 2 * lease.CHECK_SECONDS
