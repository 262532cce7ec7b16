"""Which dispatches begin again, and in which order; who may ask for it is tested at `/v1/dispatches`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.dispatches import control as dispatch_control
from core.dispatches import retries as dispatch_retries
from core.dispatches.control import SignedRemark
from core.dispatches.retries import Replayed, RetryFilter
from core.errors import Conflict, NotFound
from core.storage.db import Database
from core.types import DispatchStatus
from tests.factories import PERSON
from tests.samples import TENANT
from tests.workers.dispatch.owing import chain, owe, row_of, statuses


def dead(app: Database, **fields: Any) -> UUID:
    return owe(app, **{"status": DispatchStatus.DEAD, "error": "Timeout after 10 s", **fields})


def cancel(app: Database, dispatch_id: UUID) -> None:
    with app.tenant(TENANT) as tx:
        dispatch_control.cancel(tx, dispatch_id, SignedRemark(PERSON))


def replay(app: Database, limit: int = 100, *, dry_run: bool = False, **wanted: Any) -> Replayed:
    with app.tenant(TENANT) as tx:
        return dispatch_retries.replay(tx, RetryFilter(**wanted), limit, dry_run=dry_run)


def repeat(app: Database, ids: Sequence[UUID], status: str) -> list[UUID]:
    with app.tenant(TENANT) as tx:
        return dispatch_retries.repeat(tx, ids, status)


def test_dead_letters_are_found_by_when_they_died(app: Database) -> None:
    ids = [dead(app) for _ in range(3)]
    with app.tenant(TENANT) as tx:
        for day, one in enumerate(ids, 1):
            at = datetime(2026, 3, day, 12, tzinfo=UTC)
            tx.execute(text("UPDATE dispatches SET ended_at = :at WHERE id = :id"), {"at": at, "id": one})
    first, second = (datetime(2026, 3, day, 12, tzinfo=UTC) for day in (1, 2))
    for since, until, found in ((None, first, []), (second, None, ids[1:]), (first, second, ids[:1])):
        assert replay(app, dry_run=True, since=since, until=until) == Replayed(len(found), found, [])
    assert statuses(app, ids) == ["dead"] * 3


def test_what_was_called_off_is_not_begun_before_what_must_be_done_first(app: Database) -> None:
    first, second, third = ids = chain(app, "agent", "agent", "agent")
    cancel(app, second)
    assert replay(app, 1, status="cancelled") == Replayed(2, [second], [second])
    assert statuses(app, ids) == ["pending", "held", "cancelled"]
    assert replay(app, status="cancelled") == Replayed(1, [third], [third])
    assert statuses(app, [first]) == ["pending"]


def test_what_begins_again_just_as_what_comes_before_it_is_called_off_is_left_alone(app: Database) -> None:
    first, second, third = ids = chain(app, "agent", "agent", "agent")
    cancel(app, second)
    # As if somebody had called off the first between the look for what fits and the writing.
    cancel(app, first)
    assert repeat(app, [second, third], "cancelled") == []
    assert repeat(app, ids, "cancelled") == ids
    assert statuses(app, ids) == ["pending", "held", "held"]


def test_one_that_begins_again_has_all_attempts_before_it_and_is_due_at_once(app: Database) -> None:
    one = dead(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET attempt = 8, sends = 3 WHERE id = :id"), {"id": one})
        dispatch_retries.retry(tx, one)
    row = row_of(app, one)
    assert (row.status, row.attempt, row.sends, row.ended_at) == ("pending", 0, 0, None)
    assert row.wake_at is not None
    assert row.error == "Timeout after 10 s", "why it died is still to be read"


def test_what_was_called_off_forgets_the_reason_when_it_begins_again(app: Database) -> None:
    one = owe(app)
    cancel(app, one)
    assert repeat(app, [one], "cancelled") == [one]
    assert row_of(app, one).error is None


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"status": DispatchStatus.DONE}, "is done; only a dead one"),
        ({"status": DispatchStatus.DEAD, "target": "hop_limit"}, "publish the event again"),
        ({"status": DispatchStatus.DEAD, "action_type": "accept", "target": "bus"}, "publish the event again"),
    ],
)
def test_what_no_agent_was_to_work_on_says_what_to_do_instead(app: Database, fields: Any, said: str) -> None:
    one = owe(app, **fields)
    with app.tenant(TENANT) as tx, pytest.raises(Conflict, match=said):
        dispatch_retries.retry(tx, one)
    assert statuses(app, [one]) == [fields["status"]]


def test_one_that_is_not_there_is_not_found(app: Database) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(NotFound):
        dispatch_retries.retry(tx, UUID(int=7))
