"""Several statements in one way, and transactions that are opened by what they read first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError, OperationalError, ProgrammingError

from core.config import Settings
from core.storage import db
from core.storage.db import Database, run_together
from tests.samples import TENANT

WRITABLE = strategies.characters(exclude_characters="\x00", exclude_categories=["Cs"])
WHOLE = strategies.integers(-(2**31), 2**31 - 1)
VALUES: dict[str, Any] = {
    "boolean": strategies.none() | strategies.booleans(),
    "bigint": strategies.integers(-(2**63), 2**63 - 1),
    "double precision": strategies.floats(allow_nan=False),
    "text": strategies.text(WRITABLE),
    "uuid": strategies.uuids(),
    "timestamptz": strategies.datetimes(datetime(1900, 1, 1), timezones=strategies.just(UTC)),  # noqa: DTZ001
    "text[]": strategies.lists(strategies.text(WRITABLE)),
    "int[]": strategies.lists(WHOLE),
}
TYPED = strategies.one_of(*(strategies.tuples(strategies.just(name), values) for name, values in VALUES.items()))


@pytest.fixture
def pair(settings: Settings) -> Iterator[Database]:
    """Two connections."""
    with closing(db.connect(db.app_url(settings), 2)) as database:
        yield database


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(first=TYPED, second=TYPED)
def test_values_arrive_as_they_were_given(app: Database, first: tuple[str, Any], second: tuple[str, Any]) -> None:
    (one, a), (other, b) = first, second
    read = f"SELECT cast(:a AS {one}) AS a, '100 %' AS sign, 7-:n AS less, cast(:b AS {other}) AS b, :a IS NULL AS none"
    with app.tenant(TENANT) as tx:
        (row,), more = run_together(tx, (text(read), {"a": a, "n": -3, "b": b, "spare": 1}), (text("SELECT 1"), {}))
    assert (row.a, row.sign, row.less, row.b, row.none) == (a, "100 %", 10, b, a is None)
    assert [tuple(row) for row in more] == [(1,)]


def test_what_a_transaction_reads_first_is_read_for_its_tenant(app: Database) -> None:
    asked = text("SELECT current_setting('imprint.tenant', true) AS tenant")
    for tenant in ("ada's", '"', "\\", "a;b", "$1", "%s"):
        with app.asking(tenant, (asked, {})) as (tx, (first,)):
            assert first[0].tenant == tx.execute(asked).scalar_one() == tenant
    with app.queue() as tx:
        assert not tx.execute(asked).scalar_one()


@pytest.mark.parametrize("fails", [False, True])
def test_what_was_done_stands_only_where_nothing_failed(app: Database, fails: bool) -> None:
    put = text("INSERT INTO working (tenant_id, session_id, key, value) VALUES (:tenant, 's', 'k', '1')")
    try:
        with app.asking(TENANT, (text("SELECT 1"), {})) as (tx, _):
            run_together(tx, (put, {"tenant": TENANT}), (text("SELECT 1 / :by"), {"by": 0 if fails else 1}))
    except DBAPIError:
        assert fails
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM working")).scalar_one() == (0 if fails else 1)


def test_what_comes_last_ends_the_transaction_and_nothing_of_a_tenant_is_seen_behind_it(app: Database) -> None:
    put = text("INSERT INTO working (tenant_id, session_id, key, value) VALUES (:tenant, 's', 'k', '1')")
    count = text("SELECT count(*) AS count FROM working")
    with app.asking(TENANT, (put, {"tenant": TENANT})) as (tx, _):
        ((row,),) = run_together(tx, (count, {}), last=True)
        assert row.count == 1
        with app.tenant(TENANT) as other:
            assert other.execute(count).scalar_one() == 1
        assert tx.execute(count).scalar_one() == 0
    with pytest.raises(DBAPIError), app.tenant(TENANT) as tx:
        run_together(tx, (text("DELETE FROM working"), {}), (text("SELECT 1 / 0"), {}), last=True)
    with app.tenant(TENANT) as tx:
        assert tx.execute(count).scalar_one() == 1


def test_what_is_done_meanwhile_is_done_before_the_answer_is_looked_at(app: Database) -> None:
    done: list[str] = []
    slow = text("SELECT pg_sleep(0.2), clock_timestamp() AS at")

    def work() -> None:
        done.append(datetime.now(UTC).isoformat())

    with app.asking(TENANT, (slow, {}), meanwhile=work) as (tx, (first,)):
        assert datetime.fromisoformat(done[0]) < first[0].at
        (then,) = run_together(tx, (slow, {}), meanwhile=work)
        assert datetime.fromisoformat(done[1]) < then[0].at
        assert run_together(tx, None, meanwhile=work) == [[]]
    assert len(done) == 2  # Where nothing is asked there is nothing to wait for.


def test_what_fails_meanwhile_leaves_the_connection_as_it_was(pair: Database) -> None:
    for _ in range(5):  # More often than there are connections.
        with pytest.raises(ZeroDivisionError), pair.asking(TENANT, (text("SELECT 1"), {}), meanwhile=lambda: 1 // 0):
            pass
        with pytest.raises(ZeroDivisionError), pair.tenant(TENANT) as tx:
            run_together(tx, (text("SELECT 1"), {}), (text("SELECT 2"), {}), meanwhile=lambda: 1 // 0)
    with pair.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT 1")).scalar_one() == 1


def test_a_transaction_that_cannot_be_opened_leaves_the_connection_as_it_was(pair: Database) -> None:
    for _ in range(5):  # More often than there are connections.
        with pytest.raises(ProgrammingError), pair.asking(TENANT, (text("SELECT nothing"), {})):
            pass
    with pair.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT 1")).scalar_one() == 1


def test_connections_that_were_lost_are_replaced_and_nobody_notices(app: Database, pair: Database) -> None:
    for opened in (pair.tenant, lambda _: pair.queue(), pair.asking):
        with pair.tenant(TENANT) as one, pair.tenant(TENANT) as other:
            lost = [tx.execute(text("SELECT pg_backend_pid()")).scalar_one() for tx in (one, other)]
        with app.queue() as tx:
            assert [tx.execute(text("SELECT pg_terminate_backend(:pid, 10000)"), {"pid": pid}).scalar() for pid in lost]
        with opened(TENANT):
            pass
        with pair.tenant(TENANT) as one, pair.tenant(TENANT) as other:
            assert not {tx.execute(text("SELECT pg_backend_pid()")).scalar_one() for tx in (one, other)} & {*lost}


def test_what_is_lost_in_between_is_told(pair: Database) -> None:
    with pytest.raises(OperationalError), pair.tenant(TENANT) as tx:
        run_together(tx, (text("SELECT pg_terminate_backend(pg_backend_pid())"), {}), (text("SELECT 1"), {}))
    with (
        pytest.raises(OperationalError),
        pair.asking(TENANT, (text("SELECT pg_terminate_backend(pg_backend_pid())"), {})),
    ):
        pass  # A connection that was never of use is not tried again and again.
    with pair.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT 1")).scalar_one() == 1


def test_a_server_that_is_not_there_is_told_at_once() -> None:
    nowhere = Database(
        create_engine("postgresql+psycopg://nobody@127.0.0.1:1/none", connect_args={"connect_timeout": 1})
    )
    with pytest.raises(OperationalError), nowhere.tenant(str(uuid4())):
        pass
