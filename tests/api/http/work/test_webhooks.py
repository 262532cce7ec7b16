"""`/v1/endpoints/deliveries`: what was sent, and sending it again."""

from __future__ import annotations

from unittest import mock
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.dispatches import queries as dispatch_queries
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.rules.samples import a_document
from tests.samples import TENANT, event
from tests.works import Works
from workers.dispatch.relay import DispatchRef

NOTE: Json = {"action_type": "notify", "channel": "log", "template": "Hello."}


@pytest.fixture
def sent(door: Doors, works: Works) -> Json:
    """A message that a rule has sent."""
    assert door.post("/v1/rules", a_document(name="tells", event_type="order.placed", actions=[NOTE])).is_success
    door.post("/v1/events", event("order.placed"))
    works.settle()
    [found] = deliveries(door)["items"]
    return dict(found)


def deliveries(door: Doors, **params: object) -> Json:
    answer = door.get("/v1/endpoints/deliveries", params=params)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def delivered(app: Database, count: int, **fields: str) -> None:
    """Write deliveries of webhooks."""
    values = {"tenant": TENANT, "count": count, "status": "dead", "url": "https://x.example.com/hook?token=s3cret"}
    fill = """
        INSERT INTO dispatches (tenant_id, action_type, target, queue, status, params, ended_at)
        SELECT :tenant, 'webhook', 'webhook_sender', 'io', :status,
               jsonb_build_object('url', cast(:url AS text)), now()
        FROM generate_series(1, :count)
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), values | fields)


def test_a_delivery_shows_where_it_went_and_by_which_rule(door: Doors, sent: Json) -> None:
    assert (sent["kind"], sent["to"], sent["rule"], sent["event_type"]) == ("notify", "log", "tells", "order.placed")
    assert (sent["status"], sent["attempt"], sent["error"]) == ("done", 1, None)
    assert deliveries(door, rule="other")["items"] == deliveries(door, status="dead")["items"] == []
    assert door.get("/v1/endpoints/deliveries", tenant=OTHER).json() == {"items": [], "next": None}


def test_what_was_sent_or_given_up_is_sent_again_under_its_id(
    door: Doors, app: Database, works: Works, sent: Json
) -> None:
    path = f"/v1/endpoints/deliveries/{sent['dispatch_id']}/redeliver"
    assert door.post(path).json()["status"] == "pending"
    assert door.post(path).status_code == 409
    works.run([DispatchRef(TENANT, "io", UUID(sent["dispatch_id"]))])
    [again] = deliveries(door)["items"]
    assert (again["dispatch_id"], again["status"]) == (sent["dispatch_id"], "done")
    assert again["ended_at"] > sent["ended_at"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'dead' WHERE id = :id"), {"id": sent["dispatch_id"]})
    assert door.post(path).json()["status"] == "pending"


def test_what_sends_nothing_cannot_be_sent_again(door: Doors, app: Database, settings: Settings, works: Works) -> None:
    delivered(app, 1)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET action_type = 'run_agent'"))
        one = tx.execute(text("SELECT id FROM dispatches")).scalar_one()
    assert door.post(f"/v1/endpoints/deliveries/{one}/redeliver").status_code == 409
    assert door.post(f"/v1/endpoints/deliveries/{uuid4()}/redeliver").status_code == 404
    reader = key_of(settings, TENANT, ("read",))
    assert door.post(f"/v1/endpoints/deliveries/{one}/redeliver", key=reader).status_code == 403


def test_an_address_is_shown_without_its_query(door: Doors, app: Database) -> None:
    delivered(app, 1)
    answer = door.get("/v1/endpoints/deliveries")
    assert answer.json()["items"][0]["to"] == "https://x.example.com/hook"
    assert "s3cret" not in answer.text


def test_deliveries_come_in_pages_and_a_filter_looks_through_so_many(door: Doors, app: Database) -> None:
    delivered(app, 1)
    delivered(app, 5, status="done")
    first = deliveries(door, limit=4)
    rest = deliveries(door, limit=4, after=first["next"])
    assert (len(first["items"]), len(rest["items"]), rest["next"]) == (4, 2, None)
    with mock.patch.object(dispatch_queries, "SEARCHED", 5):
        short = deliveries(door, status="dead")
        found = deliveries(door, status="dead", after=short["next"])
    assert (short["items"], len(found["items"]), found["next"]) == ([], 1, None)
