"""Prepared statements of a connection: when there are some, and that nobody notices."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError, OperationalError

from core.config import Settings
from core.storage import db, kept_plans
from core.storage.db import Database, Tx, run_together
from tests.samples import TENANT

TWICE = text("SELECT cast(:n AS bigint) * 2 AS n")


@pytest.fixture
def one(settings: Settings) -> Iterator[Database]:
    """One connection, so that its prepared statements are those of the next transaction."""
    with closing(db.connect(db.app_url(settings), 1)) as database:
        yield database


@pytest.fixture
def owner(settings: Settings) -> Iterator[psycopg.Connection[Any]]:
    url = db.owner_url(settings).set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def prepared(tx: Tx, part: str = "") -> list[str]:
    """Return the text of each prepared statement that has this part."""
    rows = tx.execute(text("SELECT name, statement FROM pg_prepared_statements ORDER BY prepare_time"))
    # The server keeps what was sent together with it, too.
    own = [one for row in rows for one in row.statement.split(";") if re.match(rf"PREPARE {row.name}\b", one)]
    return [one for one in own if part in one]


def test_what_the_server_keeps_of_a_statement_has_no_values(one: Database) -> None:
    said = text("SELECT cast(:said AS text) AS n")
    for _ in range(3):
        with one.asking(TENANT, (said, {"said": "hippocanary"}), (TWICE, {"n": 1})):
            pass
    with one.tenant(TENANT) as tx:
        kept = prepared(tx)
    assert len(kept) == 3  # The third one binds the tenant.
    assert "hippocanary" not in str(kept)
    assert TENANT not in str(kept)


def numbers(database: Database, *given: object, statement: TextClause = TWICE) -> list[object]:
    answers = []
    for number in given:
        with database.asking(TENANT, (statement, {"n": number})) as (_, ((row,),)):
            answers.append(row.n)
    return answers


def test_a_statement_is_prepared_when_it_is_used_again(one: Database) -> None:
    numbers(one, 0)  # Is the connection one's own?
    assert numbers(one, 1) == [2]
    with one.tenant(TENANT) as tx:
        assert prepared(tx, "* 2") == []
    assert numbers(one, 2, 3, 4) == [4, 6, 8]
    with one.tenant(TENANT) as tx:
        assert len(prepared(tx, "* 2")) == 1


def test_a_value_of_another_type_has_a_statement_of_its_own(one: Database) -> None:
    given = [1, None, 2**40, 2, None, 2**40, -3, "7", "8", 2.4, 2.6, True and 9]
    assert numbers(one, *given) == [2, None, 2**41, 4, None, 2**41, -6, 14, 16, 4, 6, 18]
    with one.tenant(TENANT) as tx:
        heads = {statement.split(" AS ")[0].split("(")[1] for statement in prepared(tx, "* 2")}
    assert heads == {"int4)", "unknown)", "int8)", "numeric)"}


def test_what_is_used_once_is_not_prepared(one: Database) -> None:
    numbers(one, 0)
    for n in range(20):
        assert numbers(one, 1, statement=text(f"SELECT :n + {n} AS n")) == [1 + n]
    with one.tenant(TENANT) as tx:
        assert prepared(tx, " + ") == []


def test_no_more_than_so_many_are_prepared(one: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_plans, "MOST", 3)
    statements = [text(f"SELECT :n + {n} AS n") for n in range(6)]
    for _ in range(3):
        assert [numbers(one, 1, statement=some) for some in statements] == [[1 + n] for n in range(6)]
    with one.tenant(TENANT) as tx:
        assert len(prepared(tx)) == 3


def test_plans_that_have_become_old_are_dropped(one: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers(one, 1, 2, 3)
    with one.tenant(TENANT) as tx:
        (before,) = prepared(tx, "* 2")
    monkeypatch.setattr(kept_plans, "KEPT_SECONDS", 0)
    assert numbers(one, 4) == [8]
    monkeypatch.undo()
    with one.tenant(TENANT) as tx:
        assert prepared(tx, "* 2") == []
    assert numbers(one, 5, 6, 7) == [10, 12, 14]
    with one.tenant(TENANT) as tx:
        (after,) = prepared(tx, "* 2")
    assert before != after


def test_behind_a_pooler_nothing_is_prepared(one: Database) -> None:
    """A transaction pooler answers with a process of its own, and the next transaction is another server process's."""
    with one.engine.connect() as tx:
        driver = tx.connection.driver_connection
        assert driver is not None
        kept_plans.of(driver).process = -1
    assert numbers(one, 1, 2, 3, 4) == [2, 4, 6, 8]
    with one.tenant(TENANT) as tx:
        assert prepared(tx) == []


