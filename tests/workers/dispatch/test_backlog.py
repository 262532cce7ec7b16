"""What the gauges call claimable is what router, sweep and workers then take: no more, and no less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from core.storage.db import Database, Tx
from core.types import DispatchStatus
from tests.samples import TENANT
from tests.workers.dispatch.owing import POLICY, chain, held, in_lane, owe
from workers.dispatch import backlog, fair_share, sweep
from workers.dispatch.backlog import Backlog

ROOMY = replace(POLICY, running=1000)
AN_HOUR = timedelta(hours=1)


def counted(queue: Database) -> Backlog:
    return backlog.of(*queue.ask_queues(*backlog.asking(ROOMY)))


def change(app: Database, dispatch_id: UUID, **values: Any) -> UUID:
    """Give a row the values that its fate would have given it."""
    columns = ", ".join(f"{name} = :{name}" for name in values)
    with app.tenant(TENANT) as tx:
        tx.execute(text(f"UPDATE dispatches SET {columns} WHERE id = :id"), {"id": dispatch_id, **values})
    return dispatch_id


def in_(past: timedelta) -> datetime:
    return datetime.now(UTC) + past


def running(app: Database, wake: timedelta, deadline: timedelta, *, attempt: int = 1, overruns: int = 0) -> UUID:
    values = {"status": "running", "turn": "sent", "lease": uuid4(), "attempt": attempt, "overruns": overruns}
    return change(app, owe(app), **values, wake_at=in_(wake), deadline_at=in_(deadline))


def every_kind(app: Database) -> Mapping[str, UUID]:
    """A dispatch in each state that one may be in."""
    waits = "The model is left alone."
    gone = {"ended_at": datetime.now(UTC), "turn": None, "wake_at": None}
    lane = in_lane(app, 2)
    return {
        "ready": change(app, owe(app), turn="ready", wake_at=None),
        "sent": change(app, owe(app), turn="sent", wake_at=in_(AN_HOUR)),
        "sent, its message lost": change(app, owe(app), turn="sent", wake_at=in_(-AN_HOUR)),
        "sent after a retry by hand": change(app, owe(app), turn="sent", sends=1, error=waits, wake_at=in_(AN_HOUR)),
        "put back for the model": change(app, owe(app), turn="sent", sends=0, error=waits, wake_at=in_(AN_HOUR)),
        "put back, and due": change(app, owe(app), turn="sent", sends=0, error=waits, wake_at=in_(-AN_HOUR)),
        "waits for its lane": change(app, lane[1], turn=None, wake_at=None),
        "leased": running(app, AN_HOUR, AN_HOUR),
        "abandoned by its worker": running(app, -AN_HOUR, AN_HOUR),
        "abandoned at every attempt": running(app, -AN_HOUR, AN_HOUR, attempt=POLICY.attempts),
        "overran once": running(app, -AN_HOUR, -2 * AN_HOUR),
        "overran again": running(app, -AN_HOUR, -2 * AN_HOUR, overruns=1),
        "retrying": change(app, owe(app), status="retrying", turn=None, attempt=1, wake_at=in_(AN_HOUR)),
        "overdue": change(app, owe(app), status="retrying", turn=None, attempt=1, wake_at=in_(-AN_HOUR)),
        "waits for an approval": held(app, 3600, "agent")[0],
        "held until a time": change(app, held(app, 3600, "agent")[0], hold="time"),
        "follows another": chain(app, "agent", "agent")[1],
        "cancelled": change(app, owe(app), status="cancelled", **gone),
        "done": change(app, owe(app), status="done", **gone),
        "dead": change(app, owe(app), status="dead", error=waits, **gone),
    }


def taken(app: Database, queue: Database, sent: set[UUID]) -> set[UUID]:
    """Whatever the sweep, the offers and the workers take: what the broker had, and what is offered now."""
    with queue.queue() as tx:
        offered = {owed.id for owed in sweep.due(tx, ROOMY)}
    with app.tenant(TENANT) as tx:
        return {dispatch_id for dispatch_id in offered | sent if is_claimed(tx, dispatch_id)}


def is_claimed(tx: Tx, dispatch_id: UUID) -> bool:
    values = {"id": dispatch_id, "lease": uuid4(), "seconds": 60, "limits": '{"agent": 60}'}
    return bool(tx.execute(fair_share.CLAIM, values).all())


def test_claimable_is_exactly_what_is_then_claimed(app: Database, queue: Database) -> None:
    kinds = every_kind(app)
    before = counted(queue)
    in_broker = {kinds["sent"], kinds["sent after a retry by hand"]}
    claimed = taken(app, queue, in_broker)
    names = {name for name, dispatch_id in kinds.items() if dispatch_id in claimed}
    assert names == {
        "ready",
        "sent",
        "sent, its message lost",
        "sent after a retry by hand",
        "put back, and due",
        "abandoned by its worker",
        "overran once",
        "overdue",
    }
    others = claimed - set(kinds.values())
    assert len(others) == 2, "the first of the lane, and the one that another follows"
    assert before.claimable == {"io": len(claimed)}
    after = counted(queue)
    assert after.claimable == {"io": 0}
    assert after.leased == before.leased + len(claimed)


def test_every_state_is_counted_once(app: Database, queue: Database) -> None:
    every_kind(app)
    backlog_now = counted(queue)
    with queue.queue() as tx:
        stored = {
            row.status: row.n for row in tx.execute(text("SELECT status, count(*) AS n FROM dispatches GROUP BY 1"))
        }
    assert backlog_now.leased == 1
    assert backlog_now.retrying == 1
    assert backlog_now.statuses == {status: stored[status] for status in backlog.STATUSES}
    assert stored[DispatchStatus.HELD] == 3


def test_what_the_sweep_gives_up_was_not_claimable_and_is_dead_then(app: Database, queue: Database) -> None:
    running(app, -AN_HOUR, AN_HOUR, attempt=POLICY.attempts)
    running(app, -AN_HOUR, -2 * AN_HOUR, overruns=1)
    assert counted(queue).claimable == {"io": 0}
    with queue.queue() as tx:
        assert sweep.due(tx, ROOMY) == []
    assert counted(queue).statuses == {"dead": 2}
