from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from core.forgetting import undo_window
from core.storage.db import Database
from tests.core.erasing import rows
from tests.samples import TENANT, accept_all, said

PAYLOAD = {"user_id": "ada", "group_id": None, "session_id": "s1", "message_id": "m1"}


def begun(app: Database, seconds: int = 60) -> UUID:
    with app.tenant(TENANT) as tx:
        found = undo_window.begin(tx, TENANT, PAYLOAD, "e1", seconds)
        tx.execute(text("UPDATE messages SET content = '[erased]'"))
        undo_window.extend(tx, found, 1, 0)
    return found


@pytest.fixture(autouse=True)
def spoken(app: Database) -> None:
    accept_all(app, [said("My PIN is 671498.", message_id="m1")])


def test_only_the_transaction_that_keeps_copies_what_it_changes(app: Database) -> None:
    found = begun(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE messages SET content = 'Something else.'"))
    (row,) = rows(app, "SELECT * FROM kept_rows")
    assert (row.forgetting_id, row.name, row.key) == (found, "messages", '["s1", 1]')
    assert (row.before["content"], row.after["content"]) == ("My PIN is 671498.", "[erased]")


def test_of_a_row_that_is_changed_twice_the_first_and_the_last_form_are_kept(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        undo_window.begin(tx, TENANT, PAYLOAD, "e1", 60)
        for content in ("once", "twice"):
            tx.execute(text("UPDATE messages SET content = :content"), {"content": content})
    (row,) = rows(app, "SELECT * FROM kept_rows")
    assert (row.before["content"], row.after["content"]) == ("My PIN is 671498.", "twice")


def test_a_request_that_erased_nothing_leaves_nothing(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        found = undo_window.begin(tx, TENANT, PAYLOAD, "e1", 60)
        assert undo_window.extend(tx, found, 0, 0) is None
    assert rows(app, "SELECT FROM forgettings") == []


def test_a_closed_window_is_listed_and_found_no_longer_and_takes_no_further_page(app: Database) -> None:
    found = begun(app)
    with app.tenant(TENANT) as tx:
        assert [one.id for one in undo_window.listed(tx, "ada", 10)] == [found]
        assert undo_window.listed(tx, "ben", 10) == []
        tx.execute(text("UPDATE forgettings SET final_at = clock_timestamp()"))
        assert undo_window.listed(tx, "ada", 10) == []
        assert undo_window.find(tx, found) is None
        assert not undo_window.go_on(tx, found)


def test_closing_one_drops_all_that_are_due_and_no_others(app: Database) -> None:
    first, due, other = begun(app), begun(app), begun(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE forgettings SET final_at = clock_timestamp() WHERE id = :id"), {"id": due})
        assert undo_window.close_due(tx, first) == ["e1", "e1"]
        assert [one.id for one in undo_window.listed(tx, None, 10)] == [other]
    assert {row.forgetting_id for row in rows(app, "SELECT forgetting_id FROM kept_rows")} <= {other}