@pytest.mark.parametrize("uses", [1, 2, 3], ids=["before it is prepared", "while it is prepared", "afterwards"])
def test_an_error_leaves_the_connection_usable(one: Database, uses: int) -> None:
    share = text("SELECT 6 / :n AS n")
    numbers(one, 0)
    assert numbers(one, *[2] * (uses - 1), statement=share) == [3] * (uses - 1)
    with pytest.raises(DBAPIError):
        numbers(one, 0, statement=share)
    assert numbers(one, 1, 2, 3, 6, statement=share) == [6, 3, 2, 1]
    with one.tenant(TENANT) as tx:
        assert len(prepared(tx, "6 /")) == 1


def test_an_error_inside_a_transaction_leaves_the_next_one_usable(one: Database) -> None:
    for _ in range(3):
        with pytest.raises(DBAPIError), one.tenant(TENANT) as tx:
            run_together(tx, (TWICE, {"n": 1}), (text("SELECT 1 / :n"), {"n": 0}), (TWICE, {"n": 1}))
        assert numbers(one, 1, 2) == [2, 4]


def test_a_migration_beside_it_goes_unnoticed(one: Database, owner: psycopg.Connection[Any]) -> None:
    table = f"wide_{uuid4().hex}"
    owner.execute(f"CREATE TABLE {table} (n int); INSERT INTO {table} VALUES (1)")  # type: ignore[arg-type]
    owner.execute(f"GRANT SELECT ON {table} TO {db.APP_ROLE}")  # type: ignore[arg-type]
    read = text(f"SELECT * FROM {table} WHERE n = :n")
    try:
        assert numbers(one, 1, 1, 1, statement=read) == [1, 1, 1]
        owner.execute(f"ALTER TABLE {table} ADD COLUMN more int")  # type: ignore[arg-type]
        assert numbers(one, 1, 1, 1, statement=read) == [1, 1, 1]
        owner.execute(f"ALTER TABLE {table} ADD COLUMN most int")  # type: ignore[arg-type]
        with pytest.raises(OperationalError), one.tenant(TENANT) as tx:
            run_together(tx, (read, {"n": 1}))
        assert numbers(one, 1, 1, statement=read) == [1, 1]
    finally:
        owner.execute(f"DROP TABLE {table}")  # type: ignore[arg-type]


def test_rows_of_another_tenant_stay_invisible(one: Database) -> None:
    """The plan is the same for both, and what the policies compare with is read when it runs."""
    put = text("INSERT INTO working (tenant_id, session_id, key, value) VALUES (:tenant, 's', 'k', '1')")
    count = text("SELECT count(*) AS n FROM working WHERE key = :n")
    with one.tenant(TENANT) as tx:
        tx.execute(put, {"tenant": TENANT})
        # Left alone, the server decides by what it estimates of a table that other tests fill.
        tx.execute(text("SET plan_cache_mode = force_generic_plan"))
    for _ in range(3):
        assert numbers(one, "k", statement=count) == [1]
        with one.asking("another", (count, {"n": "k"})) as (_, ((row,),)):
            assert row.n == 0
    with one.tenant(TENANT) as tx:
        (own,) = prepared(tx, "FROM working")
        kept = text("SELECT generic_plans FROM pg_prepared_statements WHERE name = :name")
        assert tx.execute(kept, {"name": own.split("(")[0].removeprefix("PREPARE ")}).scalar_one() > 0
