"""A snapshot that is held open keeps what has ended from being vacuumed away, and no statement may read all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import TextClause, text
from uuid_utils.compat import uuid7

from core.config import Settings
from core.storage.db import Database, Tx, run_together
from tests import databases
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import POLICY, a_ledger, works
from tests.works import run_one
from workers.dispatch import fair_share, insertion, lease, ledger, sweep
from workers.dispatch.fair_share import Key
from workers.dispatch.model import NewDispatch
from workers.routing import router

KEY: Key = (TENANT, "io")
SHARES = replace(POLICY.shares, raises=1, running=5000)
FEW, MANY = 200, 4000


@pytest.fixture
def held_snapshot(queue: Database) -> Iterator[None]:
    """A snapshot from before everything that the test does."""
    with queue.engine.connect() as other:
        other.exec_driver_sql("BEGIN ISOLATION LEVEL REPEATABLE READ")
        other.exec_driver_sql("SELECT count(*) FROM tenants")
        yield


def finish(app: Database, queue: Database, number: int) -> UUID:
    """Bring so many events and dispatches from their beginning to their end; return the last dispatch."""
    seqs = [accept(app, event()).last_seq]
    plain = NewDispatch(TENANT, "run_agent", "agent", "io", {}, seqs[0], seqs[0], "c", 0)
    made = [replace(plain, id=uuid7()) for _ in range(number)]
    with queue.queue() as tx:
        fair_share.offer(tx, SHARES, insertion.insert_rows(tx, made))
    with queue.queue() as tx:
        tx.execute(_EVENTS, {"tenant": TENANT, "number": number})
    for statement in (_RUN, _DONE, _ROUTED):
        with queue.queue() as tx:
            tx.execute(statement)
    last = insertion_of_one(app)
    run_one(a_ledger(app, {"agent": works}), TENANT, last)
    return last


def insertion_of_one(app: Database) -> UUID:
    """One dispatch, sent, after which the bounds are raised."""
    seq = accept(app, event()).last_seq
    one = NewDispatch(TENANT, "run_agent", "agent", "io", {}, seq, seq, "c", 0)
    with app.tenant(TENANT) as tx:
        fair_share.offer(tx, SHARES, insertion.insert_rows(tx, [one]))
    return one.id


def pages(tx: Tx, statement: TextClause, values: Mapping[str, object]) -> int:
    explain = text(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement.text}")
    (((answer,),),) = run_together(tx, (explain, values))
    plan = answer[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


def pages_of_all(app: Database, queue: Database, one: UUID) -> dict[str, int]:
    """Pages that each statement on the way of a dispatch reads, and those of the loops beside it."""
    room = fair_share._room(SHARES, [KEY])
    lost: dict[str, Any] = {"id": one, "lease": uuid4(), "seconds": 30}
    with queue.queue() as tx:
        tx.execute(text("SET LOCAL enable_seqscan = off"))  # Of a table of a few pages, that would be the cheaper way.
        newest = tx.execute(text("SELECT max(seq) FROM events")).scalar_one()
        now = tx.execute(text("SELECT now()")).scalar_one()
        owed = {"attempts": 3, "overruns": 2, "share": 100, "limit": 500, "since": now}
        offer = {"resend": 10, "longest": 50, "lowest": [None], **fair_share._claim_values(None)}
        found = {
            "offer": pages(tx, fair_share._OFFER, room | offer),
            "offer and lower": pages(tx, fair_share._OFFER, room | offer | {"lowest": [str(one)]}),
            "raise": pages(tx, fair_share._RAISE, room),
            "room": pages(tx, fair_share._WITH_ROOM, room | {"ids": [one]}),
            "sweep": pages(tx, sweep._OWED, owed),
            "route": pages(tx, router._CLAIM, {"limit": 500, "as_of": None, "since": newest}),
        }
    with app.tenant(TENANT) as tx:
        tx.execute(_BEGIN_AGAIN, lost)
        return found | {
            "done": pages(tx, ledger._DONE, lost | {"result": "{}", "hands_on": True}),
            "claim": pages(tx, fair_share.CLAIM, ledger._claim_values(a_ledger(app, {}), one, uuid4())),
            "renew": pages(tx, lease._RENEW, lost),
        }


def test_no_statement_of_a_dispatch_reads_more_pages_for_what_has_ended(
    settings: Settings, app: Database, queue: Database, held_snapshot: None
) -> None:
    one = finish(app, queue, FEW)
    databases.analyzed(settings, "dispatches", "events")
    before = pages_of_all(app, queue, one)
    one = finish(app, queue, MANY)
    databases.analyzed(settings, "dispatches", "events")
    with queue.queue() as tx:
        dead = tx.execute(text("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'dispatches'")).scalar_one()
    assert dead > MANY, "nothing could be vacuumed"
    after = pages_of_all(app, queue, one)
    assert {name: number for name, number in after.items() if number > before[name] + 12} == {}


_EVENTS = text("""
    INSERT INTO events (tenant_id, id, source, event_type, time, correlation_id)
    SELECT :tenant, gen_random_uuid(), 'test', 'order.placed', now(), 'c' FROM generate_series(1, :number)
""")

_RUN = text("""
    UPDATE dispatches SET status = 'running', lease = gen_random_uuid(), wake_at = clock_timestamp() + interval '5 s'
    WHERE status = 'pending' AND turn = 'sent'
""")

_DONE = text("UPDATE dispatches SET status = 'done', ended_at = now(), wake_at = NULL WHERE status = 'running'")

_BEGIN_AGAIN = text("UPDATE dispatches SET status = 'running', lease = :lease WHERE id = :id")

_ROUTED = text("UPDATE events SET routed_at = now() WHERE routed_at IS NULL")
