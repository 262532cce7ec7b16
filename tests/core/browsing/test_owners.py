"""Who has memories."""

from __future__ import annotations

from core.browsing import owners
from core.storage.db import Database
from tests.doors import Doors
from tests.samples import TENANT


def test_owners_are_listed_with_their_number_those_with_news_first(door: Doors, app: Database) -> None:
    for user, content in (("ada", "I like tea."), ("bob", "I live in Rome."), ("ada", "I have a cat.")):
        assert door.post("/v1/memories", {"user_id": user, "content": content}).status_code == 201
    with app.tenant(TENANT) as tx:
        found = owners.latest(tx)
        assert [(one.user_id, one.memories) for one in found] == [("ada", 2), ("bob", 1)]
        assert [one.user_id for one in owners.latest(tx, 1)] == ["ada"]
