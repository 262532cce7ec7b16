from __future__ import annotations

import pytest
from sqlalchemy import text

from core.errors import Later
from core.storage.db import Database
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import (
    POLICY,
    a_ledger,
    chain,
    expired,
    failing,
    held,
    in_lane,
    marks,
    row_of,
    rush,
    statuses,
    swept,
    works,
)
from tests.works import run_one
from workers.dispatch import insertion, ledger, sweep
from workers.dispatch.model import NewDispatch


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
    run_one(a_ledger(app, {"agent": failing(Later("busy"))}), TENANT, begun)
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


def test_what_is_held_for_approval_waits_and_notes_since_when(app: Database, queue: Database) -> None:
    (one,) = held(app, 60, "agent")
    assert swept(queue) == []
    assert run_one(a_ledger(app, {"agent": works}), TENANT, one) == []
    assert expired(queue) == 0
    row = row_of(app, one)
    assert (row.status, list(row.approval), marks(app)) == ("held", ["requested_at"], 0)


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
