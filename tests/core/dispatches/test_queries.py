from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.dispatches import queries as dispatch_queries
from core.dispatches.queries import DispatchFilter
from core.errors import NotFound
from core.events import log
from core.storage.db import Database
from core.tenancy import tenants
from core.types import DispatchStatus
from tests import databases
from tests.samples import TENANT, accept, event
from tests.workers.dispatch.owing import held, owe


def found(app: Database, **wanted: str) -> list[UUID]:
    with app.tenant(TENANT) as tx:
        return [row.id for row in dispatch_queries.find(tx, DispatchFilter(**wanted))]


def test_dispatches_are_found_newest_first_by_what_they_have_in_common(app: Database) -> None:
    plain, dead, other = owe(app), owe(app, status=DispatchStatus.DEAD, error="x"), owe(app, "notifier", rule="r")
    (waiting,) = held(app, 60, "agent")
    assert found(app) == [waiting, other, dead, plain]
    assert found(app, status="dead") == [dead]
    assert found(app, target="notifier", rule="r") == [other]
    assert found(app, hold="approval") == [waiting]
    assert found(app, target="notifier", status="dead") == []


def test_a_page_begins_after_the_last_one_of_the_page_before(app: Database) -> None:
    ids = [owe(app) for _ in range(5)]
    with app.tenant(TENANT) as tx:
        first = dispatch_queries.find(tx, DispatchFilter(), limit=3)
        rest = dispatch_queries.find(tx, DispatchFilter(), after=first[-1].id, limit=3)
    assert [row.id for row in (*first, *rest)] == ids[::-1]


def test_one_comes_with_the_id_and_type_of_its_event_or_without_where_it_has_none(app: Database) -> None:
    with_event, without = owe(app), owe(app, event_seq=None)
    with app.tenant(TENANT) as tx:
        one, other = dispatch_queries.get(tx, with_event), dispatch_queries.get(tx, without)
        assert (one.event_id, one.event_type) == (log.at(tx, one.event_seq).id, "order.placed")
        assert (other.event_id, other.event_type) == (None, None)
        assert dispatch_queries.find_one(tx, None) is None
        with pytest.raises(NotFound, match="There is no dispatch"):
            dispatch_queries.get(tx, UUID(int=7))


def test_an_event_has_its_own_dispatches_and_those_that_gathered_it(app: Database) -> None:
    own = owe(app)
    with app.tenant(TENANT) as tx:
        mine = log.at(tx, dispatch_queries.get(tx, own).event_seq)
    gathered = owe(app, params={"gathered": [mine.id, "e9"]})
    owe(app, params={"gathered": ["e9"]})
    with app.tenant(TENANT) as tx:
        assert [row.id for row in dispatch_queries.of_event(tx, mine)] == [own, gathered]


def test_a_flow_is_not_looked_for_beyond_so_many_events(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch_queries, "GATHER_EVENTS", 2)
    first = accept(app, event()).ids[0][0]
    gathering = [owe(app, params={"gathered": [first]}) for _ in range(3)]
    with app.tenant(TENANT) as tx:
        assert [row.id for row in dispatch_queries.of_event(tx, log.get(tx, first))] == gathering[:2]


def test_who_may_decide_are_the_keys_with_such_a_scope_that_are_not_revoked(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        before = {one.id for one in dispatch_queries.deciders(tx)}
        keys = {name: tenants.create_key(tx, TENANT, (name,))[0] for name in ("rules", "admin", "read", "write")}
        gone, _ = tenants.create_key(tx, TENANT, ("rules",))
        tx.execute(text("UPDATE api_keys SET revoked_at = now() WHERE id = :id"), {"id": gone})
        assert {one.id for one in dispatch_queries.deciders(tx)} - before == {keys["rules"], keys["admin"]}


def about(app: Database, *subjects: str, **fields: Any) -> list[UUID]:
    """Dispatches of the resolver that wait for approval, each of an event about a subject."""
    made = []
    for subject in subjects:
        seq = accept(app, event("note.taken", subject=subject)).last_seq
        given = {"target": "resolver", "status": DispatchStatus.HELD, "hold": "approval", "event_seq": seq, **fields}
        made.append(owe(app, **given))
    return made


def held_about(app: Database, *ids: UUID) -> dict[UUID, list[UUID]]:
    with app.tenant(TENANT) as tx:
        return dispatch_queries.held_about(tx, "resolver", ids)


def test_those_that_wait_for_approval_are_found_by_the_memory_that_their_event_is_about(app: Database) -> None:
    one, other = UUID(int=1), UUID(int=2)
    first, second, third = about(app, f"memory:{one}", f"memory:{one}", f"memory:{other}")
    about(app, f"memory:{one}", target="another")
    about(app, f"memory:{one}", hold="turn")
    about(app, "user:ada")
    assert held_about(app, one, other, UUID(int=3)) == {one: [first, second], other: [third]}
    assert held_about(app, other) == {other: [third]}
    assert held_about(app) == {}
    with app.tenant("globex") as tx:
        assert dispatch_queries.held_about(tx, "resolver", [one]) == {}


def test_of_those_that_wait_the_newest_alone_are_looked_through(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    one = UUID(int=1)
    _, second, third = about(app, *[f"memory:{one}"] * 3)
    monkeypatch.setattr(dispatch_queries, "SEARCHED", 2)
    assert held_about(app, one) == {one: [second, third]}


def test_those_that_wait_are_found_in_the_index_however_many_dispatches_there_are(
    settings: Settings, app: Database
) -> None:
    events = """
        INSERT INTO events (tenant_id, id, source, event_type, subject, time, payload, correlation_id)
        SELECT :tenant, 'e' || n, 'shop', 'order.placed', 'memory:' || n, now(), '{}', 'c'
        FROM generate_series(1, 20000) AS n
    """
    dispatches = """
        INSERT INTO dispatches (tenant_id, action_type, target, queue, status, hold, event_seq, root_seq)
        SELECT :tenant, 'run_agent', 'resolver', 'io', CASE WHEN n % 100 = 0 THEN 'held' ELSE 'done' END,
               CASE WHEN n % 100 = 0 THEN 'approval' END, seq, seq
        FROM (SELECT seq, row_number() OVER (ORDER BY seq) AS n FROM events) AS e
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(events), {"tenant": TENANT})
        tx.execute(text(dispatches), {"tenant": TENANT})
    databases.analyzed(settings, "events", "dispatches")
    values = {"target": "resolver", "subjects": ["memory:100", "memory:101"], "searched": dispatch_queries.SEARCHED}
    with app.tenant(TENANT) as tx:
        nodes = databases.carried_out(tx, str(dispatch_queries._HELD_ABOUT), values)
    assert sum(databases.looked_at(nodes, "dispatches")) == 200
    assert sum(databases.looked_at(nodes, "events")) <= 200
