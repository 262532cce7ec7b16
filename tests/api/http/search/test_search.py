"""`POST /v1/search`: recipes, pages, groups, filters and what explains them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from core.config import Settings
from core.context import retrievers
from core.context.retrievers import RetrievedText, RetrieverQuery
from core.memory.changes import Add, Link, Owner
from core.search.recipes import RECIPES
from core.storage.db import Database
from core.types import Json, Relation
from tests.core.summaries.conversations import HIKE, talk, wrote
from tests.doors import OTHER, Doors, opened
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, accept_all, said
from tests.works import Works

TEA = {"user_id": "ada", "query": "green tea"}


def found(door: Doors, **asked: Any) -> Json:
    answer = door.post("/v1/search", {**TEA, **asked})
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


def refused(door: Doors, tenant: str = TENANT, **asked: Any) -> dict[str, str]:
    """What is wrong with a question, by its place."""
    answer = door.post("/v1/search", {**TEA, **asked}, tenant=tenant)
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    return {one["pointer"]: one["detail"] for one in answer.json()["errors"]}


def ids(answer: Json) -> list[tuple[str, str]]:
    """What tells each result from all others."""
    return [(one["type"], str(one["sources"][0].get("session_id")) + str(one["id"])) for one in answer["results"]]


@pytest.fixture
def talks(app: Database) -> None:
    """Forty messages in four sessions, many alike, none of them indexed yet."""
    drinks = ("green tea", "black tea", "coffee", "water", "green tea")
    accept_all(
        app,
        [
            said(f"I drink {drinks[n % 5]} in the morning.", session=f"s{n % 4}", message_id=f"m{n}", id=f"e{n}")
            for n in range(40)
        ],
    )


@pytest.fixture
def learnt(app: Database, talks: None) -> list[Add]:
    """Memories beside the messages, three of them in one statement's words."""
    adds = [a_memory(f"Ada drinks green tea, cup {n}.") for n in range(5)]
    carry_out(app, *adds)
    return adds


def pages(door: Doors, limit: int, **asked: Any) -> Iterator[Json]:
    after: dict[str, str] = {}
    while True:
        page = found(door, limit=limit, **after, **asked)
        yield page
        if page["next"] is None:
            return
        after = {"after": page["next"]}


# Recipes


def test_recipes_are_listed_with_what_they_mean(door: Doors) -> None:
    listed = door.get("/v1/search/recipes").json()
    assert listed["next"] is None
    assert [one["name"] for one in listed["items"]] == list(RECIPES)
    assert all(one["meaning"] and one["limit"] for one in listed["items"])


def test_a_recipe_decides_what_the_request_leaves_open(door: Doors, learnt: list[Add]) -> None:
    assert len(found(door)["results"]) == 10
    assert len(found(door, recipe="broad")["results"]) == 30
    assert {one["type"] for one in found(door, recipe="profile")["results"]} == {"memory"}
    assert "depth" in found(door, recipe="chat")
    assert "depth" not in found(door)


def test_what_the_request_says_itself_stands_above_its_recipe(door: Doors, learnt: list[Add]) -> None:
    assert len(found(door, recipe="broad", limit=3)["results"]) == 3
    assert len(found(door, recipe="chat", adaptive=False, limit=20)["results"]) == 20
    assert {one["type"] for one in found(door, recipe="profile", include=["messages"])["results"]} == {"message"}
    assert found(door, recipe="precise", include=["messages"], min_similarity=0.2)["results"] == [], (
        "without a vector yet"
    )
    assert 1 <= len(found(door, recipe="precise", include=["messages"])["results"]) <= 5


def test_the_default_recipe_changes_nothing(door: Doors, learnt: list[Add]) -> None:
    plain, named = found(door), found(door, recipe="default")
    assert {**plain, "took_ms": 0} == {**named, "took_ms": 0} | {"next": plain["next"]}


# Groups


def test_results_by_session_stand_beside_the_list_as_it_is(door: Doors, learnt: list[Add]) -> None:
    answer = found(door, limit=9, group_by="session", per_group=2, include=["messages"])
    sessions = [one["sources"][0]["session_id"] for one in answer["results"]]
    assert max(Counter(sessions).values()) == 2
    assert len(answer["results"]) == 8, "four sessions, two of each"
    places = [place for group in answer["groups"] for place in group["results"]]
    assert sorted(places) == list(range(8))
    for group in answer["groups"]:
        first, *_ = group["results"]
        assert {sessions[place] for place in group["results"]} == {group["session_id"]}
        assert group["score"] == answer["results"][first]["score"]
    assert [group["score"] for group in answer["groups"]] == sorted(
        (group["score"] for group in answer["groups"]), reverse=True
    )
    assert "groups" not in found(door)


