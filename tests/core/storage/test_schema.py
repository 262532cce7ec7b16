from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, text
from sqlalchemy.exc import ProgrammingError

from core.config import Settings
from core.errors import Misconfigured
from core.inference.embedders import HashEmbedder
from core.language.terms import TERM_IDS
from core.storage import db, schema
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES, metadata
from tests.databases import beside
from tests.samples import TENANT

HASH = (HashEmbedder().name, HashEmbedder().dimension)


@pytest.fixture
def owner(settings: Settings) -> Iterator[Connection]:
    engine = create_engine(db.owner_url(settings))
    with engine.connect() as connection:
        yield connection
    engine.dispose()


@pytest.fixture
def empty(settings: Settings) -> Iterator[Settings]:
    """Settings on a database of their own, with nothing in it."""
    with beside(settings) as own:
        yield own


def test_the_tables_in_the_code_are_those_the_migrations_make(owner: Connection) -> None:
    context = MigrationContext.configure(owner, opts={"compare_type": True, "compare_server_default": True})
    assert compare_metadata(context, metadata) == []


def test_a_column_that_no_migration_makes_would_be_noticed(owner: Connection) -> None:
    owner.execute(text("ALTER TABLE sessions ADD COLUMN forgotten text"))
    context = MigrationContext.configure(owner)
    assert [difference[0] for difference in compare_metadata(context, metadata)] == ["remove_column"]
    owner.rollback()


def test_upgrading_twice_changes_nothing(settings: Settings, owner: Connection) -> None:
    before = owner.execute(text("SELECT count(*) FROM rules")).scalar_one()
    owner.rollback()
    schema.upgrade(settings, HASH)
    assert owner.execute(text("SELECT count(*) FROM rules")).scalar_one() == before
    current, newest = schema.version(owner)
    assert current == newest is not None


def test_two_upgrades_at_once_of_an_empty_database_both_succeed(empty: Settings) -> None:
    failed: list[BaseException] = []

    def upgrade() -> None:
        try:
            schema.upgrade(empty, HASH)
        except BaseException as error:  # noqa: BLE001 - asserted below
            failed.append(error)

    threads = [threading.Thread(target=upgrade) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []


def test_a_database_that_was_never_upgraded_is_refused_with_the_way_out(empty: Settings) -> None:
    schema.upgrade(empty, HASH)
    drop_everything(create_engine(db.owner_url(empty)))
    app = db.connect(db.app_url(empty), 1)
    with pytest.raises(Misconfigured, match="imprint db upgrade"):
        schema.require_current(app, HASH)
    app.close()


def drop_everything(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE deployment"))
    engine.dispose()


def test_a_database_of_another_version_is_refused_with_the_way_out(
    settings: Settings, owner: Connection, app: Database
) -> None:
    owner.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    owner.commit()
    try:
        with pytest.raises(Misconfigured, match="imprint db upgrade"):
            schema.require_current(app, HASH)
    finally:
        owner.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": schema.version(owner)[1]})
        owner.commit()
    schema.require_current(app, HASH)


@pytest.mark.parametrize("other", [("another-model", HASH[1]), (HASH[0], HASH[1] + 1)])
def test_vectors_of_another_model_refuse_to_start_and_say_the_way_out(
    app: Database, settings: Settings, other: tuple[str, int]
) -> None:
    schema.require_current(app, HASH)
    with pytest.raises(Misconfigured, match="IMPRINT_EMBEDDING"):
        schema.require_current(app, other)
    with pytest.raises(Misconfigured, match="IMPRINT_EMBEDDING"):
        schema.upgrade(settings, other)
    schema.require_current(app, HASH)


def test_every_table_with_a_tenant_is_bound_to_it(owner: Connection) -> None:
    rows = owner.execute(
        text("""
            SELECT c.relname AS name, c.relrowsecurity AS enabled, c.relforcerowsecurity AS forced,
                   EXISTS (SELECT FROM pg_policies p WHERE p.tablename = c.relname AND 'imprint_app' = ANY(p.roles)
                           AND p.qual LIKE '%imprint.tenant%' AND p.with_check LIKE '%imprint.tenant%') AS bound
            FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT attisdropped
            WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
        """)
    ).all()
    assert {row.name for row in rows} == {table.name for table in TENANT_TABLES}
    assert [row.name for row in rows if not (row.enabled and row.forced and row.bound)] == []


def test_the_tenant_stands_first_in_every_primary_key() -> None:
    assert [t.name for t in TENANT_TABLES if t.primary_key.columns.keys()[0] != "tenant_id"] == []


def test_no_table_is_without_a_tenant_but_those_that_are_known() -> None:
    without = {table.name for table in metadata.sorted_tables} - {table.name for table in TENANT_TABLES}
    assert without == {"deployment", "heartbeats", "providers", "tenants"}


def test_the_owner_too_sees_no_row(owner: Connection) -> None:
    assert owner.execute(text("SELECT count(*) FROM rules")).scalar_one() == 0


def test_without_a_tenant_the_application_sees_nothing(app: Database) -> None:
    with app.queue() as tx:
        for table in TENANT_TABLES:
            assert tx.execute(text(f"SELECT count(*) FROM {table.name}")).scalar_one() == 0


def test_the_tenant_ends_with_its_transaction(settings: Settings) -> None:
    app = db.connect(db.app_url(settings), 1)
    with app.tenant("acme") as tx:
        assert tx.execute(text("SELECT count(*) FROM rules")).scalar_one() > 0
    with app.queue() as tx:
        assert tx.execute(text("SELECT count(*) FROM rules")).scalar_one() == 0
    app.close()


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO sessions (tenant_id, id, started_at, last_at) VALUES ('globex', 's', now(), now())",
        "UPDATE rules SET tenant_id = 'globex'",
        "DROP POLICY own_rows ON rules",
        "ALTER TABLE rules DISABLE ROW LEVEL SECURITY",
        "SET ROLE imprint_router",
        "TRUNCATE rules",
        "UPDATE deployment SET value = 'x'",
    ],
)
def test_the_application_cannot_reach_beyond_its_tenant(app: Database, statement: str) -> None:
    with pytest.raises(ProgrammingError), app.tenant("acme") as tx:
        tx.execute(text(statement))


