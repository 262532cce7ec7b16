"""Failed attempts of a dispatch: the last ones, each with stage, class of the error and times, and no words of it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any, NoReturn
from uuid import UUID

from core.errors import Later, Never
from core.storage.db import Database, Tx
from core.types import Json
from tests.outcomes import Writing
from tests.samples import TENANT
from tests.workers.dispatch.owing import POLICY, a_ledger, owe, row_of, rush, swept, works
from tests.works import run_one
from workers.dispatch import failures, ledger
from workers.dispatch.model import BoundAgent, Job, Outcome

MANY = replace(POLICY, attempts=20)


def attempts(app: Database, dispatch_id: UUID) -> list[Json]:
    return list(row_of(app, dispatch_id).failures)


def run(app: Database, dispatch_id: UUID, agent: BoundAgent, times: int = 1, policy: Any = MANY) -> list[Json]:
    for _ in range(times):
        rush(app, dispatch_id)
        run_one(a_ledger(app, {"agent": agent}, policy), TENANT, dispatch_id)
    return attempts(app, dispatch_id)


def later(_job: Job) -> NoReturn:
    raise Later("The host does not answer, and my card is 4111.")


def never(_job: Job) -> NoReturn:
    raise Never("There is no such channel.")


def fails_to_write(_tx: Tx) -> NoReturn:
    raise KeyError("words")


def cannot_be_written(_job: Job) -> Outcome:
    return Outcome(Writing(fails_to_write))


def test_an_attempt_that_fails_is_told_with_its_stage_its_error_and_its_times(app: Database) -> None:
    one = owe(app)
    [failure] = run(app, one, later)
    assert failure.keys() == {"attempt", "stage", "error", "began_at", "ended_at"}
    assert (failure["attempt"], failure["stage"], failure["error"]) == (1, "agent", "Later")
    assert failure["began_at"] <= failure["ended_at"]


def test_no_words_of_an_error_are_kept(app: Database) -> None:
    assert "4111" not in json.dumps(run(app, owe(app), later))


def test_an_effect_that_cannot_be_written_is_told_from_an_agent_that_fails(app: Database) -> None:
    [failure] = run(app, owe(app), cannot_be_written)
    assert (failure["stage"], failure["error"]) == ("write", "KeyError")


def test_attempts_follow_each_other_to_the_last(app: Database) -> None:
    one = owe(app)
    run(app, one, later, 2)
    told = run(app, one, never)
    assert [(failure["attempt"], failure["error"]) for failure in told] == [(1, "Later"), (2, "Later"), (3, "Never")]
    assert row_of(app, one).status == "dead"


def test_the_last_ones_alone_are_kept(app: Database) -> None:
    one = owe(app)
    told = run(app, one, later, failures.KEPT + 2)
    assert [failure["attempt"] for failure in told] == list(range(3, failures.KEPT + 3))


def test_an_attempt_that_succeeds_keeps_the_failures_before_it(app: Database) -> None:
    one = owe(app)
    run(app, one, later)
    assert len(run(app, one, works)) == 1
    assert row_of(app, one).status == "done"


def test_a_worker_that_died_is_told_without_an_error(app: Database, queue: Database) -> None:
    one = owe(app)
    assert ledger._claim(a_ledger(app, {"agent": works}), TENANT, one) is not None
    rush(app, one)
    swept(queue)
    [failure] = attempts(app, one)
    assert (failure["attempt"], failure["stage"], failure["error"]) == (1, "worker", None)


def test_what_was_never_begun_has_not_failed(app: Database, queue: Database) -> None:
    one = owe(app)
    time.sleep(0.02)
    assert swept(queue) == [one]
    assert attempts(app, one) == []
