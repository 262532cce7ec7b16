"""`POST /v1/search/why`, and the lists of the arms: why something is not among the results."""

from __future__ import annotations

from typing import Any
from unittest import mock
from uuid import uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.search import filters
from core.storage.db import Database
from core.types import Json
from tests.doors import OTHER, Doors, key_of
from tests.samples import TENANT, accept, said
from tests.works import Works

TEA = "Ada drinks green tea."


def stated(door: Doors, content: str, **more: Any) -> str:
    answer = door.post("/v1/memories", {"user_id": "ada", "content": content, **more})
    return str(answer.json()["memory"]["id"])


def why(door: Doors, name: str, query: str = "green tea", **more: Any) -> Json:
    answer = door.post("/v1/search/why", {"user_id": "ada", "query": query, "id": name, **more})
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def test_a_result_is_named_with_its_place_and_score(door: Doors) -> None:
    tea, cat = stated(door, TEA), stated(door, "Ada has a cat.")
    found = why(door, tea)
    [first, *_] = door.post("/v1/search", {"user_id": "ada", "query": "green tea", "explain": True}).json()["results"]
    assert (found["verdict"], found["rank"], found["found"]["id"]) == ("shown", 1, first["id"])
    assert (found["found"]["score"], found["found"]["parts"]) == (first["score"], first["scores"]["parts"])
    assert found["found"]["ranks"] == first["scores"]["ranks"]
    below = why(door, cat, limit=1)
    assert (below["verdict"], below["rank"], below["shown"], below["last"]["id"]) == ("below", 2, 1, tea)
    assert below["found"]["score"] <= below["last"]["score"]


def test_every_filter_that_leaves_it_out_is_named(door: Doors) -> None:
    tea = stated(door, TEA, tags=["drinks"], importance=0.2)
    left_out: dict[str, Json] = {
        "categories": {"categories": ["plan"]},
        "tags": {"tags": ["food"]},
        "min_importance": {"min_importance": 0.9},
        "time": {"time": {"to": "2020-01-01T00:00:00Z"}},
        "as_of": {"as_of": "2020-01-01T00:00:00Z"},
        "known_at": {"known_at": "2020-01-01T00:00:00Z"},
        "min_similarity": {"min_similarity": 1.0},
        "session_id": {"session_id": "elsewhere"},
        "include": {"include": ["messages"]},
    }
    for name, asked in left_out.items():
        query = "cello" if name == "min_similarity" else "green tea"
        found = why(door, tea, query, **asked)
        assert (found["verdict"], name in found["filters"]) == ("filtered", True), (name, found)
        assert tea not in [one["id"] for one in results(door, query, **asked)]
    several = why(door, tea, categories=["plan"], tags=["food"], topics=["work"])
    assert set(several["filters"]) == {"categories", "tags", "topics"}


def results(door: Doors, query: str, **more: Any) -> list[Json]:
    found: list[Json] = door.post("/v1/search", {"user_id": "ada", "query": query, **more}).json()["results"]
    return found


def test_what_is_not_served_is_told_by_its_state(door: Doors, app: Database) -> None:
    archived, apart, rejected = (stated(door, words) for words in (TEA, "Ada has a cat.", "Ada plays the cello."))
    door.post("/v1/memories/bulk", {"action": "archive", "ids": [archived]})
    door.ask("PATCH", f"/v1/memories/{apart}", json={"trust": "quarantined"})
    door.ask("PATCH", f"/v1/memories/{rejected}", json={"trust": "rejected"})
    assert [why(door, one)["verdict"] for one in (archived, apart, rejected)] == ["not_served"] * 3
    assert (why(door, archived)["filters"], why(door, apart)["filters"]) == (["status"], ["trust"])
    assert why(door, archived, include_archived=True)["verdict"] == "shown"
    assert door.ask("DELETE", f"/v1/memories/{archived}").is_success
    gone = door.post("/v1/search/why", {"user_id": "ada", "query": "tea", "id": archived})
    assert (gone.status_code, "receipts" in gone.json()["detail"]) == (404, True)