def test_the_ranking_by_session_is_the_ranking_less_what_comes_too_often(door: Doors, learnt: list[Add]) -> None:
    whole = found(door, limit=200)
    grouped = found(door, limit=200, group_by="session", per_group=3)
    seen: Counter[str | None] = Counter()
    expected = []
    for one, key in zip(whole["results"], ids(whole), strict=True):
        session = one["sources"][0]["session_id"]
        seen[session] += 1
        if seen[session] <= 3:
            expected.append(key)
    assert ids(grouped) == expected
    assert 12 <= len(expected) < len(whole["results"])


def test_what_belongs_to_no_session_is_a_group_of_its_own_and_complete(door: Doors) -> None:
    for n in range(4):
        content = f"Green tea, leaf {n}. It is served at {n}."
        assert door.post("/v1/documents", {"content": content, "user_id": "ada"}).is_success
    answer = found(door, group_by="session", per_group=1)
    assert [group["session_id"] for group in answer["groups"]] == [None]
    assert len(answer["results"]) == 4


def test_pages_of_sessions_hold_each_session_no_more_often_than_one_page_would(door: Doors, learnt: list[Add]) -> None:
    whole = ids(found(door, limit=200, group_by="session", per_group=3))
    assert [key for page in pages(door, 5, group_by="session", per_group=3) for key in ids(page)] == whole


