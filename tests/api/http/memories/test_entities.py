"""People under several names, over HTTP."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from core.types import Json
from tests.doors import Doors
from tests.samples import accept, ended, said
from tests.works import Works


@pytest.fixture
def family(app: Database, works: Works) -> None:
    accept(
        app,
        said("My sister Nora moved to Lyon.", speaker="Ada"),
        said("Nora's husband Tom plays the cello.", speaker="Ada"),
        said("My boss is Graham Miller and he lives in Bern.", speaker="Ada"),
        ended(),
    )
    works.settle()


def names(entity: Json) -> tuple[str, set[str], set[tuple[str, str | None]]]:
    return (
        entity["name"],
        {known["name"] for known in entity["names"]},
        {(known["role"], known["of"]) for known in entity["roles"]},
    )


@pytest.mark.usefixtures("family")
def test_people_are_listed_with_all_their_names(door: Doors) -> None:
    listed = door.get("/v1/entities", params={"user_id": "ada"}).json()
    assert [names(entity) for entity in sorted(listed["items"], key=lambda entity: entity["name"])] == [
        ("Graham Miller", {"Graham Miller"}, {("boss", None)}),
        ("Nora", {"Nora"}, {("sister", None)}),
        ("Tom", {"Tom"}, {("husband", "Nora")}),
    ]
    found = door.get("/v1/entities", params={"user_id": "ada", "q": "bos"}).json()["items"]
    assert [entity["name"] for entity in found] == ["Graham Miller"]
    assert door.get("/v1/entities", params={"user_id": "bob"}).json() == {"items": [], "next": None}


@pytest.mark.usefixtures("family")
def test_a_page_shows_all_about_one_of_them(door: Doors) -> None:
    page = door.get("/v1/entities/about", params={"user_id": "ada", "name": "my sister"}).json()
    assert page["entity"]["name"] == "Nora"
    assert page["items"]
    assert all("Nora" in memory["content"] or "sister" in memory["content"] for memory in page["items"])
    following = door.get("/v1/entities/about", params={"user_id": "ada", "name": "Nora", "limit": 1}).json()["next"]
    assert following
    assert door.get("/v1/entities/about", params={"user_id": "ada", "name": "Nora", "after": following}).is_success


@pytest.mark.parametrize("after", ["x", "2026-01-01T00:00:00Z,x", ","])
@pytest.mark.usefixtures("family")
def test_a_cursor_that_is_none_is_refused(door: Doors, after: str) -> None:
    answer = door.get("/v1/entities/about", params={"user_id": "ada", "name": "Nora", "after": after})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "/after")


@pytest.mark.usefixtures("family")
def test_names_are_merged_separated_shown_and_taken_back(door: Doors) -> None:
    whose = {"user_id": "ada"}
    merged = door.post("/v1/entities/merge", {**whose, "names": ["Graham Miller", "Bear", "our neighbour"]}).json()
    assert names(merged) == ("Graham Miller", {"Graham Miller", "Bear"}, {("boss", None), ("neighbour", None)})
    shown = door.post("/v1/entities/show", {**whose, "name": "my boss", "shown_name": "Bear"}).json()
    assert shown["name"] == "Bear"
    apart = door.post("/v1/entities/separate", {**whose, "name": "our neighbour", "others": ["Graham Miller"]}).json()
    assert names(apart) == ("my neighbour", set(), {("neighbour", None)})
    decided = door.get("/v1/entities/decisions", params=whose).json()["items"]
    assert {(one["name"], one["other"], one["same"]) for one in decided} == {
        ("Bear", "Graham Miller", True),
        ("my neighbour", "Graham Miller", False),
        ("my boss", "Bear", True)
        if ("my boss", "Bear", True) in {(one["name"], one["other"], one["same"]) for one in decided}
        else ("Bear", "my boss", True),
        ("Bear", None, True),
    }
    gone = door.ask("delete", "/v1/entities/decisions", params={**whose, "name": "Bear"})
    assert gone.status_code == 204
    listed = door.get("/v1/entities", params=whose).json()["items"]
    assert "Graham Miller" in {entity["name"] for entity in listed}
    again = door.ask("delete", "/v1/entities/decisions", params={**whose, "name": "Bear"})
    assert again.status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("merge", {"names": ["Nora"]}, "/names"),
        ("merge", {"names": ["Nora", " "]}, "/names/1"),
        ("merge", {"names": ["Nora", "Nora"]}, "/names/1"),
        ("separate", {"name": " ", "others": ["Nora"]}, "/name"),
        ("separate", {"name": "Tom", "others": ["Nora", " "]}, "/others/1"),
        ("show", {"name": "Nora", "shown_name": " "}, "/shown_name"),
        ("separate", {"name": "Nora", "others": []}, "/others"),
        ("show", {"name": "Nora", "shown_name": "my sister"}, "/shown_name"),
    ],
)
def test_a_decision_that_says_nothing_is_refused_with_its_place(
    door: Doors, path: str, body: Json, pointer: str
) -> None:
    answer = door.post(f"/v1/entities/{path}", {"user_id": "ada", **body})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


def test_nobody_is_not_known(door: Doors) -> None:
    assert door.get("/v1/entities/about", params={"user_id": "ada", "name": "Nobody"}).status_code == 404
    blank = door.get("/v1/entities/about", params={"user_id": "ada", "name": "/"})
    assert (blank.status_code, blank.json()["errors"][0]["pointer"]) == (422, "/name")
    assert door.post("/v1/entities/show", {"user_id": "ada", "name": "X", "shown_name": "Y"}).status_code == 404
