"""The agent ends an import once: restored, with what follows from it, or broken, with its places."""

from __future__ import annotations

from uuid import uuid4

import pytest

from core.storage.db import Database
from core.transfer import imports
from core.types import Json
from tests.core.transfer.rich import a_past, archive_of, changed, lines, made
from tests.doors import Doors
from tests.samples import TENANT, event
from tests.works import Works
from workers.agents import restoring

ASKED = {"user_id": "ada", "dry_run": False}


def asked(door: Doors, archive: bytes) -> str:
    answer = door.ask("POST", "/v1/import", params=ASKED, content=archive)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_it_works_in_turns_and_ends_with_one_event(
    door: Doors, app: Database, works: Works, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "TURN_SECONDS", 0)
    archive = made(a_past("s1", 600, 5))
    job = asked(door, archive)
    works.settle()
    done = door.get("/v1/dispatches", params={"target": "archive_restorer", "status": "done"}).json()["items"]
    assert len(done) > 4, "sessions, messages twice, memories, relations, the end"
    told = door.get("/v1/events", params={"type": "import.completed"}).json()["items"]
    assert [one["payload"]["import_id"] for one in told] == [job]
    found, sent = lines(archive_of(app)), lines(archive)
    assert {name: found[name] for name in sent} == sent


def test_a_profile_that_stood_is_built_anew(door: Doors, works: Works) -> None:
    door.post("/v1/memories", {"user_id": "ada", "content": "Ada lives in Porto.", "attribute": "home.city",
                               "value": "Porto"})  # fmt: skip
    works.settle()
    before = door.get("/v1/users/ada/profile").json()["version"]

    def like(found: dict[str, list[Json]]) -> None:
        for where in (found["memories"][0], found["memories"][0]["versions"][0]["snapshot"]):
            where |= {"attribute": "pet.name", "value": "Bo", "content": "Ada's dog is called Bo."}

    asked(door, changed(made(a_past("s1", 3, 1)), like))
    works.settle()
    profile = door.get("/v1/users/ada/profile").json()
    assert profile["version"] > before
    assert {"home.city", "pet.name"} <= profile["attributes"]["slots"].keys()


def test_without_a_name_it_is_set_aside_and_of_one_that_is_gone_nothing_happens(
    door: Doors, app: Database, works: Works
) -> None:
    rule = {"name": "odd", "event_type": "odd", "actions": [{"action_type": "run_agent", "target": "archive_restorer"}]}
    assert door.post("/v1/rules", rule).status_code in {200, 201}
    for payload in ({}, {"import_id": str(uuid4())}):
        door.post("/v1/events", event("odd", payload))
    works.settle()
    dead = door.get("/v1/dispatches", params={"status": "dead"}).json()["items"]
    assert ["needs an id in `import_id`" in one["error"] for one in dead] == [True]
    with app.tenant(TENANT) as tx:
        assert imports.find(tx, None) == []
