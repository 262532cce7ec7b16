"""The flat routes of mem0's own server."""

from __future__ import annotations

from tests.doors import Doors
from tests.works import Works

ROOT = "/compat/mem0/oss"
FIELDS = {
    *("id", "memory", "hash", "user_id", "agent_id", "run_id", "actor_id", "role", "metadata"),
    *("created_at", "updated_at", "expiration_date"),
}


def test_a_memory_is_added_found_changed_and_deleted(door: Doors) -> None:
    asked = {"messages": [{"role": "user", "content": "Ada likes tea."}], "user_id": "ada", "infer": False}
    (added,) = door.post(f"{ROOT}/memories", asked | {"metadata": {"a": 1}}).json()["results"]
    (listed,) = door.get(f"{ROOT}/memories", params={"user_id": "ada"}).json()["results"]
    assert listed.keys() == FIELDS
    assert (listed["id"], listed["metadata"]) == (added["id"], {"a": 1})
    (found,) = door.post(f"{ROOT}/search", {"query": "tea", "user_id": "ada"}).json()["results"]
    assert found.keys() == {*FIELDS, "score"}
    address = f"{ROOT}/memories/{added['id']}"
    assert door.ask("PUT", address, json={"data": "Ada likes milk."}).status_code == 200
    assert door.get(address).json()["memory"] == "Ada likes milk."
    assert [one["event"] for one in door.get(f"{address}/history").json()] == ["ADD", "UPDATE"]
    assert door.ask("DELETE", address).status_code == 200
    assert door.get(address).status_code == 404


def test_messages_are_learned_from_in_the_background(door: Doors, works: Works) -> None:
    asked = {"messages": [{"role": "user", "content": "I am allergic to peanuts."}], "user_id": "ada"}
    answer = door.post(f"{ROOT}/memories", asked).json()
    assert (answer["results"], answer["status"]) == ([], "PENDING")
    works.settle(flush=False)
    assert "peanuts" in door.get(f"{ROOT}/memories", params={"user_id": "ada"}).text
    assert door.ask("DELETE", f"{ROOT}/memories", params={"user_id": "ada"}).status_code == 200
    assert door.get(f"{ROOT}/memories", params={"user_id": "ada"}).json() == {"results": []}


def test_a_search_returns_the_fields_that_are_asked_for(door: Doors) -> None:
    asked = {"messages": [{"role": "user", "content": "Ada likes tea."}], "user_id": "ada", "infer": False}
    door.post(f"{ROOT}/memories", asked)
    (found,) = door.post(f"{ROOT}/search", {"query": "tea", "user_id": "ada", "fields": ["metadata"]}).json()["results"]
    assert found.keys() == {"id", "memory", "metadata", "hash", "actor_id", "role", "score"}
