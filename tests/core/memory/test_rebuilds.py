from __future__ import annotations

from uuid import UUID

import pytest
from sqlalchemy import text

from core.errors import Conflict, NotFound
from core.memory import rebuilds
from core.settings.limits import LimitReached
from core.storage.db import Database, Tx
from core.tenancy import tenants
from tests.factories import PERSON, events_since
from tests.samples import TENANT


def requested(tx: Tx, user: str = "ada", limit: int = 2) -> UUID:
    found: UUID = rebuilds.request(tx, TENANT, user, {"rules": []}, PERSON, limit=limit).id
    return found


def test_a_request_is_a_row_and_an_event_for_the_workers(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        rebuild_id = requested(tx)
        row = rebuilds.get(tx, rebuild_id)
        (told,) = [one for one in events_since(tx, 0, 10) if one.event_type == "rebuild.requested"]
    assert (row.status, row.user_id, row.params) == ("running", "ada", {"rules": []})
    assert row.shadow_id.startswith(tenants.RESERVED), "no key can be made for the tenant in which it is made"
    assert told.payload == {"user_id": "ada", "rebuild_id": str(rebuild_id)}


def test_only_so_many_are_made_at_a_time_and_one_that_ended_makes_room(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        first, _ = requested(tx), requested(tx, "bob")
        with pytest.raises(LimitReached):
            requested(tx, "cem")
        rebuilds.drop(tx, first)
        requested(tx, "cem")


def test_they_are_listed_newest_first_page_by_page(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        ids = [requested(tx, user, 9) for user in ("ada", "bob", "ada")]
        first = rebuilds.find(tx, None, limit=2)
        rest = rebuilds.find(tx, None, after=first[-1].id, limit=2)
        assert [row.id for row in (*first, *rest)] == ids[::-1]
        assert [row.id for row in rebuilds.find(tx, "bob")] == [ids[1]]


def test_one_that_was_applied_cannot_be_dropped_any_more(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        rebuild_id = requested(tx)
        tx.execute(text("UPDATE rebuilds SET status = 'applied'"))
        with pytest.raises(Conflict, match=f"{rebuild_id}/undo"):
            rebuilds.drop(tx, rebuild_id)
        assert rebuilds.get(tx, rebuild_id).status == "applied"


def test_a_dropped_one_quotes_nothing_any_more(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        rebuild_id = requested(tx)
        tx.execute(text("UPDATE rebuilds SET status = 'ready', difference = '{}'"))
        rebuilds.drop(tx, rebuild_id)
        row = rebuilds.get(tx, rebuild_id)
    assert (row.status, row.difference) == ("dropped", None)
    assert row.ended_at is not None


def test_there_is_none_of_that_id_in_another_tenant(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        rebuild_id = requested(tx)
    with app.tenant("globex") as tx, pytest.raises(NotFound):
        rebuilds.get(tx, rebuild_id)
