"""What followed from an event, as far as it goes."""

from __future__ import annotations

import json
from unittest import mock

from sqlalchemy import text

from core.config import Settings
from core.events import chains, log
from core.events.chains import Chain
from core.storage.db import Database
from tests import databases
from tests.rules.registry.samples import emits
from tests.rules.registry.stored import save
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event
from tests.works import Works


def follow_each_other(app: Database) -> None:
    """Put rules in force by which one order leads to a parcel and a bill, and a parcel to a note."""
    for name, cause, *effects in (
        ("one", "order.placed", "parcel.sent", "bill.sent"),
        ("two", "parcel.sent", "note.sent"),
    ):
        save(app, a_document(name=name, event_type=cause, actions=[emits(effect) for effect in effects]))


def chain(app: Database, event_id: str) -> Chain:
    with app.tenant(TENANT) as tx:
        return chains.of(tx, log.get(tx, event_id))


def test_a_chain_goes_down_to_what_followed_from_what_followed(app: Database, works: Works) -> None:
    follow_each_other(app)
    placed = accept(app, event("order.placed")).ids[0][0]
    accept(app, event("order.placed"))
    works.settle()
    found = chain(app, placed)
    assert sorted((one.depth, one.event_type) for one in found.links) == [
        (1, "bill.sent"),
        (1, "parcel.sent"),
        (2, "note.sent"),
    ]
    assert [one.depth for one in found.links] == [1, 1, 2]
    parcel = next(one for one in found.links if one.event_type == "parcel.sent")
    assert [row.rule for row in found.dispatches[parcel.seq]] == ["two"]
    assert sum(len(rows) for rows in found.dispatches.values()) == 3
    assert not found.truncated


def test_of_a_long_chain_the_nearest_are_read(app: Database, works: Works) -> None:
    follow_each_other(app)
    placed = accept(app, event("order.placed")).ids[0][0]
    works.settle()
    with mock.patch.object(chains, "EVENTS", 2):
        found = chain(app, placed)
    assert ([one.depth for one in found.links], found.truncated) == ([1, 1], True)


def test_an_event_of_which_nothing_followed(app: Database) -> None:
    found = chain(app, accept(app, event("order.placed")).ids[0][0])
    assert (list(found.links), dict(found.dispatches), found.truncated) == ([], {}, False)


def test_what_followed_is_found_by_its_cause(settings: Settings, app: Database) -> None:
    accept(app, *(event("order.placed") for _ in range(500)))
    databases.analyzed(settings, "events")
    with app.tenant(TENANT) as tx:
        explain = text(f"EXPLAIN (FORMAT JSON) {chains._LINKS}")
        plan = json.dumps(tx.execute(explain, {"seq": 1, "id": "x", "limit": 200}).scalar_one())
    assert '"Index Name": "events_of_chain"' in plan
