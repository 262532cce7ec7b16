from __future__ import annotations

from core.storage.db import Database
from tests.api.http.writes import of_type, patch, post, spoil
from tests.doors import Doors


def test_an_edit_is_a_version_by_a_person_and_is_found_by_its_new_words(door: Doors, app: Database) -> None:
    memory = post(door, structured={"pet": {"kind": "cat", "age": 3}}, valid_to="2030-01-01T00:00:00Z")["memory"]
    spoil(app, memory["id"], trust="candidate")
    edited = patch(
        door,
        memory["id"],
        content="Ada has an iguana.",
        structured={"pet": {"kind": "iguana", "age": None}},
        valid_to=None,
        reason="she said so",
    )
    assert (edited["content"], edited["structured"]["pet"]) == ("Ada has an iguana.", {"kind": "iguana"})
    assert (edited["valid_to"], edited["trust"], edited["version"]) == (None, "confirmed", 2)
    step = door.get(f"/v1/memories/{memory['id']}/history").json()["items"][-1]
    assert (step["change"], step["reason"], step["author"]["name"][:4]) == ("edit", "she said so", "key:")
    asked = {"user_id": "ada", "query": "iguana", "include": ["memories"], "method": "vector"}
    (found,) = door.post("/v1/search", asked).json()["results"]
    assert found["scores"]["vector"] > 0.4
    assert of_type(app, "memory.updated")[-1]["change"] == "edit"
