"""Dispatches of an agent, their rows, and the effects that were committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Database, Tx
from core.types import DispatchStatus, Json
from tests.outcomes import Writing
from tests.samples import TENANT, accept, event
from workers.dispatch import insertion, sweep
from workers.dispatch.model import BoundAgent, Job, Ledger, LedgerPolicy, NewDispatch, Outcome

POLICY = LedgerPolicy(lease=5, resend=0.01, retry_base=0.01, retry_max=600, attempts=3)


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


def a_ledger(app: Database, agents: Mapping[str, BoundAgent], policy: LedgerPolicy = POLICY) -> Ledger:
    return Ledger(app, agents, dict.fromkeys(agents, "io"), policy)


def works(_job: Job) -> Outcome:
    return Outcome(Writing(mark))


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


def held(app: Database, seconds: float, *targets: str) -> list[UUID]:
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    return chain(app, *targets, status=DispatchStatus.HELD, hold="approval", expires_at=until)


def expired(queue: Database) -> int:
    with queue.queue() as tx:
        return sweep.expire(tx)


def failing(error: Exception) -> BoundAgent:
    def fail(_job: Job) -> Outcome:
        raise error

    return fail


def in_lane(app: Database, number: int, limit: int = 1, **fields: Any) -> list[UUID]:
    return [owe(app, lane="r:ada", lane_limit=limit, **fields) for _ in range(number)]
