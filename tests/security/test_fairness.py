"""What one tenant has waiting does not stand in front of another's work: in the router, the broker and the sweep."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.config import Settings
from core.maintenance import heartbeat
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy import limits, tenants
from core.types import DispatchStatus
from tests.samples import TENANT, accept, accept_all, event
from tests.works import Works, run_one
from workers.dispatch import fair_share, insertion, ledger, sweep
from workers.dispatch.model import Job, Ledger, LedgerPolicy, NewDispatch, Outcome
from workers.dispatch.relay import DispatchRef
from workers.routing import router

FLOOD = 1_000
EVIL, QUIET = "evil", TENANT
PATIENT = LedgerPolicy(lease=30, resend=60, retry_base=0.01, retry_max=600, attempts=3, running=16)


@pytest.fixture(autouse=True)
def evil(settings: Settings, app: Database) -> None:
    with app.tenant(EVIL) as tx:
        tenants.ensure(tx, EVIL)


def work_for(app: Database, tenant: str, number: int, **fields: Any) -> tuple[list[UUID], list[DispatchRef]]:
    """Dispatches of a tenant on the queue `cpu`: all of them, and those that were sent."""
    accepted = accept(app, event(), tenant=tenant)
    plain = NewDispatch(tenant, "run_agent", "agent", "cpu", {}, accepted.last_seq, accepted.last_seq, "c", 0)
    made = [replace(plain, id=uuid7(), **fields) for _ in range(number)]
    with app.tenant(tenant) as tx:
        return [one.id for one in made], insertion.insert(tx, made, PATIENT.resend)


def worker(app: Database, ran: list[UUID] | None = None) -> Ledger:
    def agent(job: Job) -> Outcome:
        if ran is not None:
            ran.append(job.id)
        return Outcome()

    return Ledger(app, {"agent": agent}, {"agent": "cpu"}, PATIENT)


def beat(app: Database, processes: int) -> None:
    """A worker of the queue `cpu` says how many processes it has."""
    say(app, "cpu@test:1", processes)


def say(app: Database, name: str, processes: int) -> None:
    """A worker beats once."""
    row = heartbeat._row(heartbeat.ProcessPart(name, "cpu", processes), datetime.now(UTC))
    app.ask_queues((heartbeat._BEAT, {**row, "tenants": None}))


def drain(book: Ledger, owed: Sequence[DispatchRef]) -> None:
    waiting = list(owed)
    while waiting:
        one = waiting.pop(0)
        waiting += run_one(book, one.tenant_id, one.id)


def test_of_a_flood_only_a_few_are_sent_and_another_tenants_work_is_sent_at_once(app: Database) -> None:
    beat(app, 3)
    flood, sent = work_for(app, EVIL, FLOOD)
    assert [owed.id for owed in sent] == flood[:2], "the oldest, and one process is left for others"
    (quiet,), owed = work_for(app, QUIET, 1)
    assert [one.id for one in owed] == [quiet]


def test_a_core_is_left_while_several_tenants_have_work(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    beat(app, 4)
    heartbeat.Heartbeat(app, "router", tenants=lambda: 2).close()
    flood, sent = work_for(app, EVIL, FLOOD)
    assert [owed.id for owed in sent] == flood[:1], "two cores, of which one is left for others"
    heartbeat.Heartbeat(app, "router", tenants=lambda: 1).close()
    with app.tenant(EVIL) as tx:
        owed = fair_share.offer(tx, PATIENT.shares, [(EVIL, "cpu")])
    assert [one.id for one in owed] == flood[1:3], "alone, it may keep all processes busy but one"


def test_a_flood_is_worked_off_in_its_order_each_once(app: Database) -> None:
    beat(app, 3)
    ran: list[UUID] = []
    flood, sent = work_for(app, EVIL, 50)
    drain(worker(app, ran), sent)
    assert ran == flood


def test_a_single_process_serves_every_tenant(app: Database) -> None:
    beat(app, 1)
    _, sent = work_for(app, EVIL, FLOOD)
    assert len(sent) == 1


def test_processes_of_all_workers_count_and_those_of_dead_ones_do_not(app: Database) -> None:
    for number, processes in enumerate((3, 4, 5)):
        say(app, f"cpu@test:{number}", processes)
    with app.tenant(EVIL) as tx:
        tx.execute(text("UPDATE heartbeats SET at = at - interval '1 hour' WHERE process = 'cpu@test:2'"))
    _, sent = work_for(app, EVIL, FLOOD)
    assert len(sent) == 3 + 4 - 1


@pytest.mark.parametrize(
    ("granted", "chosen", "expected"),
    [(None, None, TenantLimits().running), (4, None, 4), (40, None, 40), (4, 3, 3), (None, 2, 2)],
)
def test_the_limit_of_a_tenant_is_what_was_granted_and_chosen(
    app: Database, granted: int | None, chosen: int | None, expected: int
) -> None:
    with app.tenant(EVIL) as tx:
        if granted:
            limits.grant(tx, EVIL, {"running": granted})
        if chosen:
            limits.choose(tx, EVIL, {"running": chosen}, TenantLimits())
    _, sent = work_for(app, EVIL, 100)
    assert len(sent) == expected


def test_what_cannot_begin_gives_its_place_to_the_next(app: Database) -> None:
    beat(app, 3)
    book = worker(app)
    (first, second), sent = work_for(app, EVIL, 2, alone="session:s1")
    (third,), none = work_for(app, EVIL, 1)
    assert (len(sent), none) == (2, [])
    assert ledger._claim(book, EVIL, first) is not None
    assert [owed.id for owed in run_one(book, EVIL, second)] == [third]


def test_a_tenant_does_not_wait_for_the_lease_of_a_process_that_died(app: Database, queue: Database) -> None:
    beat(app, 3)
    book = worker(app)
    _, sent = work_for(app, EVIL, 4)
    for owed in sent:
        assert ledger._claim(book, EVIL, owed.id) is not None
    with queue.queue() as tx:
        assert sweep.due(tx, PATIENT) == [], "both places are taken"
    with app.tenant(EVIL) as tx:
        tx.execute(text("UPDATE dispatches SET wake_at = wake_at - interval '16 s' WHERE status = 'running'"))
    with queue.queue() as tx:
        assert len(sweep.due(tx, PATIENT)) == 2, "nobody has renewed these leases"


def test_what_nobody_sent_the_sweep_sends(app: Database, queue: Database) -> None:
    beat(app, 3)
    _, sent = work_for(app, EVIL, 5)
    with app.tenant(EVIL) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'cancelled', ended_at = now() WHERE turn = 'sent'"))
    with queue.queue() as tx:
        again = sweep.due(tx, PATIENT)
    assert len(again) == 2
    assert not {owed.id for owed in again} & {owed.id for owed in sent}


def test_the_retries_of_one_tenant_do_not_keep_the_sweep_from_anothers(app: Database, queue: Database) -> None:
    work_for(app, EVIL, FLOOD)
    (quiet,), _ = work_for(app, QUIET, 1)
    for tenant in (EVIL, QUIET):
        with app.tenant(tenant) as tx:
            tx.execute(text("UPDATE dispatches SET status = 'retrying', turn = NULL, wake_at = clock_timestamp()"))
    with queue.queue() as tx:
        assert quiet in {owed.id for owed in sweep.due(tx, PATIENT)}


def test_the_events_of_one_tenant_do_not_keep_the_router_from_anothers(app: Database, works: Works) -> None:
    for _ in range(4):
        accept_all(app, [event() for _ in range(500)], tenant=EVIL)
    quiet = accept(app, event(), tenant=QUIET).last_seq
    router.route(works.router)
    with app.tenant(QUIET) as tx:
        assert tx.execute(text("SELECT routed_at IS NOT NULL FROM events WHERE seq = :s"), {"s": quiet}).scalar_one()
    with app.tenant(EVIL) as tx:
        routed = list(tx.execute(text("SELECT seq FROM events WHERE routed_at IS NOT NULL ORDER BY seq")).scalars())
        oldest = list(tx.execute(text("SELECT seq FROM events ORDER BY seq LIMIT :n"), {"n": len(routed)}).scalars())
    assert routed == oldest, "in the order of its log"
    assert len(routed) == works.router.batch // 2


def test_where_more_tenants_wait_than_fit_each_is_served_in_time(app: Database, works: Works) -> None:
    small = replace(works.router, batch=2)
    for name in "abcd":
        with app.tenant(name) as tx:
            tenants.ensure(tx, name)
        accept_all(app, [event() for _ in range(100)], tenant=name)
    small.book.expect("abcd")
    served: set[str] = set()
    for _ in range(60):
        with router._claim(small, None) as (_, claimed, _):
            pass
        assert len({one.tenant_id for one in claimed}) == len(claimed) == 2
        served |= {one.tenant_id for one in claimed}
    assert served == set("abcd")


def test_what_is_under_way_for_one_tenant_is_never_more_than_its_share(app: Database, settings: Settings) -> None:
    """Inserted from several transactions, as by routers and workers at once."""
    beat(app, 3)
    sent = [owed for _ in range(20) for owed in work_for(app, EVIL, 1)[1]]
    assert len(sent) == 2
    assert LedgerPolicy.of(settings).running == settings.tenant_limits.running


def test_a_turn_ends_and_what_is_left_goes_to_the_end_of_the_line(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat(app, 2)
    ran: list[UUID] = []
    flood, (first,) = work_for(app, EVIL, 5)
    sent: list[DispatchRef] = []
    monkeypatch.setattr(ledger, "TURN_SECONDS", 60)
    ledger.take_turn(worker(app, ran), EVIL, "cpu", [first.id], sent.extend)
    assert (ran, sent) == (flood, []), "as long as the turn lasts, nothing goes through the broker"
    ran.clear()
    flood, (first,) = work_for(app, EVIL, 5)
    monkeypatch.setattr(ledger, "TURN_SECONDS", 0)
    ledger.take_turn(worker(app, ran), EVIL, "cpu", [first.id], sent.extend)
    assert ran == flood[:1]
    assert [owed.id for owed in sent] == flood[1:2]


def test_dead_letters_and_shadows_take_no_turn(app: Database) -> None:
    assert work_for(app, EVIL, 3, status=DispatchStatus.SHADOW)[1] == []
    assert work_for(app, EVIL, 3, status=DispatchStatus.DEAD)[1] == []
