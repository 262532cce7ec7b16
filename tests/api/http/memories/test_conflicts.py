"""Memories that deny each other, and what a person decides about them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from httpx import Response

from core.config import Settings
from core.memory.changes import Add
from core.storage.db import Database
from core.types import Json
from tests.api.http.disputes import listed
from tests.core.consolidation.disputes import NOW, dispute, dogs, state
from tests.doors import OTHER, Doors, key_of
from tests.factories import a_memory, carry_out, memory_row
from tests.samples import TENANT
from tests.works import Works


def resolve(door: Doors, memory: Add, choice: str, **fields: Any) -> Response:
    return door.post(f"/v1/conflicts/{memory.id}/resolve", {"choice": choice, **fields})


def test_a_conflict_shows_both_sides_with_what_they_rest_on_and_why(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    (one,) = listed(door)
    assert [side["memory"]["content"] for side in one["sides"]] == ["Ada has no dog.", "Ada has a dog."]
    assert all(side["cited"] for side in one["sides"])
    (said,) = one["contradictions"]
    assert (said["from_id"], said["to_id"], said["reason"]) == (str(new.id), str(old.id), "one denies the other")
    assert door.get(f"/v1/conflicts/{old.id}").json() == one
    assert door.get("/v1/conflicts", tenant=OTHER).json() == {"items": [], "next": None}
    assert door.get(f"/v1/conflicts/{old.id}", tenant=OTHER).status_code == 404


def test_memories_that_deny_each_other_through_others_are_one_conflict(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    third = a_memory("Ada has three dogs.")
    carry_out(app, third)
    dispute(app, (third, old))
    (one,) = listed(door)
    assert {side["memory"]["id"] for side in one["sides"]} == {str(add.id) for add in (old, new, third)}
    assert len(one["contradictions"]) == 2


def test_the_one_that_is_kept_is_confirmed_and_the_other_gives_way(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    answer = resolve(door, new, "keep", keep=str(old.id), reason="She said so.")
    assert answer.status_code == 200, answer.text
    assert state(app, old, new) == [("active", "confirmed"), ("superseded", "disputed")]
    assert listed(door) == []
    types = [e["event_type"] for e in door.get("/v1/events", params={"type": "memory.superseded"}).json()["items"]]
    assert types == ["memory.superseded"]
    assert door.post(answer.json()["undo"]).is_success
    assert state(app, old, new) == [("active", "disputed")] * 2
    assert len(listed(door)) == 1


def test_what_was_denied_by_the_loser_alone_has_its_earlier_trust_again(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    third = a_memory("Ada has three dogs.")
    carry_out(app, third)
    dispute(app, (third, old))
    assert resolve(door, old, "keep", keep=str(new.id)).is_success
    assert state(app, new, old, third) == [
        ("active", "confirmed"),
        ("superseded", "disputed"),
        ("active", "candidate"),
    ]


def test_all_may_hold_at_different_times(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    end = (NOW + timedelta(days=1)).isoformat()
    answer = resolve(door, old, "keep_all", periods={str(old.id): {"valid_to": end}})
    assert answer.status_code == 200, answer.text
    assert state(app, old, new) == [("active", "confirmed")] * 2
    assert memory_row(app, old.id).valid_to == datetime.fromisoformat(end)
    assert listed(door) == []
    door.post(answer.json()["undo"])
    assert len(listed(door)[0]["sides"]) == 2
    assert memory_row(app, old.id).valid_to is None


def test_both_may_be_merged_into_an_edited_text(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    words = "Ada had a dog until the summer."
    answer = resolve(door, old, "merge", keep=str(new.id), content=words)
    assert answer.status_code == 200, answer.text
    assert state(app, new, old) == [("active", "confirmed"), ("archived", "disputed")]
    assert memory_row(app, new.id).content == words
    found = door.post("/v1/search", {"query": "dog until the summer", "user_id": "ada"}).json()["results"]
    assert words in [one["content"] for one in found]
    door.post(answer.json()["undo"])
    assert state(app, new, old) == [("active", "disputed")] * 2
    assert memory_row(app, new.id).content == "Ada has no dog."


def test_none_of_them_may_be_true(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    assert resolve(door, old, "reject").is_success
    assert {trust for _, trust in state(app, old, new)} == {"rejected"}
    assert listed(door) == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"choice": "keep"}, "/keep"),
        ({"choice": "merge"}, "/keep"),
        ({"choice": "reject", "keep": "01990000-0000-7000-8000-000000000000"}, "/keep"),
        ({"choice": "keep", "keep": "01990000-0000-7000-8000-000000000000"}, "/keep"),
        ({"choice": "reject", "content": "x"}, "/content"),
        ({"choice": "reject", "periods": {"01990000-0000-7000-8000-000000000000": {}}}, "/periods"),
        (
            {"choice": "keep_all", "periods": {"01990000-0000-7000-8000-000000000000": {}}},
            "/periods/01990000-0000-7000-8000-000000000000",
        ),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_with_its_place(
    door: Doors, app: Database, body: Json, pointer: str
) -> None:
    old, new = dogs(app)
    answer = door.post(f"/v1/conflicts/{old.id}/resolve", body)
    assert answer.status_code == 422, answer.text
    assert [one["pointer"] for one in answer.json()["errors"]] == [pointer]
    assert state(app, old, new) == [("active", "disputed")] * 2


def test_a_decision_about_another_version_than_was_seen_is_refused(door: Doors, app: Database) -> None:
    old, new = dogs(app)
    seen = {str(old.id): 1, str(new.id): 2}
    assert resolve(door, old, "reject", versions=seen).status_code == 409
    assert resolve(door, old, "reject", versions={str(old.id): 2}).status_code == 409
    assert resolve(door, old, "reject", versions={str(old.id): 2, str(new.id): 2}).is_success
    assert resolve(door, old, "reject").status_code == 404


def test_what_waited_to_decide_it_is_cancelled(door: Doors, app: Database, works: Works) -> None:
    rule = door.get("/v1/rules/resolve_conflicts")
    if rule.status_code == 404:
        action = {"action_type": "run_agent", "target": "conflict_resolver"}
        body = {"name": "resolve", "event_type": "memory.conflicted", "actions": [action], "action_mode": "approve"}
        assert door.post("/v1/rules", body).is_success
    old, new = dogs(app)
    works.settle()
    (held,) = listed(door)[0]["held"]
    effect = door.get(f"/v1/dispatches/{held}/effect").json()
    assert (effect["kind"], effect["effect"]["kept"]) == ("ruling", str(new.id))
    assert resolve(door, new, "keep", keep=str(old.id)).json()["cancelled"] == [held]
    assert door.get(f"/v1/dispatches/{held}").json()["status"] == "cancelled"
    assert door.get(f"/v1/dispatches/{held}/effect").json()["effect"] is None


def test_a_key_that_only_reads_decides_nothing(settings: Settings, door: Doors, app: Database) -> None:
    old, new = dogs(app)
    key = key_of(settings, TENANT, ("read",))
    assert door.get("/v1/conflicts", key=key).is_success
    assert door.post(f"/v1/conflicts/{old.id}/resolve", {"choice": "reject"}, key=key).status_code == 403
    assert state(app, old, new) == [("active", "disputed")] * 2


def test_pages_go_from_conflict_to_conflict(door: Doors, app: Database) -> None:
    dogs(app)
    cat, none = a_memory("Ada has a cat."), a_memory("Ada has no cat.")
    carry_out(app, cat, none)
    dispute(app, (none, cat))
    first = door.get("/v1/conflicts", params={"limit": 1}).json()
    rest = door.get("/v1/conflicts", params={"limit": 5, "after": first["next"]}).json()
    assert len(first["items"]) == len(rest["items"]) == 1
    assert rest["next"] is None