def test_what_belongs_to_another_user_or_reader_is_told_so(door: Doors, settings: Settings) -> None:
    tea = stated(door, TEA)
    secret = stated(door, "Ada earns a lot.", audience_labels=["finance"])
    assert why(door, tea, user_id="bob")["verdict"] == "owner"
    assert "finance" in why(door, secret)["reason"]
    assert why(door, secret, reader_labels=["finance"])["verdict"] == "shown"
    asked = {"user_id": "ada", "query": "tea", "id": tea}
    assert door.post("/v1/search/why", asked, tenant=OTHER).status_code == 404
    assert door.post("/v1/search/why", asked, key=key_of(settings, TENANT, ("publish",))).status_code == 403


def test_messages_are_found_by_their_session_indexed_or_not(door: Doors, app: Database, works: Works) -> None:
    accept(app, said("I love green tea.", message_id="m1"))
    fresh = why(door, "m1", in_session="s1")
    assert (fresh["verdict"], fresh["found"]["session_id"], fresh["found"]["vector"]) == ("shown", "s1", None)
    works.settle()
    indexed = why(door, "m1", in_session="s1", include=["messages"])
    assert (indexed["verdict"], indexed["found"]["vector"] is not None) == ("shown", True)
    for name, session in ((str(uuid4()), None), ("m1", None), ("m9", "s1"), ("m1", "s9")):
        asked = {"user_id": "ada", "query": "tea", "id": name, "in_session": session}
        assert door.post("/v1/search/why", asked).status_code == 404


def test_what_no_arm_picks_of_a_large_store_is_told(door: Doors) -> None:
    stated(door, TEA)
    cat = stated(door, "Ada has a cat.")
    with mock.patch.object(filters, "READ_ALL", 1), mock.patch.object(filters, "ARM_LIMIT", 1):
        assert why(door, cat, method="keyword")["verdict"] == "not_picked"


def test_a_memory_without_its_entry_is_not_indexed_yet(door: Doors, app: Database) -> None:
    tea = stated(door, TEA)
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index WHERE ref = :ref"), {"ref": tea})
    assert why(door, tea)["verdict"] == "not_indexed"


def test_a_recipe_that_thins_out_says_so(door: Doors) -> None:
    stated(door, TEA)
    other = stated(door, "Bob repairs bicycles on Sundays.")
    found = why(door, other, recipe="precise")
    assert (found["verdict"], found["rank"], "no answer" in found["reason"]) == ("unlikely", None, True)


def test_a_place_after_reranking_is_that_of_the_page(door: Doors) -> None:
    stated(door, "Ada's aunt drinks coffee.")
    tea = stated(door, TEA)
    asked = {"query": "Ada drinks green tea", "recipe": "precise"}
    assert next(one["id"] for one in results(door, **asked)) == tea
    assert (why(door, tea, **asked)["rank"], why(door, tea, **asked)["verdict"]) == (1, "shown")


def test_explain_lists_what_each_arm_found(door: Doors) -> None:
    tea, cat = stated(door, TEA), stated(door, "Ada has a cat.")
    answer = door.post("/v1/search", {"user_id": "ada", "query": "green tea", "explain": True, "limit": 1}).json()
    arms = answer["explain"]["arms"]
    assert [(one["rank"], one["id"]) for one in arms["lexical"]] == [(1, tea)]
    assert [one["id"] for one in arms["vector"]] == [tea, cat]
    assert arms["vector"][0]["score"] == pytest.approx(answer["results"][0]["scores"]["vector"], abs=1e-5)
    assert why(door, tea)["arms"]["lexical"] == arms["lexical"]
    plain = door.post("/v1/search", {"user_ids": ["ada", "bob"], "query": "tea", "explain": True}).json()
    assert plain["explain"]["arms"] == {}


@pytest.mark.parametrize(
    ("more", "pointer"),
    [
        ({"after": "x"}, "/after"),
        ({"group_by": "session"}, "/group_by"),
        ({"user_ids": ["bob"], "user_id": None}, "/user_ids"),
        ({"id": ""}, "/id"),
        ({"user_id": None}, "/user_id"),
        ({"ids": ["x"]}, "/ids"),
    ],
)
def test_a_question_about_pages_is_refused(door: Doors, more: Json, pointer: str) -> None:
    refused = door.post("/v1/search/why", {"user_id": "ada", "query": "tea", "id": str(uuid4()), **more})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
