"""Who may read what: a context for a group holds the group's memory; private memory is shown only on request."""

from __future__ import annotations

import json

import pytest

from core.storage.db import Database
from core.types import Json
from tests.doors import Doors
from tests.samples import accept_all, ended, said
from tests.works import Works

PRIVATE = "I have been diagnosed with epilepsy."
SHARED = "I live in Porto."


@pytest.fixture
def spoken(app: Database, works: Works) -> None:
    """Gina speaks alone, then in a session of the group team1, where she also whispers to Hugo."""
    team = {"session": "gr1", "group_id": "team1"}
    accept_all(
        app,
        [
            said(PRIVATE, user="gina", session="p1", speaker="Gina"),
            ended("p1", "gina", message_count=3),
            said(SHARED, user="gina", speaker="Gina", **team),
            said("I work as a nurse.", user="hugo", speaker="Hugo", **team),
            said("My salary is 90000 euros.", user="gina", speaker="Gina", audience=["hugo"], **team),
            said("I am looking for another flat.", user="gina", speaker="Gina", audience="private", **team),
            ended("gr1", "gina", message_count=4),
        ],
    )
    works.settle()


SECRETS = ("epilepsy", "90000", "another flat")


def context(door: Doors, **asked: object) -> str:
    answer = door.post("/v1/context", {"query": "What do we know about Gina?", **asked})
    assert answer.status_code == 200, answer.text
    return str(answer.text)


@pytest.mark.parametrize("named", [{"group_id": "team1"}, {}], ids=["group named", "group of the session"])
@pytest.mark.parametrize("user", ["gina", "hugo", "eve"])
def test_a_context_for_a_group_session_holds_no_private_memory(
    spoken: None, door: Doors, user: str, named: Json
) -> None:
    sections = json.loads(context(door, user_id=user, session_id="gr1", **named))["sections"]
    remembered = json.dumps([one for one in sections if one["name"] != "recent"])
    assert ("Porto" in json.dumps(sections)) == (user != "eve" or bool(named))
    assert not [one for one in SECRETS if one in remembered]


def test_private_memory_is_shown_on_request(spoken: None, door: Doors) -> None:
    asked = {"user_id": "gina", "group_id": "team1", "session_id": "gr1"}
    assert "epilepsy" not in context(door, **asked)
    assert "epilepsy" in context(door, **asked, audience="private")


def test_what_was_said_to_some_of_a_group_is_not_found_by_the_group(spoken: None, door: Doors) -> None:
    for asked in ({"group_id": "team1"}, {"user_id": "gina", "group_id": "team1", "audience": "group"}):
        found = door.post("/v1/search", {"query": "Gina salary flat epilepsy Porto", "limit": 50, **asked}).text
        assert "Porto" in found
        assert not [one for one in SECRETS if one in found], asked
    assert not [one for one in SECRETS if one in door.get("/v1/groups/team1/profile").text]
    own = door.post("/v1/search", {"query": "Gina salary flat epilepsy Porto", "limit": 50, "user_id": "gina"}).text
    assert all(one in own for one in SECRETS)


def test_who_was_addressed_sees_it_in_the_conversation(spoken: None, door: Doors) -> None:
    assert "90000" in context(door, user_id="hugo", group_id="team1", session_id="gr1", audience="private")
    assert "90000" not in context(door, user_id="eve", group_id="team1", session_id="gr1", audience="private")


@pytest.mark.parametrize("path", ["/v1/search", "/v1/context"])
def test_the_audience_of_a_group_takes_a_group(door: Doors, path: str) -> None:
    answer = door.post(path, {"user_id": "gina", "query": "x", "audience": "group"})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "/audience"


def test_an_audience_that_is_none_is_refused(door: Doors) -> None:
    answer = door.post("/v1/events", [said("Hello.", audience="everyone")])
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"].startswith("/0/payload/audience")
