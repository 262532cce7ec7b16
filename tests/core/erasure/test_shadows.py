from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.erasure import shadows
from core.memory import shadow
from core.storage.db import Database
from tests.samples import TENANT


def rebuild(app: Database, user: str, status: str = "ready") -> str:
    """A rebuild of a user with one profile in its shadow tenant, whose name is returned."""
    name = f"rebuild-{uuid4().hex}"
    values = {"tenant": TENANT, "id": uuid4(), "user": user, "shadow": name, "status": status}
    shadow.create(app, TENANT, name)
    with app.tenant(name) as tx:
        tx.execute(text("INSERT INTO profiles (tenant_id, owner, version) VALUES (:shadow, :user, 1)"), values)
    with app.tenant(TENANT) as tx:
        statement = """
            INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status, difference)
            VALUES (:tenant, :id, :user, :shadow, :status, '{"added": ["Ada lives in Lisbon."]}')
        """
        tx.execute(text(statement), values)
    return name


def left(app: Database, name: str) -> int:
    """How many rows a shadow tenant still has."""
    with app.tenant(name) as tx:
        query = "SELECT (SELECT count(*) FROM profiles) + (SELECT count(*) FROM tenants WHERE id = :name)"
        return int(tx.execute(text(query), {"name": name}).scalar_one())


def rows(app: Database) -> list[tuple[Any, ...]]:
    with app.tenant(TENANT) as tx:
        return [tuple(row) for row in tx.execute(text("SELECT user_id, status, difference FROM rebuilds ORDER BY 1"))]


@pytest.mark.parametrize("status", ["running", "ready"])
def test_a_stopped_rebuild_keeps_its_row_and_loses_what_it_made(app: Database, status: str) -> None:
    mine, theirs = rebuild(app, "ada", status), rebuild(app, "bob")
    with app.tenant(TENANT) as tx:
        assert shadows.stop_rebuilds(tx, TENANT, {"owners": ["ada", "cem"]}) == 1
        (bound,) = tx.execute(text("SELECT current_setting('imprint.tenant')")).scalars()
    assert bound == TENANT, "whatever follows in this transaction is the tenant's"
    assert (left(app, mine), left(app, theirs)) == (0, 2)
    assert [(user, status) for user, status, _ in rows(app)] == [("ada", "dropped"), ("bob", "ready")]
    assert [difference is None for *_, difference in rows(app)] == [True, False]


def test_a_rebuild_that_was_applied_stays_applied_but_quotes_nothing(app: Database) -> None:
    rebuild(app, "ada", "applied")
    with app.tenant(TENANT) as tx:
        assert shadows.stop_rebuilds(tx, TENANT, {"owners": ["ada"]}) == 1
        assert shadows.stop_rebuilds(tx, TENANT, {"owners": ["ada"]}) == 0, "there is nothing left to stop"
    assert rows(app) == [("ada", "applied", None)]


def test_of_an_erased_user_no_rebuild_is_left_at_all(app: Database) -> None:
    mine = [rebuild(app, "ada"), rebuild(app, "ada", "dropped")]
    theirs = rebuild(app, "bob")
    with app.tenant(TENANT) as tx:
        assert shadows.delete_rebuilds(tx, TENANT, {"user": "ada"}) == 2
    assert [left(app, name) for name in (*mine, theirs)] == [0, 0, 2]
    assert [user for user, *_ in rows(app)] == ["bob"]
