"""A tenant is moved between two databases, with another in each that must not notice."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Table, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.exc import DBAPIError

from core.cells import freezing, moving, positions, rows
from core.cells.moving import Cell
from core.config import Settings
from core.dispatches import dispatches
from core.errors import Conflict, NotFound, Unauthorized
from core.events import feed, log
from core.events.feed import BEGINNING, Position
from core.events.parsing import Incoming
from core.inference.embedders import HashEmbedder
from core.language.terms import TERM_IDS
from core.storage import db, schema, schema_version, tables
from core.storage.db import Tx, run_together
from core.storage.tables import TENANT_TABLES
from core.tenancy.tenants import caller
from tests.databases import beside
from tests.doors import key_of
from tests.ports import free_port

NEIGHBOUR = "globex"
ODD = 'tab\t, line\n, quote ", backslash \\, \\N, dot \\., é, 猫'
VALUES: dict[str, Any] = {
    "text": ODD,
    "integer": 7,
    "big_integer": 7,
    "small_integer": 7,
    "double": 0.1 + 0.2,
    "boolean": True,
    "large_binary": "\\x005cff0a",
    "uuid": str(UUID(int=7)),
    "JSONB": {"text": ODD, "number": 1e-7},
    "datetime": "2026-03-29T01:30:00.123456+00:00",
    "HALFVEC": str([0.1] * 384),
    "SPARSEVEC": f"{{3:0.5,900:1.25}}/{TERM_IDS}",
}
"""A value for each type of column, as JSON."""

OWN: dict[str, dict[str, Any]] = {
    "relations": {"strength": 0.3},
    "dispatches": {"status": "done", "turn": None},
    "rebuilds": {"status": "applied"},
    "tenant_settings": {"name": "retention"},
    "events": {"written_in": 3},
    "expiries": {"written_in": 3},
}
"""Values that a table is particular about."""


@pytest.fixture(scope="module")
def pair(upgraded: Settings) -> Iterator[tuple[Settings, Settings]]:
    with beside(upgraded) as source, beside(upgraded) as target:
        for settings in (source, target):
            schema.upgrade(settings, (HashEmbedder().name, HashEmbedder().dimension))
            key_of(settings, NEIGHBOUR)
        yield source, target


@pytest.fixture
def tenant() -> str:
    """A tenant that no other test has."""
    return f"t{uuid4().hex[:12]}"


@contextmanager
def cells(*several: Settings) -> Iterator[list[Cell]]:
    with ExitStack() as last:
        yield [last.enter_context(moving.opened(db.owner_url(s), db.app_url(s))) for s in several]


def moved(source: Settings, target: Settings, tenant: str) -> moving.Copied | None:
    with cells(source, target) as (here, there):
        return moving.copy(here, there, tenant)


def removed(source: Settings, tenant: str) -> int:
    with cells(source) as (here,):
        return moving.remove(here, tenant)


@contextmanager
def looking(settings: Settings, tenant: str) -> Iterator[Tx]:
    """The rows of a tenant, also while it is frozen."""
    with closing(db.connect(db.app_url(settings), 1)) as app, app.tenant(tenant) as tx:
        freezing.look_into(tx, tenant)
        yield tx


def counts(settings: Settings, tenant: str) -> dict[str, int]:
    with looking(settings, tenant) as tx:
        count = {t.name: tx.execute(text(f"SELECT count(*) FROM {t.name}")).scalar_one() for t in TENANT_TABLES}
    return {name: number for name, number in count.items() if number}


def value_of(kind: Any) -> Any:
    if isinstance(kind, ARRAY):
        return [value_of(kind.item_type)]
    return VALUES.get(kind.__visit_name__) or VALUES[type(kind).__name__]


def fill(tx: Tx, table: Table, tenant: str) -> None:
    """Insert a row with a value in each column."""
    row = {c.name: value_of(c.type) for c in table.c if c.computed is None}
    row |= {"id" if table is tables.tenants else "tenant_id": tenant} | OWN.get(table.name, {})
    names = ", ".join(c.name for c in table.c if c.computed is None)
    record = f"json_populate_record(NULL::{table.name}, cast(:row AS json))"
    statement = f"INSERT INTO {table.name} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM {record}"
    tx.execute(text(statement), {"row": json.dumps(row)})


def publish(settings: Settings, tenant: str, *names: str) -> None:
    """Append events of these names; nobody routes them yet."""
    batch = [Incoming(name, "t", "order.placed", None, datetime.now(UTC), {}, name) for name in names]
    with looking(settings, tenant) as tx:
        run_together(tx, log.appending(tenant, batch))


def streamed(settings: Settings, tenant: str, after: Position) -> feed.FeedPage:
    with looking(settings, tenant) as tx:
        return feed.read(tx, after, 100)


def policies(settings: Settings) -> list[str]:
    with looking(settings, NEIGHBOUR) as tx:
        return list(tx.execute(text("SELECT tablename FROM pg_policies WHERE policyname = 'moving'")).scalars())


def test_every_column_of_every_table_arrives_as_it_was(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    with looking(source, tenant) as tx:
        for table in rows.COPIED:
            fill(tx, table, tenant)
    copied = moved(source, target, tenant)
    assert copied
    assert copied.keeps_positions
    assert set(copied.rows.values()) == {1}
    with looking(source, tenant) as here, looking(target, tenant) as there:
        for table in rows.COPIED:
            columns = [c for c in table.c if c.name != "revision"]
            assert there.execute(select(*columns)).all() == here.execute(select(*columns)).all(), table.name
    removed(source, tenant)


def test_a_moved_tenant_has_left_nothing_and_others_everything(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    key = key_of(source, tenant)
    publish(source, tenant, "e1", "e2")
    before = counts(source, NEIGHBOUR), counts(target, NEIGHBOUR)
    with pytest.raises(NotFound, match="not being moved"):
        removed(source, tenant)
    assert moved(source, target, tenant)
    with cells(source, target) as (here, there):
        for other in (there, here, None):
            with pytest.raises(Conflict, match=r"has .* already"):
                moving.cancel(here, other, tenant)
        with pytest.raises(Conflict, match="it can be copied back then"):
            moving.copy(here, here, tenant)
    assert moved(source, target, tenant) is None, "it is done"
    with cells(source) as (here,), pytest.raises(Conflict, match=r"Remove it in \d+ seconds"):
        moving.remove(here, tenant, longest_request_s=600)
    assert removed(source, tenant) > 2
    assert (counts(source, tenant), policies(source)) == ({}, [])
    assert (counts(source, NEIGHBOUR), counts(target, NEIGHBOUR)) == before
    with closing(db.connect(db.app_url(target), 1)) as app:
        assert caller(app, key).tenant_id == tenant
    with closing(db.connect(db.app_url(source), 1)) as app, pytest.raises(Unauthorized):
        caller(app, key)
    assert moved(target, source, tenant), "and back"
    removed(target, tenant)


def test_a_frozen_tenant_can_be_neither_read_nor_written(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    key = key_of(source, tenant)
    publish(source, tenant, "e1")
    moved(source, target, tenant)
    with closing(db.connect(db.app_url(source), 1)) as app:
        with pytest.raises(Unauthorized):
            caller(app, key)
        with app.tenant(tenant) as tx:
            assert tx.execute(text("SELECT count(*) FROM events")).scalar_one() == 0
            assert tx.execute(text("UPDATE api_keys SET name = 'x'")).rowcount == 0
        with pytest.raises(DBAPIError, match="row-level security"), app.tenant(tenant) as tx:
            tx.execute(text("INSERT INTO tombstones (tenant_id, hash) VALUES (:tenant, 'x')"), {"tenant": tenant})
    with closing(db.connect(db.router_url(source), 1)) as router, router.queue() as tx:
        seen = tx.execute(text("SELECT id FROM tenants UNION SELECT tenant_id FROM events")).scalars().all()
        assert tenant not in seen
        assert NEIGHBOUR in seen
    removed(source, tenant)


def test_what_cannot_be_moved_is_refused_and_stays(
    pair: tuple[Settings, Settings], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = pair
    key_of(source, tenant)
    for wrong, error in (("default", "operator's own"), (NEIGHBOUR, "has a tenant 'globex' already")):
        with pytest.raises(Conflict, match=error):
            moved(source, target, wrong)
    with pytest.raises(NotFound, match="no tenant 'nobody'"):
        moved(source, target, "nobody")
    with looking(source, tenant) as tx:
        fill(tx, tables.rebuilds, tenant)
        tx.execute(text("UPDATE rebuilds SET status = 'ready'"))
    with pytest.raises(Conflict, match="A rebuild is open"):
        moved(source, target, tenant)
    with looking(source, tenant) as tx:
        tx.execute(text("UPDATE rebuilds SET status = 'dropped'"))
    with cells(source, target) as (here, there):
        for change, value, own, error in (
            ("deployment SET value = :value WHERE name = 'embedding.model'", "x", "hash", "different embedding models"),
            ("alembic_version SET version_num = :value", "0039", max(schema_version.migrations()), "and 0039"),
        ):
            with there.owner.begin() as tx:
                tx.execute(text(f"UPDATE {change}"), {"value": value})
            with pytest.raises(Conflict, match=error):
                moving.copy(here, there, tenant)
            with there.owner.begin() as tx:
                tx.execute(text(f"UPDATE {change}"), {"value": own})
    monkeypatch.setattr(freezing, "LOCK_TRIES", 1)
    with looking(source, NEIGHBOUR) as tx:
        tx.execute(text("SELECT count(*) FROM events"))
        with pytest.raises(Conflict, match="open for long"):
            moved(source, target, tenant)
    assert policies(source) == []
    assert counts(target, tenant) == {}
    assert moved(source, target, tenant)
    key_of(source, f"{tenant}-2")
    with pytest.raises(Conflict, match=r"is being moved\. Finish that first"):
        moved(source, target, f"{tenant}-2")
    removed(source, tenant)


def test_a_copy_that_breaks_off_changes_nothing(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    key = key_of(source, tenant)

    def stumble(table: str) -> None:
        if table == "rules":
            raise InterruptedError

    with cells(source, target) as (here, there), pytest.raises(InterruptedError):
        moving.copy(here, there, tenant, stumble)
    with closing(db.connect(db.app_url(source), 1)) as app:
        assert caller(app, key).tenant_id == tenant
    assert (counts(target, tenant), policies(source)) == ({}, [])
    # As if the process had been killed: frozen, and nobody has thawed it.
    with cells(source, target) as (here, there):
        freezing.freeze(here.owner, tenant)
        with pytest.raises(Conflict, match="has not come to its end"):
            moving.remove(here, tenant)
        moving.cancel(here, there, tenant)
        assert policies(source) == []
        freezing.freeze(here.owner, tenant)
        assert moving.copy(here, there, tenant)
        # As if it had been killed behind the commit.
        with here.owner.begin() as tx:
            tx.execute(text("UPDATE deployment SET value = replace(value, 'copied', 'copying') WHERE name = 'moving'"))
        assert moving.copy(here, there, tenant) is None
        assert moving.remove(here, tenant) > 0


def test_a_cell_does_one_move_at_a_time(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    key_of(source, tenant)

    def meddle(table: str) -> None:
        if table != "rules":
            return
        with cells(source) as (same,):
            for move in (
                lambda: moving.copy(same, there, tenant),
                lambda: moving.cancel(same, None, tenant),
                lambda: moving.remove(same, tenant),
            ):
                with pytest.raises(Conflict, match="is running in this cell"):
                    move()

    with cells(source, target) as (here, there):
        assert moving.copy(here, there, tenant, meddle)
        with pytest.raises(Conflict, match="not frozen any more"), here.owner.begin() as tx:
            freezing.mark_copied(tx, "other")
    removed(source, tenant)


def test_a_copy_whose_target_is_lost_can_be_cancelled(
    pair: tuple[Settings, Settings], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = pair
    key, has = key_of(source, tenant), moving._has
    nowhere = db.app_url(target).set(port=free_port())
    with cells(source, target) as (here, there), closing(db.connect(nowhere, 1)) as gone:

        def lose(table: str) -> None:
            monkeypatch.setattr(moving, "_has", lambda cell, tenant_id: has(Cell(cell.owner, gone), tenant_id))
            raise InterruptedError("first")

        with pytest.raises(InterruptedError, match="first") as error:
            moving.copy(here, there, tenant, lose)
        assert "is still frozen" in error.value.__notes__[0]
        moving.cancel(here, None, tenant)
    assert policies(source) == []
    with closing(db.connect(db.app_url(source), 1)) as app:
        assert caller(app, key).tenant_id == tenant


def test_locks_are_awaited_until_an_autovacuum_has_been_cancelled(pair: tuple[Settings, Settings]) -> None:
    note = "SELECT set_config('imprint.waits', current_setting('statement_timeout'), true)"
    with cells(pair[0]) as (cell,), freezing.patiently(cell.owner, note) as tx:
        waits = "SELECT current_setting('imprint.waits')::interval > current_setting('deadlock_timeout')::interval"
        assert tx.execute(text(waits)).scalar_one()
        assert tx.execute(text("SHOW statement_timeout")).scalar_one() == "0"


def test_a_copy_that_differs_is_taken_back(
    pair: tuple[Settings, Settings], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = pair
    key_of(source, tenant)
    publish(source, tenant, "e1", "e2")
    copy = rows.copy

    def loses_one(reading: Tx, writing: Tx, table: Table, tenant_id: str, read_as: Mapping[str, str]) -> None:
        copy(reading, writing, table, tenant_id, read_as)
        if table.name == "events":
            writing.execute(text("UPDATE events SET source = 'other' WHERE id = 'e2'"))

    monkeypatch.setattr(rows, "copy", loses_one)
    with pytest.raises(Conflict, match="copy of events differs: 2 rows of 2"):
        moved(source, target, tenant)
    assert (counts(target, tenant), policies(source)) == ({}, [])


def test_positions_in_the_stream_go_on(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    key_of(source, tenant)
    publish(source, tenant, "e1", "e2")
    publish(source, tenant, "e3")
    (_, second, _) = streamed(source, tenant, BEGINNING).events
    moved(source, target, tenant)
    publish(target, tenant, "e4")
    assert [event.id for _, event in streamed(target, tenant, second[0]).events] == ["e3", "e4"]
    seqs = [event.seq for _, event in streamed(target, tenant, BEGINNING).events]
    assert sorted(set(seqs)) == seqs
    removed(source, tenant)


def test_positions_begin_anew_where_the_target_is_far_behind(
    pair: tuple[Settings, Settings], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = pair
    key_of(source, tenant)
    publish(source, tenant, "e1", "e2")
    monkeypatch.setattr(positions, "MOST_SKIPPED", -1)
    copied = moved(source, target, tenant)
    assert copied
    assert not copied.keeps_positions
    assert [position.transaction for position, _ in streamed(target, tenant, BEGINNING).events] == [0, 0]
    removed(source, tenant)


def test_transactions_are_skipped_until_the_target_is_ahead(pair: tuple[Settings, Settings]) -> None:
    with cells(pair[1]) as (cell,), cell.owner.connect() as tx:
        before = positions.newest_transaction(tx)
        tx.rollback()
        assert positions.lead_transactions(cell.owner, before + 1)
        after = positions.newest_transaction(tx)
        assert before + 1 < after
        assert not positions.lead_transactions(cell.owner, after + 2 * positions.MOST_SKIPPED)


def test_positions_that_two_tenants_share_are_kept_apart(pair: tuple[Settings, Settings], tenant: str) -> None:
    source, target = pair
    for settings, name in ((source, tenant), (target, NEIGHBOUR)):
        key_of(settings, name)
    with looking(source, tenant) as tx:
        fill(tx, tables.events, tenant)
        fill(tx, tables.dispatches, tenant)
        tx.execute(text("UPDATE dispatches SET status = 'running', attempt = 3, lease = gen_random_uuid()"))
    with looking(target, NEIGHBOUR) as tx:
        fill(tx, tables.events, NEIGHBOUR)
        tx.execute(text("UPDATE events SET id = 'theirs' WHERE seq = 7"))
    moved(source, target, tenant)
    with closing(db.connect(db.router_url(target), 1)) as router, router.queue() as tx:
        row = tx.execute(text("SELECT * FROM dispatches WHERE tenant_id = :tenant"), {"tenant": tenant}).one()
        assert (row.status, row.attempt, row.turn, row.lease) == ("pending", 2, "ready", None), "given out again"
        assert dispatches.event_of(tx, row).id == ODD
    removed(source, tenant)
