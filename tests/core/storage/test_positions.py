"""Positions in the log: as they are written, and when a transaction notes one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from core.errors import Malformed
from core.storage import db, positions
from core.storage.db import Database
from tests.samples import TENANT

POSITION = text("SELECT cast(pg_current_wal_insert_lsn() - '0/0' AS bigint)")
ONE = text("SELECT 1"), {}


@given(st.integers(0, 2**64 - 1))
def test_a_position_is_read_as_it_is_written(position: int) -> None:
    assert positions.parse(positions.written(position)) == position


def test_a_position_is_written_as_postgresql_does(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        (shown,) = tx.execute(text("SELECT cast(pg_lsn '1A/2B' AS text)")).one()
    assert positions.written(positions.parse("0000001a/0000002b")) == shown


@pytest.mark.parametrize("position", ["", "1", "1/", "/1", "g/1", "1/1 ", "123456789/1", "１/1", "latest"])
def test_what_is_no_position_is_malformed(position: str) -> None:
    with pytest.raises(Malformed, match=r"Imprint-Position.*latest"):
        positions.parse(position)


def test_each_way_to_end_a_transaction_notes_a_position_behind_it(app: Database) -> None:
    write = text("UPDATE tenants SET allows_high_risk = allows_high_risk"), {}
    with app.tenant(TENANT) as tx:
        start = tx.execute(POSITION).scalar_one()
    with positions.of_request(None) as request:
        app.ask(TENANT, write, ONE)
        reached = request.reached
        assert reached > start
        with app.asking(TENANT, write):
            pass
        assert request.reached > reached
        reached = request.reached
        with app.tenant(TENANT) as tx:
            db.run_together(tx, write, last=True)
        assert request.reached > reached
        with positions.uncollected(), app.tenant(TENANT) as tx:
            after = tx.execute(POSITION).scalar_one()
    assert start < request.reached <= after


def test_answers_are_those_of_the_statements_alone(app: Database) -> None:
    with positions.of_request(None):
        assert [[tuple(row) for row in rows] for rows in app.ask(TENANT, ONE, ONE)] == [[(1,)], [(1,)]]
        with app.tenant(TENANT) as tx:
            assert [len(rows) for rows in db.run_together(tx, ONE, None, ONE, last=True)] == [1, 0, 1]


def test_a_commit_that_fails_is_an_error_as_without_positions(app: Database) -> None:
    with positions.of_request(None) as request:
        with pytest.raises(IntegrityError):
            break_a_promise(app)
        assert request.reached == 0
        assert app.ask(TENANT, ONE)


def break_a_promise(app: Database) -> None:
    """Write what only the commit finds to be wrong."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("CREATE TEMPORARY TABLE once (a int UNIQUE DEFERRABLE INITIALLY DEFERRED) ON COMMIT DROP"))
        tx.execute(text("INSERT INTO once VALUES (1), (1)"))
