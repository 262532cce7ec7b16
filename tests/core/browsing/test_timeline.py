"""Memories over time: newest within a span, by an index, with what replaced what."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.browsing import timeline
from core.browsing.timeline import Wanted
from core.config import Settings
from core.storage.db import Database
from core.types import Status
from tests import databases
from tests.samples import TENANT

NOW = datetime(2026, 11, 20, tzinfo=UTC)
COLUMNS = (
    "tenant_id, id, user_id, group_id, subject, kind, category, topic, content, statement_key, importance, confidence, "
    "trust, status, occurred_at, valid_from, valid_to, recorded_at"
)


def stored(app: Database, *rows: dict[str, Any], tenant: str = TENANT) -> None:
    """Rows as the writer leaves them, of which the time alone matters here."""
    statement = text(f"""
        INSERT INTO memories ({COLUMNS}) VALUES (
            :tenant, :id, :user, :group, 'Ada', 'semantic', 'fact', 'other', :content, :content, 0.5, 0.5,
            'candidate', :status, :at, :valid_from, :valid_to, :at)
    """)
    shared = {"tenant": tenant, "user": "ada", "group": None, "status": "active", "valid_from": None, "valid_to": None}
    with app.tenant(tenant) as tx:
        tx.execute(statement, [shared | {"id": uuid7()} | row for row in rows])


def wanted(**more: Any) -> Wanted:
    given: dict[str, Any] = {
        "user_id": "ada",
        "group_id": None,
        "axis": "true",
        "statuses": tuple(Status),
        "trusts": ("candidate",),
    }
    return Wanted(**given | more)


def contents(app: Database, limit: int = 100, **more: Any) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [row.content for _, _, row in timeline.of_owner(tx, wanted(**more), limit).rows]


def days(count: int) -> datetime:
    return NOW - timedelta(days=count)


def test_those_that_overlap_the_span_are_shown_oldest_first(app: Database) -> None:
    stored(
        app,
        {"content": "ended", "at": days(90), "valid_from": days(90), "valid_to": days(60), "status": "superseded"},
        {"content": "open", "at": days(60)},
        {"content": "later", "at": days(2)},
        {"content": "other user's", "user": "bob", "at": days(3)},
    )
    assert contents(app) == ["ended", "open", "later"]
    assert contents(app, since=days(50)) == ["open", "later"]
    assert contents(app, until=days(50)) == ["ended", "open"]
    assert contents(app, since=days(80), until=days(70)) == ["ended"]
    assert contents(app, user_id=None, group_id="team") == []


def test_those_that_begin_last_are_shown_and_the_others_counted(app: Database) -> None:
    stored(app, *({"content": f"{n}", "at": days(n)} for n in range(7)))
    with app.tenant(TENANT) as tx:
        found = timeline.of_owner(tx, wanted(), 3)
    assert ([row.content for _, _, row in found.rows], found.left_out, found.more) == (["2", "1", "0"], 4, False)


@pytest.mark.parametrize("until", [datetime(177, 5, 31, tzinfo=UTC), datetime(9999, 12, 31, 23, 30, tzinfo=UTC)])
def test_any_end_of_a_span_is_answered(app: Database, until: datetime) -> None:
    stored(app, {"content": "open", "at": days(60)})
    assert contents(app, until=until) == (["open"] if until > NOW else [])


@pytest.mark.parametrize("axis", ["true", "known"])
def test_an_index_finds_them(app: Database, settings: Settings, axis: timeline.Axis) -> None:
    stored(app, *({"content": f"{n}", "user": f"u{n % 40}", "at": days(n % 300)} for n in range(4_000)))
    databases.analyzed(settings, "memories")
    values = {
        "user_id": "u7",
        "group_id": None,
        "category": None,
        "statuses": ["active"],
        "trusts": ["candidate"],
        "since": None,
        "until": NOW,
        "id_end": "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "most": 50,
    }
    with app.tenant(TENANT) as tx:
        nodes = databases.carried_out(tx, timeline.SPANS[axis].text, values)
    assert sum(databases.looked_at(nodes, "memories")) <= 100
    scanned = {node.get("Relation Name") for node in nodes if node["Node Type"] == "Seq Scan"}
    assert "memories" not in scanned