def test_no_tenant_can_be_removed_but_one_in_which_memories_are_rebuilt(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("DELETE FROM tenants")).rowcount == 0


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT content FROM memories",
        "SELECT * FROM messages",
        "SELECT * FROM api_keys",
        "SELECT answer FROM model_calls",
        "SELECT * FROM search_index",
        "UPDATE rules SET version = 9",
        "DELETE FROM events",
    ],
)
def test_the_router_reads_no_memory_and_edits_no_rule(queue: Database, statement: str) -> None:
    with pytest.raises(ProgrammingError), queue.queue() as tx:
        tx.execute(text(statement))


def test_what_a_flow_had_gathered_before_the_upgrade_has_its_times_after_it(empty: Settings) -> None:
    engine = create_engine(db.owner_url(empty))
    gathered = text("""
        INSERT INTO flows (tenant_id, rule, kind, key, version, gathered, event_seqs, root_seq, opened_at)
        VALUES ('acme', 'r', 'count', '', 1, 2, '{7, 9}', 7, '2026-11-21T10:00:00Z')
    """)
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        command.upgrade(schema._alembic(connection), "0001")
    app = db.connect(db.app_url(empty), 1)
    with app.tenant("acme") as tx:
        tx.execute(gathered)
    with engine.begin() as connection:
        command.upgrade(schema._alembic(connection), "0002")
    engine.dispose()
    with app.tenant("acme") as tx:
        times = tx.execute(text("SELECT times FROM flows")).scalar_one()
    app.close()
    assert [time.isoformat() for time in times] == ["2026-11-21T10:00:00+00:00"] * 2


def test_memories_of_before_know_when_they_were_said_last(empty: Settings) -> None:
    engine = create_engine(db.owner_url(empty))
    with engine.begin() as connection:
        connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
        command.upgrade(schema._alembic(connection), "0007")
    app = db.connect(db.app_url(empty), 1)
    for tenant in ("acme", "other"):
        with app.tenant(tenant) as tx:
            for statement in A_MEMORY_SAID_TWICE:
                tx.execute(text(statement.replace("TENANT", tenant)))
    schema.upgrade(empty, HASH)
    for tenant in ("acme", "other"):
        with app.tenant(tenant) as tx:
            row = tx.execute(text("SELECT said_at, attribute FROM memories")).one()
            assert (row.said_at.isoformat(), row.attribute) == ("2026-06-01T10:00:00+00:00", "preference.color")
    app.close()
    engine.dispose()


