from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import IntegrityError, ProgrammingError

from core.config import Settings
from core.storage import db
from core.storage.db import Database
from core.storage.tables import TENANT_TABLES


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


def test_statements_of_one_round_trip_are_committed_together_or_not_at_all(queue: Database) -> None:
    beat = text("INSERT INTO heartbeats (process, at) VALUES (:process, now())")
    counted = text("SELECT count(*) FROM heartbeats")
    assert queue.ask_queues((beat, {"process": "router"}), (counted, {}))[1] == [(1,)]
    with pytest.raises(IntegrityError):
        queue.ask_queues((beat, {"process": "clock"}), (beat, {"process": "router"}))
    assert queue.ask_queues((counted, {})) == [[(1,)]]
