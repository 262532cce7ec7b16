from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg
import pytest
from pydantic import SecretStr
from sqlalchemy import create_engine, text
from sqlalchemy.engine import make_url

from api.cli.commands.host.checks import database
from api.cli.commands.host.checks.check import CheckWarning
from api.cli.commands.host.checks.installation import Installation
from core.config import Settings
from core.errors import Misconfigured
from core.storage import db
from core.storage.db import APP_ROLE
from tests.conftest import Servers
from tests.databases import filled


@pytest.fixture
def own(settings: Settings) -> Iterator[Settings]:
    """Settings on a migrated database of the test's own, which it may damage."""
    with filled(settings, [], {}) as (own, _):
        yield own


@contextmanager
def superuser(settings: Settings, servers: Servers) -> Iterator[psycopg.Connection]:
    name = db.owner_url(settings).database
    with psycopg.connect(servers.admin_url.rpartition("/")[0] + f"/{name}", autocommit=True) as admin:
        yield admin


def owned(settings: Settings, statement: str) -> None:
    engine = create_engine(db.owner_url(settings))
    with engine.begin() as tx:
        tx.execute(text(statement))
    engine.dispose()


def test_a_database_without_pgvector_fails(own: Settings, servers: Servers) -> None:
    assert "pgvector 0." in database.server(Installation(own))
    with superuser(own, servers) as admin:
        admin.execute("DROP EXTENSION vector CASCADE")
    with pytest.raises(Misconfigured, match="pgvector is missing"):
        database.server(Installation(own))


@pytest.mark.parametrize(
    ("number", "pgvector", "fault"),
    [
        (180001, "0.8.1", None),
        (190000, "1.0", None),
        (170006, "0.8.1", "PostgreSQL 17 is too old"),
        (180001, "0.7.4", "pgvector 0.7.4 is too old"),
    ],
)
def test_old_servers_fail(number: int, pgvector: str, fault: str | None) -> None:
    assert (database.version_fault(number, pgvector) or "").startswith(fault or "")
    assert (database.version_fault(number, pgvector) is None) == (fault is None)


def test_a_database_of_a_newer_version_is_told_from_an_older_one(own: Settings) -> None:
    assert database.migration(Installation(own)).endswith("the newest")
    owned(own, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(Misconfigured, match="at 9999, which this version does not know"):
        database.migration(Installation(own))
    owned(own, "UPDATE alembic_version SET version_num = '0037'")
    with pytest.raises(Misconfigured, match="at 0037, this version needs"):
        database.migration(Installation(own))


def test_a_superuser_as_the_role_of_the_service_fails(own: Settings, servers: Servers) -> None:
    assert "own nothing" in database.roles(Installation(own))
    url = make_url(servers.admin_url).set(database=db.owner_url(own).database).render_as_string(hide_password=False)
    with pytest.raises(Misconfigured, match="would not be isolated"):
        database.roles(Installation(own.model_copy(update={"database_app_url": SecretStr(url)})))


@pytest.mark.parametrize(
    "mistake",
    [
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY own_rows ON memories",
    ],
)
def test_a_table_without_row_security_fails(own: Settings, mistake: str) -> None:
    assert database.isolation(Installation(own)).startswith("row-level security binds all")
    owned(own, mistake)
    with pytest.raises(Misconfigured, match=r"is off or its policy is missing: memories$"):
        database.isolation(Installation(own))


def test_clocks_that_differ_are_a_warning_and_then_a_failure(own: Settings, servers: Servers) -> None:
    """The database answers with another time: its function is shadowed for the role that asks."""
    assert database.clock(Installation(own)).startswith("as the database's")
    name = db.owner_url(own).database
    with superuser(own, servers) as admin:
        admin.execute(f"CREATE SCHEMA skewed; GRANT USAGE ON SCHEMA skewed TO {APP_ROLE}")
        admin.execute(f'ALTER ROLE {APP_ROLE} IN DATABASE "{name}" SET search_path = skewed, pg_catalog, public')
        for ahead, expected in (("20 seconds", CheckWarning), ("-1 hour", Misconfigured)):
            admin.execute(
                "CREATE OR REPLACE FUNCTION skewed.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
                f"$$ SELECT pg_catalog.clock_timestamp() + interval '{ahead}' $$"
            )
            with pytest.raises(expected, match="this machine and the database differ by"):
                database.clock(Installation(own))


def test_pools_larger_than_the_server_are_a_warning(own: Settings) -> None:
    assert "in use" in database.connections(Installation(own.model_copy(update={"database_pool": 1})))
    large = own.model_copy(update={"database_pool": 200, "api_processes": 2})
    with pytest.raises(CheckWarning, match=r"may open 420 connections, max_connections allows \d+"):
        database.connections(Installation(large))


def test_connections_that_are_nearly_all_taken_fail(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "FULL_SHARE", 0.0)
    with pytest.raises(Misconfigured, match="connections are in use"):
        database.connections(Installation(own))


def test_a_forgotten_transaction_is_a_warning(own: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    assert database.snapshots(Installation(own)).startswith("none older than 10 min")
    engine = create_engine(db.owner_url(own), isolation_level="REPEATABLE READ")
    with engine.connect() as tx:
        tx.execute(text("SELECT count(*) FROM events"))
        monkeypatch.setattr(database, "SNAPSHOT_SECONDS", 1e-6)
        with pytest.raises(CheckWarning, match=r"a transaction of imprint_owner \(pid \d+, .*\) holds a snapshot"):
            database.snapshots(Installation(own))
    engine.dispose()


def test_a_slot_of_a_backup_holds_log_and_no_snapshot(
    own: Settings, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "SNAPSHOT_SECONDS", 1e6)
    with superuser(own, servers) as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('imprint_test', true)")
        try:
            holders = [row.holder for row in Installation(own).rows(database._SNAPSHOTS)]
            assert not any("replication slot" in holder for holder in holders)
            assert "none older" in database.snapshots(Installation(own))
            monkeypatch.setattr(database, "HELD_LOG_BYTES", 0)
            with pytest.raises(CheckWarning, match="the replication slot imprint_test, which nobody reads, keeps"):
                database.snapshots(Installation(own))
        finally:
            admin.execute("SELECT pg_drop_replication_slot('imprint_test')")


def test_a_server_or_a_table_without_autovacuum_fails(own: Settings, servers: Servers) -> None:
    assert database.vacuum(Installation(own)) == "autovacuum is on, and dead rows are few"
    owned(own, "ALTER TABLE dispatches SET (autovacuum_enabled = off)")
    with pytest.raises(Misconfigured, match="autovacuum is off for dispatches"):
        database.vacuum(Installation(own))
    with superuser(own, servers) as admin:
        admin.execute(f'ALTER DATABASE "{db.owner_url(own).database}" SET track_counts = off')
    with pytest.raises(Misconfigured, match="track_counts is off"):
        database.vacuum(Installation(own))


def test_many_dead_rows_are_a_warning(own: Settings, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "DEAD_ROWS", 10)
    with superuser(own, servers) as admin, closing(admin.cursor()) as cursor:
        cursor.execute("ALTER TABLE receipts SET (autovacuum_vacuum_threshold = 1000000)")
        cursor.execute(
            "INSERT INTO receipts (tenant_id, id, scope, signature) "
            "SELECT 'acme', gen_random_uuid(), 'user', '' FROM generate_series(1, 50)"
        )
        cursor.execute("DELETE FROM receipts")
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("SELECT 1")
    with pytest.raises(CheckWarning, match=r"more dead rows than live ones in receipts \(50\)"):
        database.vacuum(Installation(own))
