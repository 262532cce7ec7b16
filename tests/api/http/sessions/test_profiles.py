from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_events
from sqlalchemy import text

from core.memory.changes import Owner
from core.storage.db import Database
from core.types import Category, Evidence, Json
from tests.doors import OTHER, Doors
from tests.factories import a_memory, carry_out, events_since
from tests.samples import TENANT, accept, said

NOW = datetime.now(UTC)


def lisbon(**fields: Any) -> Any:
    return a_memory("Ada lives in Lisbon.", attribute="home.city", value="Lisbon", **fields)


def profile_of(door: Doors, path: str = "/v1/users/ada/profile", **params: Any) -> Json:
    answer = door.get(path, params=params)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_a_profile_shows_each_attribute_with_the_memories_that_support_it(door: Doors, app: Database) -> None:
    home = lisbon(confidence=0.9)
    carry_out(app, home)
    found = profile_of(door)
    assert (found["user_id"], found["version"], found["until"]) == ("ada", 1, None)
    assert found["attributes"]["slots"]["home.city"] == {
        "value": "Lisbon",
        "memories": [str(home.id)],
        "confidence": 0.9,
        "since": home.candidate.occurred_at.isoformat(),
    }


def test_of_whom_nothing_is_known_there_is_none_and_the_answer_says_what_to_do(door: Doors, app: Database) -> None:
    for path, name in (("/v1/users/nobody/profile", "user:nobody"), ("/v1/groups/none/profile", "group:none")):
        answer = door.get(path)
        assert answer.status_code == 404
        assert name in answer.json()["detail"]
        assert "POST /v1/events" in answer.json()["detail"]
    with app.tenant(TENANT) as tx:
        assert tx.execute(text("SELECT count(*) FROM profiles")).scalar_one() == 0


def test_once_built_it_is_answered_by_one_read_until_it_is_asked_for_fresh(door: Doors, app: Database) -> None:
    carry_out(app, lisbon())
    profile_of(door)
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    asked: list[str] = []
    engine = door.client.app.state.deps.db.engine  # type: ignore[attr-defined]
    listen = lambda *given: asked.append(given[2])  # noqa: E731 - taken off again below
    sqlalchemy_events.listen(engine, "before_cursor_execute", listen)
    held = profile_of(door)
    sqlalchemy_events.remove(engine, "before_cursor_execute", listen)
    assert [one for one in asked if "set_config" not in one] == [
        "SELECT version, attributes, built_at FROM profiles WHERE owner = %(owner)s"
    ]
    assert "preferences" not in held["attributes"]
    fresh = profile_of(door, fresh=True)
    assert (fresh["version"], [p["content"] for p in fresh["attributes"]["preferences"]]) == (2, ["Ada likes tea."])


def test_who_holds_it_already_is_not_sent_it_again(door: Doors, app: Database) -> None:
    carry_out(app, lisbon())
    tag = door.get("/v1/users/ada/profile").headers["etag"]
    assert tag.startswith('"1-')
    for held in (tag, f"W/{tag}", f'"x", {tag}'):
        again = door.get("/v1/users/ada/profile", headers={"if-none-match": held})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    changed = door.get("/v1/users/ada/profile", params={"fresh": True}, headers={"if-none-match": tag})
    assert (changed.status_code, changed.headers["etag"] != tag) == (200, True)


def test_who_was_deleted_and_is_known_anew_is_not_taken_for_who_they_were(door: Doors, app: Database) -> None:
    carry_out(app, lisbon())
    tag = door.get("/v1/users/ada/profile").headers["etag"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM profiles"))
        tx.execute(text("DELETE FROM memories"))
    carry_out(app, a_memory("Ada likes tea.", category=Category.PREFERENCE))
    again = door.get("/v1/users/ada/profile", headers={"if-none-match": tag})
    assert (again.status_code, again.json()["version"]) == (200, 1)


def test_what_is_not_sure_enough_can_be_left_out(door: Doors, app: Database) -> None:
    carry_out(app, lisbon(confidence=0.9), a_memory("Ada might like tea.", confidence=0.2))
    assert set(profile_of(door)["attributes"]) == {"slots", "topics"}
    assert set(profile_of(door, min_confidence=0.5)["attributes"]) == {"slots"}


@pytest.mark.parametrize("params", [{"min_confidence": 2}, {"min_confidence": "x"}, {"fresh": "perhaps"}])
def test_a_wrong_parameter_is_refused_with_its_name(door: Doors, params: Json) -> None:
    answer = door.get("/v1/users/ada/profile", params=params)
    assert answer.status_code == 422
    assert next(iter(params)) in answer.json()["errors"][0]["pointer"]


def test_what_has_expired_is_gone_the_moment_it_expires(door: Doors, app: Database) -> None:
    carry_out(app, lisbon(), a_memory("Ada is in Rome.", expires_at=NOW + timedelta(days=1)))
    assert "topics" in profile_of(door)["attributes"]
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = now() - interval '1 s' WHERE expires_at IS NOT NULL"))
        past = "jsonb_set(attributes, '{until}', to_jsonb((now() - interval '1 s')::text))"
        tx.execute(text(f"UPDATE profiles SET attributes = {past}"))
    assert "topics" not in profile_of(door)["attributes"]


def test_a_group_has_its_own_and_it_says_so_when_it_changes(door: Doors, app: Database) -> None:
    accept(app, said("We like hikes.", session="g1", message_id="m1", group_id="the team:a"))
    quote = (Evidence("g1", "m1", "e1", "We like hikes."),)
    carry_out(app, a_memory("Ada likes hikes.", evidence=quote), owner=Owner("ada", "the team:a"))
    carry_out(app, lisbon())
    found = profile_of(door, "/v1/groups/the team:a/profile")
    assert found["group_id"] == "the team:a"
    assert "Lisbon" not in str(found)
    with app.tenant(TENANT) as tx:
        (told,) = [e for e in events_since(tx, 0, 1000) if e.event_type == "profile.updated"]
    assert (told.subject, told.payload["group_id"]) == ("group:the team:a", "the team:a")


def test_another_tenant_finds_nothing(door: Doors, app: Database) -> None:
    carry_out(app, lisbon())
    profile_of(door)
    assert door.ask("GET", "/v1/users/ada/profile", tenant=OTHER, params={"fresh": True}).status_code == 404


def test_a_user_with_only_episodes_and_skills_has_an_empty_profile(door: Doors) -> None:
    for category in ("episode", "skill"):
        body = {"user_id": "sam", "content": f"Sam and the {category} of the harbour.", "category": category}
        assert door.post("/v1/memories", body).is_success
    answer = door.get("/v1/users/sam/profile", params={"fresh": True})
    assert (answer.status_code, answer.json()["user_id"]) == (200, "sam")
    assert door.get("/v1/users/nobody/profile").status_code == 404