A_MEMORY_SAID_TWICE = (
    """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at)
    VALUES ('TENANT', 's', 1, 'm1', 1, 'e1', 'ada', 'user', 'My favourite colour is green.', '2026-05-01T10:00:00Z'),
           ('TENANT', 's', 2, 'm2', 2, 'e2', 'ada', 'user', 'Green is my favourite colour.', '2026-06-01T10:00:00Z')
    """,
    """
    INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, attribute,
                          value, trust, status, occurred_at, recorded_at)
    VALUES ('TENANT', '01a20000-0000-7000-8000-000000000001', 'ada', 'Ada', 'semantic', 'preference', 'preference',
            'Ada''s favourite colour is green.', 'k', 'preference.colour', 'green', 'candidate', 'active',
            '2026-05-01T10:00:00Z', '2026-05-01T10:00:00Z')
    """,
    """
    INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, at)
    VALUES ('TENANT', '01a20000-0000-7000-8000-000000000001', 's', 'm1', 'e1', 'q', now()),
           ('TENANT', '01a20000-0000-7000-8000-000000000001', 's', 'm2', 'e2', 'q', now())
    """,
)


def test_rows_that_were_indexed_before_know_whether_they_ask(empty: Settings) -> None:
    schema.upgrade(empty, HASH)
    engine = create_engine(db.owner_url(empty))
    with engine.begin() as connection:
        for statement in BEFORE_0006:
            connection.execute(text(statement))
    app = db.connect(db.app_url(empty), 1)
    with app.tenant("t") as tx:
        tx.execute(text(A_MESSAGE))
        tx.execute(text(ITS_ROW))
    schema.upgrade(empty, HASH)
    with app.tenant("t") as tx:
        row = tx.execute(text("SELECT asks, names FROM search_index")).one()
    app.close()
    engine.dispose()
    assert (row.asks, row.names) == (True, 1)


BEFORE_0006 = (
    "DROP TABLE webhooks, secrets",
    "DROP TABLE tenant_settings",
    "DROP INDEX dispatches_turns, dispatches_owed, events_unrouted",
    "ALTER TABLE dispatches DROP COLUMN turn, DROP COLUMN overruns, DROP COLUMN deadline_at",
    "CREATE INDEX dispatches_owed ON dispatches (wake_at)",
    "CREATE INDEX events_unrouted ON events (seq) WHERE routed_at IS NULL",
    "ALTER TABLE heartbeats DROP COLUMN queue, DROP COLUMN processes, DROP COLUMN cores, DROP COLUMN tenants",
    "DROP VIEW second.search_index",
    "DROP TABLE search_changes CASCADE",
    "DROP FUNCTION note_indexed, note_unindexed, note_remembered, note_witnessed CASCADE",
    "ALTER TABLE search_index DROP COLUMN asks, DROP COLUMN names",
    "ALTER TABLE memories DROP COLUMN said_at",
    "ALTER TABLE contexts DROP COLUMN instruction_ids, DROP COLUMN profile",
    """
    CREATE VIEW second.search_index WITH (security_invoker = true) AS
    SELECT tenant_id, type, session_id, ref, position, user_id, group_id, occurred_at, told, timed, terms, own_terms,
           embedding_next AS embedding, xmin FROM public.search_index
    """,
    "UPDATE alembic_version SET version_num = '0005'",
)

A_MESSAGE = """
    INSERT INTO messages (tenant_id, session_id, position, id, event_seq, event_id, user_id, role, content, occurred_at)
    VALUES ('t', 's', 1, 'm', 1, 'e', 'ada', 'user', 'Did you see Ann?', now())
"""

ITS_ROW = f"""
    INSERT INTO search_index
        (tenant_id, type, session_id, ref, position, user_id, occurred_at, terms, own_terms)
    VALUES ('t', 'message', 's', 'm', 1, 'ada', now(), '{{1:1}}/{TERM_IDS}', '{{1}}')
"""