# Filters


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"user_id": None}, "/user_id"),
        ({"recipe": "magic"}, "/recipe"),
        ({"limit": 201}, "/limit"),
        ({"after": "x"}, "/after"),
        ({"after": ""}, "/after"),
        ({"after": "A" * 5000}, "/after"),
        ({"group_by": "user"}, "/group_by"),
        ({"per_group": 2}, "/per_group"),
        ({"per_group": 0, "group_by": "session"}, "/per_group"),
        ({"include": []}, "/include"),
        ({"include": ["messages"], "kinds": ["semantic"]}, "/kinds"),
        ({"include": ["documents"], "categories": ["fact"]}, "/categories"),
        ({"include": ["messages"], "topics": ["work"]}, "/topics"),
        ({"include": ["messages"], "tags": ["x"]}, "/tags"),
        ({"include": ["messages"], "min_importance": 0.5}, "/min_importance"),
        ({"include": ["messages"], "trust": ["confirmed"]}, "/trust"),
        ({"include": ["documents"], "session_id": "s1"}, "/session_id"),
        ({"uri_prefix": "a"}, "/uri_prefix"),
        ({"include": ["documents"], "uri_prefix": ""}, "/uri_prefix"),
        ({"time": {"from": "2026-02-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}}, "/time/from"),
        ({"method": "keyword", "min_similarity": 0.5}, "/min_similarity"),
        ({"min_similarity": 1.5}, "/min_similarity"),
    ],
)
def test_what_does_not_fit_together_is_refused_with_its_place(door: Doors, asked: Json, pointer: str) -> None:
    problems = refused(door, **asked)
    assert list(problems) == [pointer]
    assert problems[pointer]


def test_everything_that_does_not_fit_is_told_at_once(door: Doors) -> None:
    wrong = refused(door, include=["documents"], kinds=["semantic"], tags=["x"], session_id="s1", per_group=2)
    assert set(wrong) == {"/kinds", "/tags", "/session_id", "/per_group"}


# Pages


@pytest.mark.parametrize(
    "recipe", [name for name, one in RECIPES.items() if not one.formula and name not in {"precise", "chat"}]
)
@pytest.mark.parametrize("method", ["hybrid", "keyword"])
def test_page_by_page_everything_comes_once_in_the_order_of_one_page(
    door: Doors, learnt: list[Add], recipe: str, method: str
) -> None:
    asked = {"recipe": recipe, "method": method, "include": ["memories", "messages"]}
    whole = found(door, limit=200, **asked)
    count = {"hybrid": 45, "keyword": 29}[method]  # by words, only what has one of them
    assert (len(whole["results"]), whole["next"]) == (count, None)
    for size in (7, count):
        apiece = list(pages(door, size, **asked))
        assert [key for page in apiece for key in ids(page)] == ids(whole)
        assert {page["total"] for page in apiece} == {whole["total"]}
        assert len(apiece) == -(-count // size)


def test_pages_may_differ_in_size_and_in_what_they_explain(door: Doors, learnt: list[Add]) -> None:
    whole = ids(found(door, limit=20))
    first = found(door, limit=3)
    second = found(door, limit=10, after=first["next"], explain=True)
    third = found(door, limit=7, after=second["next"], adaptive=False)
    assert [*ids(first), *ids(second), *ids(third)] == whole


def test_documents_stand_in_the_same_pages(door: Doors, learnt: list[Add]) -> None:
    content = "\n\n".join(f"# Leaf {n}\n\nGreen tea is served at {n}." for n in range(9))
    assert door.post("/v1/documents", {"content": content, "user_id": "ada"}).is_success
    whole = found(door, limit=200)["results"]
    assert Counter(one["type"] for one in whole) == {"message": 40, "memory": 5, "document": 9}
    apiece = [one["id"] for page in pages(door, 6) for one in page["results"]]
    assert apiece == [one["id"] for one in whole]


@pytest.mark.parametrize(
    "other",
    [
        {"query": "black tea"},
        {"user_id": "bob"},
        {"group_id": "g"},
        {"method": "keyword"},
        {"recipe": "recent"},
        {"include": ["messages"]},
        {"kinds": ["semantic"]},
        {"session_id": "s1"},
        {"time": {"from": "2020-01-01T00:00:00Z"}},
        {"min_similarity": -1},
        {"trust": ["confirmed"]},
        {"as_of": "2999-01-01T00:00:00Z"},
        {"now": "2999-01-01T00:00:00Z"},
        {"group_by": "session"},
    ],
)
def test_a_cursor_goes_on_with_its_own_question_alone(door: Doors, learnt: list[Add], other: Json) -> None:
    after = found(door, limit=3)["next"]
    wrong = refused(door, after=after, **other)
    assert list(wrong) == ["/after"]
    assert "another question" in wrong["/after"]


def test_a_cursor_of_another_tenant_is_refused(door: Doors, learnt: list[Add]) -> None:
    assert list(refused(door, tenant=OTHER, after=found(door, limit=3)["next"])) == ["/after"]


def test_the_order_of_a_filter_makes_no_other_question(door: Doors, learnt: list[Add]) -> None:
    first = found(door, limit=3, categories=["fact", "event"], include=["memories", "messages"])
    second = found(door, after=first["next"], categories=["event", "fact"], include=["messages", "memories"])
    assert set(ids(first)).isdisjoint(ids(second))


def test_what_was_now_for_the_first_page_is_now_for_all(door: Doors, learnt: list[Add]) -> None:
    first = found(door, limit=3, recipe="recent", explain=True)
    second = found(door, limit=3, recipe="recent", explain=True, after=first["next"])
    assert first["explain"]["now"] == second["explain"]["now"]
    asked = "2026-01-01T00:00:00Z"
    assert found(door, now=asked, explain=True)["explain"]["now"] == asked


def test_where_the_last_result_was_erased_the_next_page_goes_on_behind_it(door: Doors, learnt: list[Add]) -> None:
    asked = {"include": ["memories"], "method": "keyword"}
    whole = ids(found(door, limit=200, **asked))
    first = found(door, limit=2, **asked)
    assert door.ask("DELETE", f"/v1/memories/{first['results'][-1]['id']}").is_success
    rest = ids(found(door, limit=200, after=first["next"], **asked))
    assert set(rest).isdisjoint(ids(first))
    assert set(rest) <= set(whole)


def test_an_empty_answer_has_no_next_page(door: Doors) -> None:
    answer = found(door, user_id="nobody")
    assert (answer["results"], answer["total"], answer["next"]) == ([], 0, None)


# Explain


def test_explain_says_what_was_looked_at_and_through_which_filters(door: Doors, learnt: list[Add]) -> None:
    asked = {"recipe": "broad", "limit": 4, "session_id": "s1", "time": {"from": "2020-01-01T00:00:00Z"}}
    said = found(door, explain=True, **asked)["explain"]
    assert (said["recipe"]["name"], said["recipe"]["limit"], said["recipe"]["diversity"]) == ("broad", 4, 0.3)
    assert said["method"] == "hybrid"
    assert said["filters"]["session_id"] == "s1"
    assert said["filters"]["time"] == {"from": "2020-01-01T00:00:00Z"}
    assert said["filters"]["trust"] == ["candidate", "confirmed", "disputed"]
    assert said["filters"]["include"] == ["documents", "memories", "messages"]
    assert "kinds" not in said["filters"]
    assert said["considered"]["message"] == 10
    assert "explain" not in found(door)


def test_considered_adds_up_to_the_total(door: Doors, learnt: list[Add]) -> None:
    answer = found(door, explain=True, limit=1)
    assert answer["explain"]["considered"] == {"memory": 5, "message": 40, "document": 0}
    assert answer["total"] == 45


def test_explain_says_each_arms_score_and_place_and_what_added_up(door: Doors, learnt: list[Add], works: Works) -> None:
    works.settle(flush=False)
    answer = found(door, explain=True, limit=200, include=["messages"])
    scores = [one["scores"] for one in answer["results"]]
    for arm in ("lexical", "vector"):
        best = max(one[arm] for one in scores if one[arm] is not None)
        assert {one[arm] for one in scores if one["ranks"].get(arm) == 1} == {best}
        assert all(1 <= one["ranks"][arm] <= 40 for one in scores if arm in one["ranks"])
    for one in answer["results"]:
        assert sum(one["scores"]["parts"].values()) == pytest.approx(one["score"], abs=1e-6)
    assert not {"parts", "ranks"} & set(found(door)["results"][0]["scores"])


# Association


def test_what_is_tied_to_the_best_result_rises(door: Doors, app: Database) -> None:
    tea, tied, loose = (
        a_memory(content) for content in ("Ada drinks green tea.", "Ada keeps a kettle.", "Ada keeps a piano.")
    )
    carry_out(app, tea, tied, loose)
    carry_out(app, Link(tied.id, Relation.REFINES, tea.id))
    plain = {one["id"]: one["score"] for one in found(door)["results"]}
    raised = {one["id"]: one["score"] for one in found(door, recipe="associative")["results"]}
    assert raised[str(tied.id)] > plain[str(tied.id)]
    assert raised[str(loose.id)] == pytest.approx(plain[str(loose.id)])
    assert [one["id"] for one in found(door, recipe="associative")["results"]][:2] == [str(tea.id), str(tied.id)]


@pytest.mark.parametrize("recipe", ["even_blend", "recent_blend"])
def test_a_blend_ranks_memories_alone_and_by_vectors(door: Doors, learnt: list[Add], recipe: str) -> None:
    asked = {"user_id": "ada", "query": "tea", "recipe": recipe}
    answer = door.post("/v1/search", {**asked, "explain": True}).json()
    assert {one["type"] for one in answer["results"]} == {"memory"}
    assert answer["results"][0]["scores"]["parts"].keys() == {"similarity", "decay", "importance"}
    assert answer["explain"]["recipe"]["formula"] == recipe
    first = door.post("/v1/search", {**asked, "limit": 2}).json()
    then = door.post("/v1/search", {**asked, "limit": 50, "after": first["next"]}).json()
    whole = door.post("/v1/search", {**asked, "limit": 50}).json()
    assert [one["id"] for one in first["results"] + then["results"]] == [one["id"] for one in whole["results"]]
    assert door.post("/v1/search", {**asked, "include": ["memories"]}).status_code == 200
    for wrong, pointer in (({"include": ["memories", "messages"]}, "/include"), ({"method": "keyword"}, "/method")):
        refused = door.post("/v1/search", {**asked, **wrong})
        assert (refused.status_code, [e["pointer"] for e in refused.json()["errors"]]) == (422, [pointer])


def test_a_unit_is_found_with_its_facts_and_its_session(door: Doors, app: Database) -> None:
    accept_all(app, talk([*HIKE, "I moved to Lisbon yesterday."]))
    wrote(app)
    asked = {"user_id": "ada", "query": "the hike on the mountain trail", "include": ["units"]}
    answer = door.post("/v1/search", {**asked, "explain": True, "group_by": "session"}).json()
    (one,) = answer["results"]
    assert (one["type"], one["category"], one["trust"]) == ("unit", None, None)
    assert one["content"] == door.get(f"/v1/units/{one['id']}").json()["summary"]
    assert any("Lisbon" in fact["text"] for fact in one["facts"])
    assert (one["sources"][0]["session_id"], one["sources"][0]["from_position"]) == ("s1", 1)
    assert (answer["groups"][0]["session_id"], answer["explain"]["considered"]["unit"]) == ("s1", 1)
    assert set(one["scores"]["parts"]) == {"lexical", "vector"}


def shared(app: Database) -> None:
    """What two users said, in private and in two groups."""
    for user in ("ada", "bob"):
        for group in (None, "team", "club"):
            adds = [a_memory(f"{user} drinks green tea, {group} cup {n}.", subject=user) for n in range(3)]
            carry_out(app, *adds, owner=Owner(user, group))


def test_results_are_grouped_by_the_group_they_were_said_in(door: Doors, app: Database) -> None:
    shared(app)
    answer = found(door, group_by="group", per_group=2, limit=50)
    said_in = {one["group_id"]: len(one["results"]) for one in answer["groups"]}
    assert said_in == {"team": 2, "club": 2, None: 3}
    places = sorted(place for one in answer["groups"] for place in one["results"])
    assert places == list(range(len(answer["results"])))
    first = found(door, group_by="group", per_group=2, limit=3)
    rest = found(door, group_by="group", per_group=2, limit=50, after=first["next"])
    assert ids(first) + ids(rest) == ids(answer)


def test_several_users_are_searched_at_once_each_as_alone(door: Doors, app: Database) -> None:
    shared(app)
    alone = {
        user: {one["id"]: one["score"] for one in found(door, user_id=user, limit=50)["results"]}
        for user in ("ada", "bob")
    }
    asked = {"user_id": None, "user_ids": ["ada", "bob"]}
    both = found(door, limit=50, **asked)
    assert {one["id"]: one["score"] for one in both["results"]} == alone["ada"] | alone["bob"]
    assert all(one["id"] in alone[one["user_id"]] for one in both["results"])
    scores = [one["score"] for one in both["results"]]
    assert (scores, both["total"]) == (sorted(scores, reverse=True), 18)
    paged, after = [], None
    while len(paged) < 50:
        page = found(door, limit=4, after=after, **asked)
        paged += ids(page)
        if (after := page["next"]) is None:
            break
    assert paged == ids(both)
    assert found(door, user_id=None, user_ids=["bob", "eve"], limit=50)["total"] == 9
    assert found(door, group_by="group", per_group=1, limit=50, **asked)["groups"]


def test_a_document_of_the_tenant_is_found_once_for_several_users(door: Doors, app: Database) -> None:
    made = door.post("/v1/documents", {"content": "Green tea is brewed at 80 degrees.", "title": "Tea"})
    assert made.status_code in {200, 201}, made.text
    answer = found(door, user_id=None, user_ids=["ada", "bob"])
    assert [one["type"] for one in answer["results"]] == ["document"]


def test_what_several_users_cannot_be_combined_with_is_refused(door: Doors) -> None:
    assert set(refused(door, user_ids=["bob"])) == {"/user_id"}
    assert set(refused(door, user_id=None, user_ids=["bob"], group_id="g")) == {"/group_id"}
    assert set(refused(door, user_id=None, user_ids=["bob", "eve", "bob"])) == {"/user_ids/2"}
    assert set(refused(door, user_id=None, user_ids=[f"u{n}" for n in range(11)])) == {"/user_ids"}
    assert found(door, user_id=None, user_ids=["ada"], limit=1)["results"] == []


def test_users_of_another_tenant_are_not_found(door: Doors, app: Database) -> None:
    shared(app)
    answer = door.post("/v1/search", {"query": "green tea", "user_ids": ["ada", "bob"]}, tenant=OTHER).json()
    assert (answer["results"], answer["total"]) == ([], 0)


class Wiki:
    def retrieve(self, question: RetrieverQuery) -> list[RetrievedText]:
        return [RetrievedText(f"{question.user_id} asked: {question.query}", "wiki/1", 0.5)]


def test_installed_retrievers_answer_beside_the_results(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrievers, "open_all", lambda _settings: {"wiki": Wiki()})
    carry_out(app, a_memory("Ada likes tea."))
    with opened(settings) as door:
        found = door.post("/v1/search", {"user_id": "ada", "query": "tea"}).json()
        shown = {"type": "outside", "retriever": "wiki", "source": "wiki/1", "content": "ada asked: tea", "score": 0.5}
        assert (found["outside"], len(found["results"])) == ([shown], 1)
        alone = {"user_id": "ada", "query": "tea", "include": ["memories"]}
        assert "outside" not in door.post("/v1/search", alone).json()
        named = door.post("/v1/search", {**alone, "include": ["memories", "outside"]}).json()
        assert named["outside"] == [shown]
        group = {"user_id": "ada", "group_id": "g", "audience": "group", "query": "tea"}
        assert door.post("/v1/search", group).json()["outside"][0]["content"] == "None asked: tea"


def test_without_a_retriever_nothing_is_said_of_them(door: Doors) -> None:
    assert "outside" not in door.post("/v1/search", {"user_id": "ada", "query": "tea"}).json()


# Fields


@pytest.fixture
def projects(door: Doors, app: Database) -> None:
    """Two messages with metadata, one without, and two memories with something structured."""
    accept_all(
        app,
        [
            said(
                "Green tea for the atlas team.", message_id="a", metadata={"project": "atlas", "by": {"tier": "gold"}}
            ),
            said("Green tea for the borealis team.", message_id="b", metadata={"project": "borealis"}),
            said("Green tea for nobody.", message_id="c"),
        ],
    )
    for cups in (3, 4):
        body = {
            "user_id": "ada",
            "content": f"Ada had {cups} cups of green tea.",
            "structured": {"day": {"cups": cups}},
        }
        assert door.post("/v1/memories", body).is_success


def texts(answer: Json) -> set[str]:
    return {one["content"] for one in answer["results"]}


def test_a_search_is_narrowed_by_fields_of_metadata_and_of_structured(door: Doors, projects: None) -> None:
    assert texts(found(door, metadata={"project": "atlas"})) == {"Green tea for the atlas team."}
    assert texts(found(door, metadata={"by.tier": ["gold", "silver"]})) == {"Green tea for the atlas team."}
    assert len(texts(found(door, metadata={"project": ["atlas", "borealis"]}))) == 2
    assert texts(found(door, structured={"day.cups": 4})) == {"Ada had 4 cups of green tea."}
    assert texts(found(door, structured={"day.cups": 4}, metadata={"project": "atlas"})) == set()
    explained = found(door, metadata={"project": "atlas"}, explain=True)["explain"]
    assert explained["filters"]["metadata"] == {"project": "atlas"}


def test_a_document_is_found_by_its_metadata(door: Doors) -> None:
    for shop in ("north", "south"):
        content = {"content": f"Green tea of the {shop} shop.", "user_id": "ada", "metadata": {"shop": shop}}
        assert door.post("/v1/documents", content).is_success
    answer = found(door, metadata={"shop": "north"}, include=["documents"])
    assert [one["content"] for one in answer["results"]] == ["Green tea of the north shop."]
    assert found(door, structured={"shop": "north"})["results"] == []


def test_the_filter_that_leaves_a_message_out_is_named(door: Doors, works: Works, projects: None) -> None:
    works.settle(flush=False)
    asked = {**TEA, "id": "b", "in_session": "s1", "metadata": {"project": "atlas"}}
    answer = door.post("/v1/search/why", asked).json()
    assert (answer["verdict"], answer["filters"]) == ("filtered", ["metadata"])


def test_pages_of_a_narrowed_search_continue(door: Doors, projects: None) -> None:
    asked: Json = {"metadata": {"project": ["atlas", "borealis"]}}
    assert len([one for page in pages(door, 1, **asked) for one in page["results"]]) == 2


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"metadata": {}}, "/metadata"),
        ({"metadata": {"a.b.c": 1}}, "/metadata"),
        ({"metadata": {"a": []}}, "/metadata"),
        ({"metadata": {"a": "\0"}}, "/metadata"),
        ({"metadata": {"a": "x" * 6_000}}, "/metadata"),
        ({"metadata": "atlas"}, "/metadata"),
        ({"structured": {f"f{n}": 1 for n in range(11)}}, "/structured"),
        ({"structured": {"a": 1}, "include": ["messages"]}, "/structured"),
        ({"metadata": {"a": 1}, "include": ["units"]}, "/include"),
    ],
)
def test_a_filter_by_fields_is_bounded(door: Doors, asked: Json, pointer: str) -> None:
    assert list(refused(door, **asked)) == [pointer]
