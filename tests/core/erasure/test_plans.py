"""An erasure, and its preview, read what concerns the user or the group: no statement looks through a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from sqlalchemy import event, text

from core.config import Settings
from core.erasure import group, preview, user
from core.storage import tables
from core.storage.db import Database, Tx
from tests import databases
from tests.conftest import Servers
from tests.core.erasing import AUTHOR
from tests.core.erasure import crowd
from tests.samples import TENANT

SESSIONS: Final = 1_500
OWN: Final = 3
"""Sessions of the user, and of the group; in as many others the user is a guest."""

SHARE: Final = 0.1
"""Part of a table that may be read, several statements together: the user has a five hundredth of it."""

SMALL: Final = frozenset(
    {
        "alarms",  # Raised ones, and a row of each rule.
        "bulk_jobs",  # Jobs and replays are begun by people.
        "replays",
        "flows",  # What waits now.
        "forgettings",  # Requests of the last days that can be undone.
        "schedules",  # One row of each rule.
        "tenants",
        "profiles",  # Not filled here.
    }
)
"""Tables that do not grow with what is stored, and may be looked through."""


@pytest.fixture
def crowded(app: Database, settings: Settings, servers: Servers) -> Database:
    """A tenant of twelve thousand messages, one in five hundred of them the user's and as many the group's."""
    every = SESSIONS // OWN
    crowd.load(servers.admin_url, SESSIONS, of_user=every, of_group=every)
    databases.analyzed(settings, *(table.name for table in tables.TENANT_TABLES))
    return app


@contextmanager
def watched(tx: Tx) -> Iterator[None]:
    """Fail if a statement must look through a table, or if all together have read more than their share of one.

    The planner is told to avoid what looks through a table, so that the plans are those of tables of any size.
    """
    scans: list[str] = []
    read: list[tuple[str, dict[str, int]]] = []

    def count(connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        with connection.connection.cursor() as cursor:
            read.append((statement, dict(cursor.execute(READ).fetchall())))

    def explain(connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if not statement.lstrip().upper().startswith(("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")):
            return
        with connection.connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)
            (answer,) = cursor.fetchone()[0]
        looked = {n["Relation Name"] for n in databases.nodes_of(answer["Plan"]) if n["Node Type"] == "Seq Scan"}
        if looked - SMALL:
            scans.append(f"{sorted(looked - SMALL)}: {statement}")

    tx.execute(text("SET LOCAL enable_seqscan = off"))
    most = {
        table.name: max(10, SHARE * _count(tx, table.name)) for table in tables.TENANT_TABLES if table.name not in SMALL
    }
    before = _read(tx)
    event.listen(tx, "before_cursor_execute", explain)
    event.listen(tx, "after_cursor_execute", count)
    try:
        yield
    finally:
        event.remove(tx, "before_cursor_execute", explain)
        event.remove(tx, "after_cursor_execute", count)
    assert not scans, "\n".join(scans)
    after = read[-1][1]
    late = {name for name, bound in most.items() if after.get(name, 0) - before.get(name, 0) > bound}
    costly = [f"{name} {number}: {one}" for name in late for one, number in _shares(read, name, before.get(name, 0))]
    assert not late, "\n".join(costly)


def _count(tx: Tx, table: str) -> int:
    return int(tx.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


READ: Final = "SELECT relname, coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables"
"""How many rows of each table this transaction has read."""


def _read(tx: Tx) -> dict[str, int]:
    return {row[0]: row[1] for row in tx.execute(text(READ))}


def _shares(read: list[tuple[str, dict[str, int]]], table: str, before: int) -> list[tuple[str, int]]:
    """The statements that read most rows of a table."""
    found = []
    for statement, rows in read:
        found.append((statement, rows.get(table, 0) - before))
        before = rows.get(table, 0)
    return sorted(found, key=lambda one: -one[1])[:5]


def test_no_statement_of_a_users_erasure_looks_through_a_table(crowded: Database, settings: Settings) -> None:
    with crowded.tenant(TENANT) as tx, watched(tx):
        done = user.erase(tx, TENANT, crowd.USER, AUTHOR, settings)
    assert done.counts["messages"] == OWN * crowd.MESSAGES + OWN


def test_no_statement_of_a_groups_erasure_looks_through_a_table(crowded: Database) -> None:
    with crowded.tenant(TENANT) as tx, watched(tx):
        done = group.erase(tx, TENANT, crowd.GROUP, AUTHOR)
    assert done.counts["messages"] == OWN * crowd.MESSAGES


def test_no_statement_of_a_preview_looks_through_a_table(
    crowded: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview, "SMALL", 10)
    with crowded.tenant(TENANT) as tx, watched(tx):
        of_user = preview.of_user(tx, TENANT, crowd.USER, settings)
        of_group = preview.of_group(tx, crowd.GROUP)
    assert of_user is not None
    assert of_group is not None
    assert of_user.counts["messages"] == OWN * crowd.MESSAGES + OWN
    assert of_group.counts["messages"] == OWN * crowd.MESSAGES
