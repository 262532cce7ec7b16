"""Bounds of lists and searches."""

from __future__ import annotations

from uuid import UUID

import pytest

from api.compat import finding
from core.errors import NotFound
from tests.doors import Doors


def test_an_id_that_is_none_is_not_found() -> None:
    assert finding.id_of(str(UUID(int=1))) == UUID(int=1)
    with pytest.raises(NotFound):
        finding.id_of("x" * 1_000)


def test_a_list_reads_a_bounded_number_of_memories(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "AT_ONCE", 2)
    for n, drink in enumerate(("tea", "coffee", "milk", "juice", "beer")):
        words = f"Ada bought {n + 3} bottles of {drink}."
        assert door.post("/v1/memories", {"user_id": "ada", "content": words}).status_code == 201
    address = "/compat/mem0/v1/memories/"
    assert len(door.get(address, params={"user_id": "ada"}).json()) == 5
    monkeypatch.setattr(finding, "SCANNED", 3)
    found = door.get(address, params={"user_id": "ada"}).json()
    assert [one["memory"].split()[-1] for one in found] == ["beer.", "juice.", "milk."]


def test_a_search_for_anyone_is_bounded_to_the_users_with_news(door: Doors, monkeypatch: pytest.MonkeyPatch) -> None:
    for user in ("ada", "bob", "eve"):
        stated = {"user_id": user, "content": "Green tea is good."}
        assert door.post("/v1/memories", stated).status_code == 201
    asked = {"query": "tea", "filters": {"user_id": "*"}}
    address = "/compat/mem0/v3/memories/search/"
    assert len(door.post(address, asked).json()["results"]) == 3
    monkeypatch.setattr(finding, "OWNERS", 2)
    assert {one["user_id"] for one in door.post(address, asked).json()["results"]} == {"bob", "eve"}


def test_a_demanded_value_of_metadata_is_found_behind_better_results(
    door: Doors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finding, "NARROWED", 2)
    monkeypatch.setattr(finding, "SCANNED", 2)
    for n, trip in enumerate(("asia", "peru", "iran", "iran", "iran")):
        stated = {"messages": f"Green tea, glass {n + 7}, was good.", "user_id": "ada", "infer": False}
        assert door.post("/compat/mem0/v3/memories/add/", {**stated, "metadata": {"trip": trip}}).is_success
    filters = {"AND": [{"user_id": "ada"}, {"metadata": {"trip": {"in": ["asia"]}}}]}
    asked = {"query": "green tea glass 11", "filters": filters, "top_k": 1}
    (best,) = door.post("/compat/mem0/v3/memories/search/", asked).json()["results"]
    assert best["metadata"] == {"trip": "asia"}
    listed = door.post("/compat/mem0/v2/memories/", {"filters": filters}).json()
    assert [one["metadata"] for one in listed] == [{"trip": "asia"}]
