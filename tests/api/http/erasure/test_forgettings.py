"""Requests to forget that can still be undone, over HTTP and as a tool."""

from __future__ import annotations

from core.storage.db import Database
from tests.core.erasing import holding, rows
from tests.core.undo_windows import allow_undo
from tests.doors import Doors
from tests.samples import said
from tests.works import Works

PIN = "671498"


def forget(door: Doors, works: Works, app: Database) -> None:
    allow_undo(app)
    spoken = [said(f"My PIN is {PIN}."), said("I play chess."), said(f"Please forget {PIN}.")]
    assert door.post("/v1/events", spoken).status_code == 202
    works.settle()


def test_what_can_be_undone_is_listed_by_user_without_words(door: Doors, works: Works, app: Database) -> None:
    assert door.get("/v1/forgettings").json()["items"] == []
    forget(door, works, app)
    (one,) = door.get("/v1/forgettings", params={"user_id": "ada"}).json()["items"]
    assert (one["user_id"], one["session_id"], one["messages"]) == ("ada", "s1", 2)
    assert one["final_at"] > one["at"]
    assert PIN not in str(one)
    assert door.get("/v1/forgettings", params={"user_id": "ben"}).json()["items"] == []


def test_no_door_shows_what_is_kept_aside(door: Doors, works: Works, app: Database) -> None:
    forget(door, works, app)
    assert holding(app, PIN) == ["kept_rows"]
    assert PIN not in door.get("/v1/sessions/s1/messages").text
    assert PIN not in door.get("/v1/memories", params={"user_id": "ada"}).text
    assert PIN not in door.post("/v1/search", {"user_id": "ada", "query": f"PIN {PIN}"}).text.replace(
        f'"query":"PIN {PIN}"', ""
    )
    assert PIN not in door.post("/v1/context", {"user_id": "ada", "session_id": "s1", "max_tokens": 2000}).text


def test_the_undo_brings_it_back_to_every_door_with_its_vectors(door: Doors, works: Works, app: Database) -> None:
    forget(door, works, app)
    (one,) = door.get("/v1/forgettings").json()["items"]
    answer = door.post(f"/v1/forgettings/{one['id']}/undo", {})
    assert (answer.status_code, answer.json()["state"], answer.json()["messages"]) == (200, "undone", 2)
    assert PIN in door.get("/v1/sessions/s1/messages").text
    assert len(rows(app, f"SELECT FROM messages WHERE content LIKE '%{PIN}%'")) == 2
    assert rows(app, "SELECT FROM search_index WHERE embedding IS NULL") == []
    again = door.post(f"/v1/forgettings/{one['id']}/undo", {})
    assert (again.status_code, "it was undone" in again.json()["detail"]) == (404, True)
