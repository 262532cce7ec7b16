"""What is due is found by an index on its time: nothing else is read, however much is stored."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from core.config import Settings
from core.expiry import due
from core.expiry.due import Leaving
from core.storage.db import Database
from core.tenancy.retention import Retention
from tests import databases
from tests.samples import TENANT

ALL = Retention(messages_days=30, tool_results_days=7, sessions_days=60)
INDEXES = {
    Leaving.OWN: "sessions_own_days",
    Leaving.SESSIONS: "sessions_ended",
    Leaving.MESSAGES: "sessions_oldest",
    Leaving.TOOL_RESULTS: "sessions_oldest_tool",
}


def stored(app: Database, count: int, days: int, name: str) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(
            text("""
            INSERT INTO sessions (tenant_id, id, started_at, last_at, ended_at, keep_days, oldest_at, oldest_tool_at)
            SELECT :t, :name || n, at, at, at, 40, at, at
            FROM (SELECT n, now() - make_interval(days => :days) - n * interval '1 second' AS at
                  FROM generate_series(1, :count) AS n) AS s"""),
            {"t": TENANT, "name": name, "days": days, "count": count},
        )


def plan_of(app: Database, way: Leaving) -> dict[str, Any]:
    """The scan by which due sessions are found, as PostgreSQL carried it out."""
    with app.tenant(TENANT) as tx:
        values = due.cutoffs(ALL) | {"at": "-infinity", "id": "", "limit": 20}
        explain = text(f"EXPLAIN (ANALYZE, FORMAT JSON) {due._DUE[way].text}")
        node = tx.execute(explain, values).scalar_one()[0]["Plan"]
    while "Plans" in node:
        node = node["Plans"][0]
    return dict(node)


@pytest.mark.parametrize("way", list(Leaving))
def test_only_what_is_due_is_read(app: Database, settings: Settings, way: Leaving) -> None:
    stored(app, 5_000, 1, "young")
    stored(app, 3, 70, "old")
    databases.analyzed(settings, "sessions")  # A plan that was chosen without figures may be another one.
    with app.tenant(TENANT) as tx:
        tx.execute(text("SET LOCAL enable_seqscan = off"))
        assert [one.id for one in due.find(tx, way, ALL)] == ["old3", "old2", "old1"]
    scan = plan_of(app, way)
    assert scan.get("Index Name") == INDEXES[way]
    assert scan["Actual Rows"] == 3
    assert scan.get("Rows Removed by Filter", 0) == 0


def test_a_page_begins_behind_the_one_before(app: Database) -> None:
    stored(app, 5, 70, "old")
    with app.tenant(TENANT) as tx:
        for way in Leaving:
            first = due.find(tx, way, ALL, limit=3)
            rest = due.find(tx, way, ALL, (first[-1].due_at.isoformat(), first[-1].id))
            assert [one.id for one in [*first, *rest]] == ["old5", "old4", "old3", "old2", "old1"]


def test_without_a_time_of_the_tenant_only_sessions_with_their_own_are_looked_for() -> None:
    assert list(due.ways(Retention())) == [Leaving.OWN]
    assert set(due.ways(ALL)) == set(Leaving)
    assert list(due.ways(Retention(messages_days=3))) == [Leaving.OWN, Leaving.MESSAGES]
