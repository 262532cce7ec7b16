from __future__ import annotations

from typing import Any

import pytest

from core.config import Settings
from core.storage.db import Database
from core.summaries import units
from core.types import Json
from tests.core.summaries.conversations import HIKE, SOUP, TAXES, talk, wrote
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, accept_all, said


def units_of(door: Doors, session: str = "s1", **params: Any) -> Json:
    answer = door.get(f"/v1/sessions/{session}/units", params=params)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_a_sessions_units_are_answered_with_all_that_is_in_them(door: Doors, app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(["I moved to Lisbon yesterday."], 100)])
    wrote(app)
    found = units_of(door)
    assert [one["from_position"] for one in found["items"]] == [7, 1]
    assert found["next"] is None
    moved, hike = found["items"]
    assert set(hike) == {
        "id", "session_id", "group_id", "from_position", "to_position", "boundary", "subject", "summary", "narrative",
        "participants", "keywords", "facts", "started_at", "ended_at", "prompt", "updated_at",
        "source_type",
    }  # fmt: skip
    assert (moved["session_id"], moved["boundary"], moved["participants"]) == ("s1", "gap", ["ada"])
    assert moved["started_at"] == "2026-11-21T13:40:00Z"
    assert moved["summary"] == moved["narrative"] == "ada moved to Lisbon on 20 November 2026."
    assert moved["facts"] == [
        {"at": "2026-11-20T00:00:00+00:00", "text": moved["summary"], "message_ids": ["m100"], "by": "ada"}
    ]


def test_pages_follow_each_other_without_a_gap(door: Doors, app: Database) -> None:
    accept_all(app, [*talk(HIKE), *talk(TAXES, 100), *talk(SOUP, 200)])
    wrote(app)
    first = units_of(door, limit=2)
    assert ([one["from_position"] for one in first["items"]], first["next"]) == ([13, 7], "7")
    last = units_of(door, limit=2, after=first["next"])
    assert ([one["from_position"] for one in last["items"]], last["next"]) == ([1], None)


def test_who_is_named_sees_only_what_they_heard(door: Doors, app: Database) -> None:
    accept(
        app,
        said("The hike is on Sunday.", group_id="team"),
        said("I pawned my wombat.", user="bob"),
        said("I will bring a tent.", user="bob", group_id="team"),
    )
    wrote(app)
    assert "wombat" in str(units_of(door))
    assert "wombat" in str(units_of(door, user_id="bob"))
    assert "wombat" not in str(units_of(door, user_id="ada"))
    assert len(units_of(door, user_id="ada")["items"]) == 1
    assert units_of(door, user_id="eve") == {"items": [], "next": None}


def test_the_name_of_a_session_may_be_a_path(door: Doors, app: Database) -> None:
    for session in ("shop/2026/unit", "a b/ü", "units"):
        accept(app, said("I live in Lisbon.", session=session))
        wrote(app, session)
        assert [one["session_id"] for one in units_of(door, session)["items"]] == [session]


def test_of_a_session_that_is_not_cut_yet_there_are_none(door: Doors, app: Database) -> None:
    accept(app, said("I live in Lisbon."))
    assert units_of(door) == {"items": [], "next": None}


def test_an_unknown_session_is_not_found(door: Doors, app: Database) -> None:
    answer = door.get("/v1/sessions/nowhere/units")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "nowhere" in answer.json()["detail"]


@pytest.mark.parametrize("params", [{"limit": 0}, {"limit": "x"}, {"after": "x"}, {"after": 0}, {"user_id": ""}])
def test_a_wrong_parameter_is_refused_with_its_name(door: Doors, app: Database, params: Json) -> None:
    accept(app, said("I live in Lisbon."))
    answer = door.get("/v1/sessions/s1/units", params=params)
    assert answer.status_code == 422
    assert next(iter(params)) in answer.json()["errors"][0]["pointer"]


def test_another_tenant_finds_nothing_and_who_may_not_read_is_refused(
    door: Doors, app: Database, settings: Settings
) -> None:
    accept(app, said("I live in Lisbon."))
    wrote(app)
    assert door.ask("GET", "/v1/sessions/s1/units", tenant=OTHER).status_code == 404
    publisher = key_of(settings, TENANT, ("publish",))
    assert door.ask("GET", "/v1/sessions/s1/units", key=publisher).status_code == 403
    with app.tenant(OTHER) as tx:
        assert units.forget_messages(tx, [("s1", "m0")]) == 0


def test_a_unit_is_read_by_its_id_with_the_memories_that_rest_on_it(door: Doors, app: Database) -> None:
    accept_all(app, talk(HIKE))
    wrote(app)
    (unit,) = units_of(door)["items"]
    cited = [{"session_id": "s1", "message_id": "m1"}]
    made = door.post("/v1/memories", {"user_id": "ada", "content": "The trail is steep.", "evidence": cited}).json()
    found = door.get(f"/v1/units/{unit['id']}").json()
    memory_id = made["memory"]["id"]
    assert found == {**unit, "memory_ids": [memory_id], "episode_ids": []}
    assert unit["source_type"] == "conversation"
    memory = door.get(f"/v1/memories/{memory_id}").json()
    assert (memory["unit_ids"], memory["source_type"]) == ([unit["id"]], "conversation")
    assert door.get(f"/v1/units/{unit['id']}", params={"user_id": "ada"}).json() == found
    assert door.get(f"/v1/units/{unit['id']}", params={"user_id": "eve"}).status_code == 404
    assert door.get(f"/v1/units/{unit['id']}", tenant=OTHER).status_code == 404
    assert door.get(f"/v1/units/{memory_id}").status_code == 404
    assert door.get("/v1/units/x").status_code == 422
