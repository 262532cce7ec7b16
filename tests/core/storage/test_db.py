from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trials
from hypothesis import strategies as st
from sqlalchemy import Connection, text
from sqlalchemy.exc import DataError, IntegrityError, ProgrammingError

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


TEXTS = st.lists(st.none() | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])))


@trials(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS)
def test_texts_arrive_as_elements_of_an_array_as_they_are(app: Database, texts: list[str | None]) -> None:
    values = [*texts, "NULL", '{"a,b"}', "\\", "", 7]
    with app.queue() as tx:
        got = tx.execute(text("SELECT * FROM unnest(cast(:a AS text[]))"), {"a": db.text_array(values)}).scalars()
        assert list(got) == [*texts, "NULL", '{"a,b"}', "\\", "", "7"]


def test_a_column_without_a_value_is_no_array() -> None:
    assert db.text_array([None, None]) is None
    assert db.text_array([]) == "{}"


def test_a_text_that_cannot_be_stored_moves_no_other_into_its_place(app: Database) -> None:
    with app.queue() as tx, pytest.raises(DataError):
        tx.execute(text("SELECT * FROM unnest(cast(:a AS text[]))"), {"a": db.text_array(["a\0b", "c"])})
