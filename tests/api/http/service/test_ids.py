"""Ids by their last characters."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from core.tenancy import tenants
from tests.doors import OTHER, Doors
from tests.samples import TENANT


def ends(door: Doors, end: str, kind: str = "memory", **more: str) -> list[str]:
    answer = door.get("/v1/ids", params={"type": kind, "ends_with": end}, **more)
    assert answer.status_code == 200
    return [one["id"] for one in answer.json()["items"]]


def state(door: Doors, content: str, **more: object) -> str:
    said = door.post("/v1/memories", {"user_id": "ada", "content": content, **more})
    assert said.status_code == 201, said.text
    return str(said.json()["memory"]["id"])


def test_an_id_is_found_by_its_last_characters(door: Doors) -> None:
    one, other = state(door, "Ada lives in Turin."), state(door, "Ada has a dog named Bruno.")
    assert ends(door, one[-8:]) == [one]
    assert ends(door, other[-6:]) == [other]
    assert ends(door, one[-8:], "document") == []


@pytest.mark.parametrize("end", ["", "abc", "abcdefab0", "xyzw", "ABCD", "%%%%"])
def test_what_is_no_end_of_an_id_is_refused_with_its_form(door: Doors, end: str) -> None:
    answer = door.get("/v1/ids", params={"type": "memory", "ends_with": end})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/ends_with")


def test_another_tenants_ids_are_not_found(door: Doors) -> None:
    mine = state(door, "Ada lives in Turin.")
    assert ends(door, mine[-8:], tenant=OTHER) == []


def test_a_key_with_labels_finds_the_memories_that_it_reads_and_nothing_else(door: Doors, app: Database) -> None:
    shown = state(door, "Ada lives in Turin.", audience_labels=["team"])
    hidden = state(door, "Ada earns 4,000 euros.", audience_labels=["payroll"])
    with app.tenant(TENANT) as tx:
        key = tenants.create_key(tx, TENANT, ("read",), labels=["team"])[1]
    assert ends(door, shown[-8:], key=key) == [shown]
    assert ends(door, hidden[-8:], key=key) == []
    assert door.get("/v1/ids", params={"type": "dispatch", "ends_with": "abcd"}, key=key).status_code == 403
