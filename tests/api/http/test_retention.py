"""How long a tenant keeps what is shown and set over HTTP, and by session."""

from __future__ import annotations

import pytest

from core.config import Settings
from core.storage.db import Database
from core.tenancy.retention import Retention
from tests.core.expiry.sweeping import swept
from tests.doors import Doors, key_of
from tests.samples import TENANT, ended, said
from tests.works import Works

PATH = "/v1/tenant/retention"
NOTHING = {"messages": 0, "tool_results": 0, "sessions": 0, "events": 0, "dispatches": 0}


def test_everything_is_kept_until_someone_chooses(door: Doors) -> None:
    assert door.get(PATH).json() == {"retention": Retention().model_dump(), "due": NOTHING, "removed": {}}


def test_a_dry_run_says_what_would_leave_and_sets_nothing(door: Doors, works: Works) -> None:
    door.post("/v1/events", [said("hello"), said("hello again"), ended()])
    works.settle()
    answer = door.ask("PUT", PATH + "?dry_run=true", json={"messages_days": 2}).json()
    assert answer["due"] == NOTHING | {"messages": 2, "sessions": 1}
    assert answer["dry_run"] is True
    assert door.get(PATH).json()["retention"] == Retention().model_dump()


def test_what_has_left_is_counted(door: Doors, app: Database, works: Works) -> None:
    door.post("/v1/events", [said("hello"), said("hello again"), ended()])
    works.settle()
    answer = door.ask("PUT", PATH, json={"messages_days": 2}).json()
    assert (answer["dry_run"], answer["due"]["messages"]) == (False, 2)
    swept(app)
    found = door.get(PATH).json()
    assert found["due"] == NOTHING
    assert {kind: (one["last"], one["total"]) for kind, one in found["removed"].items()} == {
        "messages": (2, 2),
        "sessions": (1, 1),
    }


@pytest.mark.parametrize(
    ("sent", "pointer"),
    [
        ({"message_days": 1}, "/message_days"),
        ({"messages_days": 0}, "/messages_days"),
        ({"messages_days": True}, "/messages_days"),
        ({"messages_days": 1.5}, "/messages_days"),
        ({"sessions_days": -1}, "/sessions_days"),
        ({"sessions_days": 36_501}, "/sessions_days"),
        ({"events_days": 6}, "/events_days"),
        ({"quotes": "some"}, "/quotes"),
        ({"messages_days": 3, "tool_results_days": 4}, "/tool_results_days"),
        ({"events_days": 30, "dispatches_days": 31}, "/dispatches_days"),
        ({"dispatches_days": 31, "dead_letters_days": 30}, "/dispatches_days"),
    ],
)
@pytest.mark.parametrize("query", ["", "?dry_run=true"])
def test_what_is_no_time_is_refused_with_its_place(
    door: Doors, sent: dict[str, object], pointer: str, query: str
) -> None:
    answer = door.ask("PUT", PATH + query, json=sent)
    assert answer.status_code == 422
    assert [fault["pointer"] for fault in answer.json()["errors"]] == [pointer]
    assert door.get(PATH).json()["retention"] == Retention().model_dump()


def test_only_an_admin_sets_it(door: Doors, settings: Settings) -> None:
    key = key_of(settings, TENANT, ("read", "write"))
    assert door.ask("PUT", PATH, key=key, json={}).status_code == 403


def test_a_session_has_a_time_of_its_own(door: Doors) -> None:
    door.post("/v1/events", [said("hello")])
    path = "/v1/sessions/s1/retention"
    assert door.get("/v1/sessions/s1").json()["keep_days"] is None
    assert door.ask("PUT", path, json={"keep_days": 0}).json()["keep_days"] == 0
    assert door.get("/v1/sessions/s1").json()["keep_days"] == 0
    assert door.ask("PUT", path, json={"keep_days": None}).json()["keep_days"] is None
    assert door.ask("PUT", path, json={}).status_code == 422
    assert door.ask("PUT", path, json={"keep_days": -1}).status_code == 422
    assert door.ask("PUT", "/v1/sessions/none/retention", json={"keep_days": 1}).status_code == 404
