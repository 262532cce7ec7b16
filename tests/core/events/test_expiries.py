"""What has left is added up by kind, and the furthest place of an event that has left is kept."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.events import expiries, feed
from core.events.expiries import Removed
from core.storage.db import Database
from tests.samples import TENANT

DAY = datetime(2026, 11, 1, tzinfo=UTC)


def test_rows_are_added_up_and_the_newest_counts(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert expiries.counts(tx) == {}
        assert expiries.newest(tx, "events") is None
        for rows, days in ((3, 2), (0, 9), (4, 1)):
            expiries.record(tx, TENANT, Removed("messages", rows, DAY + timedelta(days=days)))
        found = expiries.counts(tx)["messages"]
        assert (found["last"], found["total"], found["newest"]) == (4, 7, DAY + timedelta(days=2))
        assert expiries.newest(tx, "messages", "events") == DAY + timedelta(days=2)
    with app.tenant("other") as tx:
        assert expiries.counts(tx) == {}


def test_the_furthest_place_of_events_stays(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        for place in ((5, 9), (7, 3), (7, 2), (6, 99)):
            expiries.record(tx, TENANT, Removed("events", 1, DAY, *place))
        found = feed.gap(tx, feed.BEGINNING)
    assert found is not None
    assert found.to == (7, 3)
