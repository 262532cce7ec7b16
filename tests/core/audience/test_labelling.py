"""Labels that come after a message reach all that was drawn from it."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from core.audience import labelling
from core.events.publishing import Author
from core.storage.db import Database
from core.types import Json
from tests.doors import Doors
from tests.samples import TENANT, accept_all, ended, said
from tests.works import Works

OPEN = "I live in Porto."


@pytest.fixture
def spoken(app: Database, works: Works, door: Doors) -> None:
    """Ada says two things, and the session is told to everybody."""
    accept_all(
        app,
        [said(OPEN, message_id="open"), said("I work as a nurse.", message_id="job"), ended(message_count=3)],
    )
    works.settle()
    door.post("/v1/sessions/s1/summary")


def label(app: Database, *labels: str) -> Json:
    with app.tenant(TENANT) as tx:
        seq = tx.execute(text("SELECT event_seq FROM messages WHERE id = 'open'")).scalar_one()
        return labelling.label_message(tx, TENANT, "s1", seq, labels, Author("test"))


def told(app: Database) -> str:
    with app.tenant(TENANT) as tx:
        rows = [
            tx.execute(text(f"SELECT to_jsonb(t) FROM {name} t")).scalars().all() for name in ("summaries", "units")
        ]
    return json.dumps(rows, default=str)


def answers(door: Doors, *held: str) -> list[str]:
    body = {"user_id": "ada", "session_id": "s1", "query": "Porto", "reader_labels": list(held)}
    searched = {**body, "include": ["memories", "messages", "units"]}
    return [door.post("/v1/context", body).text, json.dumps(door.post("/v1/search", searched).json()["results"])]


def test_it_reaches_memories_summaries_units_and_the_log(
    spoken: None, door: Doors, works: Works, app: Database
) -> None:
    assert "Porto" in told(app)
    assert all("in Porto" in one for one in answers(door))
    assert label(app, "family") == {"labelled": True, "memories": 1}
    for _ in range(2):
        assert "Porto" not in told(app)
        assert not any("in Porto" in one for one in answers(door))
        assert all("in Porto" in one for one in answers(door, "family"))
        works.settle()
    assert "Porto" not in door.get("/v1/users/ada/profile").text
    (logged,) = [
        e for e in door.get("/v1/events?type=message.added").json()["items"] if e["payload"]["content"] == OPEN
    ]
    assert logged["payload"]["audience_labels"] == ["family"]


def test_labels_add_up_and_repeats_change_nothing(spoken: None, door: Doors, app: Database) -> None:
    label(app, "family", "family")
    assert label(app, "family") == {"labelled": False, "memories": 0}
    assert label(app, "care") == {"labelled": True, "memories": 1}
    assert not any("in Porto" in one for one in answers(door, "family"))
    assert all("in Porto" in one for one in answers(door, "family", "care"))


def test_a_message_that_is_not_there_is_not_labelled(spoken: None, app: Database) -> None:
    with app.tenant(TENANT) as tx:
        assert not labelling.label_message(tx, TENANT, "s1", 10**9, ["family"], Author("test"))["labelled"]
