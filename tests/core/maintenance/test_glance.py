"""What a live page shows: true, bounded, and by indexes alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from unittest import mock

import pytest
from sqlalchemy import text

from core.browsing import listing
from core.browsing.listing import MemoryFilter
from core.config import Settings
from core.dispatches import queries as dispatch_queries
from core.dispatches.queries import DispatchFilter
from core.maintenance import glance
from core.maintenance.glance import Count, Glance
from core.maintenance.heartbeat import Heartbeat
from core.storage.db import Database
from core.types import Json, Trust
from rules.registry import store
from tests.databases import analyzed, filled
from tests.factories import a_memory, carry_out
from tests.patience import wait_until
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, ended, event, said
from tests.works import Works


def seen(app: Database) -> Glance:
    with app.tenant(TENANT) as tx:
        return glance.of(tx)


def recent(moment: datetime | None) -> bool:
    return moment is not None and abs(datetime.now(UTC) - moment) < timedelta(minutes=1)


def test_an_empty_tenant_has_no_lag_and_nothing_for_a_person(app: Database) -> None:
    found = seen(app)
    assert (found.router.waiting, found.router.oldest_at, found.router.seconds) == (Count(0), None, 0)
    assert (found.freshness.event_at, found.freshness.memory_at, found.freshness.extracted_at) == (None, None, None)
    assert {found.needs_person.approvals, found.needs_person.dead, found.needs_person.disputed} == {Count(0)}
    assert {one.alive for one in found.processes} == {False}


def test_events_wait_until_they_are_routed(app: Database, works: Works) -> None:
    accept(app, said("I live in Turin."), ended(message_count=1))
    found = seen(app)
    assert (found.router.waiting, found.router.oldest_at, found.router.seconds > 0) == (
        Count(2),
        found.router.oldest_at,
        True,
    )
    assert recent(found.router.oldest_at)
    assert recent(found.freshness.event_at)
    works.settle()
    after = seen(app)
    assert (after.router.waiting, after.dispatches.pending, after.dispatches.more) == (Count(0), 0, False)
    assert recent(after.freshness.memory_at)
    assert recent(after.freshness.extracted_at)
    assert after.freshness.unindexed == Count(0)


def test_what_needs_a_person_is_counted_by_its_kind(app: Database, works: Works) -> None:
    note: Json = {"actions": [{"action_type": "notify", "channel": "log", "template": "x"}]}
    with app.tenant(TENANT) as tx:
        careful = a_document(name="careful", event_type="order.placed", action_mode="approve", **note)
        store.save(tx, TENANT, careful, author="test")
        tx.execute(
            text("INSERT INTO endpoints (tenant_id, address, disabled_at) VALUES (:t, 'a', now())"), {"t": TENANT}
        )
    accept(app, event())
    works.settle()
    carry_out(app, a_memory("One.", trust=Trust.DISPUTED), a_memory("Two.", trust=Trust.QUARANTINED))
    found = seen(app)
    wanted = found.needs_person
    counted = [wanted.approvals, wanted.disputed, wanted.quarantined, wanted.endpoints, found.dispatches.held]
    assert counted == [Count(1)] * 5


def test_counts_end_where_nobody_would_read_on(app: Database) -> None:
    accept(app, *(event() for _ in range(5)))
    with mock.patch.object(glance, "MOST", 3):
        assert seen(app).router.waiting == Count(3, more=True)


def test_processes_are_told_by_kind_without_the_names_of_machines(app: Database, queue: Database) -> None:
    with closing(Heartbeat(queue, "router")), closing(Heartbeat(queue, "io@somewhere:1", "io", 3)):
        wait_until(
            lambda: bool(seen(app).workers) and "router" in {one.name for one in seen(app).processes}, every=0.05
        )
        found = seen(app)
    assert {one.name: one.alive for one in found.processes}["router"]
    assert found.workers == {"io": 3}


@pytest.fixture(scope="module")
def crowded(upgraded: Settings) -> Iterator[Database]:
    """30,000 events, dispatches and memories, of which a few wait, in a database of their own."""
    with filled(upgraded, FILL, {}) as (own, app):
        analyzed(own)
        yield app


def test_no_figure_reads_a_whole_table(crowded: Database) -> None:
    values = {"most": 1_000, "back": 1_000, "extractors": ["memory_extractor"]}
    with crowded.tenant(TENANT) as tx:
        for statement in (glance._GLANCE, glance._OPEN):
            plan = tx.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement.text}"), values).scalar_one()[0]["Plan"]
            assert [node for node in walked(plan) if read(node) > 1_000] == []


def test_the_lists_behind_the_figures_read_no_whole_table_either(crowded: Database) -> None:
    before = rows_read(crowded)
    with crowded.tenant(TENANT) as tx:
        assert len(dispatch_queries.find(tx, DispatchFilter(hold="approval"))) == 3
        assert len(dispatch_queries.find(tx, DispatchFilter(status="dead"))) == 3
        assert len(listing.page(tx, MemoryFilter([Trust.QUARANTINED])).rows) == 3
    assert rows_read(crowded) - before < 100


def read(node: Json) -> int:
    """Rows of a table that a step of the plan has looked at."""
    if node.get("Relation Name") in {None, "endpoints"}:
        return 0
    rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(rows * node["Actual Loops"])


def walked(plan: Json) -> list[Json]:
    return [plan, *(node for part in plan.get("Plans", ()) for node in walked(part))]


def rows_read(app: Database) -> int:
    names = "relname IN ('memories', 'dispatches')"
    tables = f"SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables WHERE {names}"
    with app.queue() as tx:
        tx.execute(text("SELECT pg_stat_force_next_flush()"))
    with app.queue() as tx:
        return int(tx.execute(text(tables)).scalar_one())


FILL = (
    """
    INSERT INTO events (tenant_id, id, source, event_type, time, correlation_id, routed_at)
    SELECT :tenant, 'e' || n, 'test', 'x', now(), 'c', CASE WHEN n <= 29990 THEN now() END
    FROM generate_series(1, 30000) AS n
    """,
    """
    INSERT INTO dispatches (tenant_id, action_type, target, queue, status, hold, ended_at)
    SELECT :tenant, 'run_agent', 'notifier', 'io', CASE WHEN n <= 3 THEN 'dead' WHEN n <= 6 THEN 'held' ELSE 'done' END,
           CASE WHEN n BETWEEN 4 AND 6 THEN 'approval' END, now()
    FROM generate_series(1, 30000) AS n
    """,
    """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust, status,
                          occurred_at)
    SELECT :tenant, uuidv7(), 'u' || n % 97, 'x', 'semantic', 'fact', 'other', 'Fact ' || n, md5(n::text),
           CASE WHEN n <= 3 THEN 'quarantined' WHEN n <= 6 THEN 'disputed' ELSE 'candidate' END, 'active', now()
    FROM generate_series(1, 30000) AS n
    """,
)
