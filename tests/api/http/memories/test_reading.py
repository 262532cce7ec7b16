from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.consolidation.echo import Served
from core.memory.changes import Archive, Edit, Owner
from core.search.recall_log import Asker, Recall, announcements_of
from core.storage.db import Database
from core.types import Category, Evidence, Json, Kind, Topic, Trust
from tests.doors import OTHER, Doors, key_of, opened
from tests.factories import a_memory, carry_out, events_since, expire, memory_row
from tests.patience import PATIENCE_SECONDS
from tests.samples import TENANT, accept, said
from tests.works import at_work


@pytest.fixture
def cat(app: Database) -> UUID:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    return add.id


def listed(door: Doors, **asked: Any) -> list[str]:
    return [item["id"] for item in door.get("/v1/memories", params={"user_id": "ada", **asked}).json()["items"]]


def found(door: Doors, **asked: Any) -> list[Json]:
    answer = door.post("/v1/search", {"user_id": "ada", "query": "cat", "include": ["memories"], **asked})
    results: list[Json] = answer.json()["results"]
    return results


def recalled(app: Database) -> list[Json]:
    with app.tenant(TENANT) as tx:
        return [e.payload for e in events_since(tx, 0, 100) if e.event_type == "memory.recalled"]


def test_a_pinned_memory_does_not_fade_until_it_is_unpinned(door: Doors, cat: UUID) -> None:
    assert door.get(f"/v1/memories/{cat}").json()["fade_at"] is not None
    pinned = door.post(f"/v1/memories/{cat}/pin", {"pinned": True, "reason": "dear to her"}).json()
    assert (pinned["pinned"], pinned["fade_at"], pinned["version"]) == (True, None, 2)
    assert door.post(f"/v1/memories/{cat}/pin").json()["version"] == 2
    unpinned = door.post(f"/v1/memories/{cat}/pin", {"pinned": False}).json()
    assert (unpinned["pinned"], unpinned["version"]) == (False, 3)
    history = door.get(f"/v1/memories/{cat}/history").json()["items"]
    assert [step["change"] for step in history] == ["add", "pin", "unpin"]
    assert history[1]["reason"] == "dear to her"
    assert history[1]["author"]["name"].startswith("key:")
    assert door.get(f"/v1/memories/{cat}/why").status_code == 200


def test_what_is_archived_is_found_when_asked_for_and_comes_back(door: Doors, app: Database, cat: UUID) -> None:
    carry_out(app, Archive(cat, 1, "too old"))
    assert (listed(door), found(door)) == ([], [])
    assert listed(door, include_archived=True) == listed(door, status="archived") == [str(cat)]
    assert [(one["id"], one["status"]) for one in found(door, include_archived=True)] == [(str(cat), "archived")]
    assert door.post(f"/v1/memories/{cat}/restore", {"reason": "missed"}).json()["status"] == "active"
    assert door.post(f"/v1/memories/{cat}/restore").json()["version"] == 3
    assert listed(door) == [str(cat)]


def test_what_has_expired_is_listed_only_with_the_archived(door: Doors, app: Database, cat: UUID) -> None:
    expire(app, cat, datetime.now(UTC) - timedelta(seconds=1))
    assert (listed(door), found(door)) == ([], [])
    assert listed(door, include_archived=True) == [str(cat)]
    assert len(found(door, include_archived=True)) == 1


@pytest.mark.parametrize("act", ["pin", "restore"])
def test_who_has_looked_at_another_version_is_refused(door: Doors, app: Database, cat: UUID, act: str) -> None:
    assert door.post(f"/v1/memories/{cat}/{act}", {"version": 7}).status_code == 409
    assert memory_row(app, cat).version == 1


@pytest.mark.parametrize("act", ["pin", "restore"])
def test_what_is_not_there_or_makes_no_sense_is_refused(door: Doors, settings: Settings, cat: UUID, act: str) -> None:
    assert door.post(f"/v1/memories/{uuid4()}/{act}").status_code == 404
    assert door.post(f"/v1/memories/{cat}/{act}", {"pind": True}).status_code == 422
    reader = key_of(settings, TENANT, ("read",))
    assert door.post(f"/v1/memories/{cat}/{act}", key=reader).status_code == 403


def test_an_unknown_status_is_refused(door: Doors) -> None:
    assert door.get("/v1/memories", params={"status": "lost"}).status_code == 422


def test_a_search_announces_what_it_handed_out_and_each_counts_once(
    settings: Settings, app: Database, cat: UUID
) -> None:
    with opened(settings) as door:
        assert [one["id"] for _ in range(10) for one in found(door)] == [str(cat)] * 10
        end = time.monotonic() + PATIENCE_SECONDS
        while not recalled(app) and time.monotonic() < end:
            time.sleep(0.05)
    said = recalled(app)
    assert {(one["user_id"], *one["memory_ids"]) for one in said} == {("ada", str(cat))}
    assert sum(one["searches"] for one in said) == 10
    with at_work(settings) as works:
        works.settle()
    assert memory_row(app, cat).uses == 1
    assert recalled(app) == said


def test_a_search_that_hands_out_no_memory_announces_nothing(settings: Settings, app: Database, cat: UUID) -> None:
    with opened(settings) as door:
        door.post("/v1/search", {"user_id": "nobody", "query": "cat"})
    assert recalled(app) == []


def test_announcing_can_be_switched_off(settings: Settings, app: Database, cat: UUID) -> None:
    with opened(settings.model_copy(update={"announce_recalls": False})) as door:
        assert len(found(door)) == 1
    assert recalled(app) == []


def test_searches_of_one_user_become_one_event() -> None:
    ada, bob = Asker("acme", "ada", None), Asker("acme", "bob", "g")
    one, two, three, four = (Served("x", UUID(int=n)) for n in range(1, 5))
    taken = [(ada, [one, two, Served("a message")]), (bob, [three]), (ada, [two, four]), (bob, [Served("a message")])]
    said = announcements_of([Recall(asker, served, announced=True) for asker, served in taken])
    assert [event.payload for event in said] == [
        {"user_id": "ada", "memory_ids": [str(one.memory_id), str(two.memory_id), str(four.memory_id)], "searches": 2},
        {"user_id": "bob", "group_id": "g", "memory_ids": [str(three.memory_id)], "searches": 1},
    ]


def test_an_explained_result_says_what_the_formula_makes_of_it(settings: Settings, cat: UUID) -> None:
    with opened(settings.model_copy(update={"strength_formula": "even_blend"})) as door:
        (one,) = found(door, explain=True)
    assert one["scores"]["relevance"] == pytest.approx(0.6 * one["scores"]["vector"] + one["strength"])


def test_strength_in_the_answer_falls_with_time(door: Doors, app: Database, cat: UUID) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET recorded_at = recorded_at - interval '180 days'"))
    assert door.get(f"/v1/memories/{cat}").json()["strength"] == pytest.approx(0.25, abs=1e-3)


def listing(door: Doors, **asked: Any) -> list[str]:
    answer = door.get("/v1/memories", params=asked)
    assert answer.status_code == 200, answer.text
    return [item["content"] for item in answer.json()["items"]]


@pytest.fixture
def several(app: Database) -> None:
    """Memories of two users that differ in all that a list can be asked for."""
    cat = a_memory("Ada has a Cat.", tags=("pets", "home"), importance=0.9, pinned=True)
    trip = a_memory("Ada went to Rome.", category=Category.EVENT, kind=Kind.EPISODIC, topic=Topic.LOCATION)
    city = a_memory("Bo lives in Oslo.", subject="bo", attribute="home.city", value="Oslo", importance=0.1)
    odd = a_memory("Ignore Ada.", trust=Trust.QUARANTINED)
    lie = a_memory("Ada has a dragon.", trust=Trust.REJECTED)
    said_ = Evidence("s9", "m1", "e1", "x")
    bob = a_memory("Bob has a boat.", subject="bob", evidence=(said_,))
    carry_out(app, cat, trip, city, odd, lie)
    carry_out(app, bob, owner=Owner("bob", "crew"))


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, ["Bob has a boat.", "Bo lives in Oslo.", "Ada went to Rome.", "Ada has a Cat."]),
        ({"user_id": "bob"}, ["Bob has a boat."]),
        ({"group_id": "crew"}, ["Bob has a boat."]),
        ({"session_id": "s9"}, ["Bob has a boat."]),
        ({"kind": "episodic"}, ["Ada went to Rome."]),
        ({"category": "event", "user_id": "ada"}, ["Ada went to Rome."]),
        ({"topic": "location"}, ["Ada went to Rome."]),
        ({"tag": "home"}, ["Ada has a Cat."]),
        ({"tag": "hom"}, []),
        ({"pinned": True}, ["Ada has a Cat."]),
        ({"subject": "bo"}, ["Bo lives in Oslo."]),
        ({"attribute": "home.city", "user_id": "ada"}, ["Bo lives in Oslo."]),
        ({"trust": "quarantined"}, ["Ignore Ada."]),
        ({"trust": "rejected"}, ["Ada has a dragon."]),
        ({"trust": "confirmed"}, []),
        ({"q": "cAT", "user_id": "ada"}, ["Ada has a Cat."]),
        ({"q": "%", "user_id": "ada"}, []),
        ({"status": "archived"}, []),
        ({"order": "oldest", "limit": 2}, ["Ada has a Cat.", "Ada went to Rome."]),
        ({"order": "importance", "limit": 1}, ["Ada has a Cat."]),
        ({"session_id": "s9", "message_id": "m1"}, ["Bob has a boat."]),
        ({"session_id": "s9", "message_id": "m2"}, []),
        ({"min_importance": 0.9}, ["Ada has a Cat."]),
        ({"min_strength": 0.8}, ["Ada has a Cat."]),
        ({"order": "strength", "limit": 1}, ["Ada has a Cat."]),
        ({"order": "uses", "limit": 1}, ["Bob has a boat."]),
        ({"as_of": "2020-01-01T00:00:00Z"}, []),
        ({"known_at": "2020-01-01T00:00:00Z"}, []),
    ],
)
def test_a_list_holds_what_fits(door: Doors, asked: Json, expected: list[str]) -> None:
    assert listing(door, **asked) == expected
    if "known_at" not in asked:
        assert listing(door, known_at="2999-01-01T00:00:00Z", **asked) == expected


@pytest.mark.usefixtures("several")
@pytest.mark.parametrize("order", ["newest", "oldest", "importance", "updated", "strength", "uses", "reward", "value"])
@pytest.mark.parametrize("then", [{}, {"known_at": "2999-01-01T00:00:00Z"}])
def test_pages_follow_each_other_in_every_order(door: Doors, order: str, then: Json) -> None:
    asked = {"order": order, **then}
    every = [one["id"] for one in door.get("/v1/memories", params=asked).json()["items"]]
    paged: list[str] = []
    after: Json = {}
    while len(paged) < 10:
        page = door.get("/v1/memories", params={**asked, **after, "limit": 1}).json()
        paged += [one["id"] for one in page["items"]]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    assert paged == every
    assert len(every) == 4


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"status": "lost"}, "/status"),
        ({"trust": "odd"}, "/trust"),
        ({"kind": "odd"}, "/kind"),
        ({"order": "odd"}, "/order"),
        ({"limit": 501}, "/limit"),
        ({"after": "x"}, "/after"),
        ({"after": str(UUID(int=1)), "order": "importance"}, "/after"),
        ({"after": f"{UUID(int=1)},x", "order": "updated"}, "/after"),
        ({"q": "cat"}, "/q"),
        ({"message_id": "m1"}, "/message_id"),
        ({"min_importance": 2}, "/min_importance"),
        ({"min_strength": -1}, "/min_strength"),
        ({"episode_type": "odd"}, "/episode_type"),
        ({"q": "c" * 201, "user_id": "ada"}, "/q"),
        ({"user_id": "a\x00"}, "/user_id"),
        ({"as_of": "yesterday"}, "/as_of"),
        ({"known_at": "2026-01-01T00:00:00"}, "/known_at"),
        ({"users": "ada"}, "/users"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_with_its_place(door: Doors, wrong: Json, pointer: str) -> None:
    refused = door.get("/v1/memories", params=wrong)
    assert (refused.status_code, [one["pointer"] for one in refused.json()["errors"]]) == (422, [pointer])


def test_a_memory_is_shown_as_it_was(door: Doors, app: Database, cat: UUID) -> None:
    before = datetime.now(UTC)
    carry_out(app, Edit(cat, 1, {"content": "Ada has an iguana."}, "no cat"))
    then = door.get(f"/v1/memories/{cat}", params={"known_at": before.isoformat()})
    assert (then.json()["content"], then.json()["version"], then.headers["etag"]) == ("Ada has a cat.", 1, '"1"')
    assert door.get(f"/v1/memories/{cat}").json()["content"] == "Ada has an iguana."
    long_ago = door.get(f"/v1/memories/{cat}", params={"known_at": "2020-01-01T00:00:00Z"})
    assert (long_ago.status_code, "not recorded yet" in long_ago.json()["detail"]) == (404, True)
    assert door.get(f"/v1/memories/{cat}", params={"as_of": "2020-01-01T00:00:00Z"}).status_code == 404
    assert [one["content"] for one in found(door, known_at=before.isoformat())] == ["Ada has a cat."]
    (kept,) = door.get("/v1/memories", params={"known_at": before.isoformat()}).json()["items"]
    assert kept["content"] == "Ada has a cat."


def test_a_list_as_of_a_time_holds_what_was_superseded_since(door: Doors, app: Database) -> None:
    told = [
        {"content": "Ada lives in Lisbon.", "occurred_at": "2026-01-01T00:00:00Z"},
        {"content": "Ada lives in Porto.", "occurred_at": "2026-07-01T00:00:00Z", "valid_from": "2026-05-01T00:00:00Z"},
    ]
    slot = {"user_id": "ada", "attribute": "home.city"}
    for one in told:
        answer = door.post("/v1/memories", {**slot, **one, "value": one["content"][13:-1]})
        assert answer.status_code == 201, answer.text
    for as_of, city in (("2026-04-01", "Lisbon"), ("2026-06-01", "Porto")):
        asked = {"user_id": "ada", "as_of": f"{as_of}T00:00:00Z"}
        assert listing(door, **asked) == [f"Ada lives in {city}."]
        results = door.post("/v1/search", {**asked, "query": "home", "include": ["memories"]}).json()["results"]
        assert [one["content"] for one in results] == [f"Ada lives in {city}."]
    assert listing(door, user_id="ada") == ["Ada lives in Porto."]


def test_what_is_wrong_with_a_search_is_said_with_its_place(door: Doors) -> None:
    wrong: list[tuple[Json, str]] = [
        ({"trust": ["rejected"]}, "/trust/0"),
        ({"as_of": "yesterday"}, "/as_of"),
        ({"known_at": 1e99}, "/known_at"),
        ({"query": "\x00"}, "/query"),
        ({"user_id": ""}, "/user_id"),
    ]
    for asked, pointer in wrong:
        refused = door.post("/v1/search", {"user_id": "ada", "query": "cat", **asked})
        assert (refused.status_code, [one["pointer"] for one in refused.json()["errors"]]) == (422, [pointer])


def test_a_search_shows_quarantined_memories_to_who_asks(door: Doors, app: Database) -> None:
    carry_out(app, a_memory("Obey the cat.", trust=Trust.QUARANTINED), a_memory("No cat.", trust=Trust.REJECTED))
    assert found(door) == []
    (one,) = found(door, trust=["quarantined"])
    assert (one["content"], one["trust"], one["status"], one["level"]) == ("Obey the cat.", "quarantined", "active", 0)


def test_episodes_are_listed_by_type_and_success_best_rewarded_first(door: Doors, app: Database) -> None:
    told = [
        ("task_completion", True, 0.2),
        ("task_completion", True, 0.9),
        ("error", False, 1.0),
        ("success", True, None),
    ]
    for n, (type_, success, reward) in enumerate(told):
        structured = {"type": type_, "success": success, "reward": reward}
        carry_out(app, a_memory(f"Talk {n}.", category=Category.EPISODE, kind=Kind.EPISODIC, structured=structured))
    carry_out(app, a_memory("No talk.", structured={"type": "error", "success": True, "reward": 9}))
    assert listing(door, episode_type="task_completion") == ["Talk 1.", "Talk 0."]
    assert listing(door, success=True, order="reward") == ["Talk 1.", "Talk 0.", "Talk 3."]
    assert listing(door, success=False) == ["Talk 2."]


def test_what_was_used_most_is_listed_first(door: Doors, app: Database) -> None:
    adds = [a_memory(f"Ada has {n} cats.") for n in range(3)]
    carry_out(app, *adds)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET uses = 7 WHERE id = :id"), {"id": adds[1].id})
    assert listing(door, order="uses", limit=1) == ["Ada has 1 cats."]


def test_several_memories_are_read_by_their_ids_in_the_order_asked_for(door: Doors, app: Database) -> None:
    one, two, old = a_memory("Ada has a cat."), a_memory("Ada has a dog."), a_memory("Ada had a rat.")
    carry_out(app, one, two, old)
    carry_out(app, Archive(old.id, 1, "too old"))
    nobody = str(uuid4())
    ids = [str(old.id), str(two.id), nobody, str(one.id), str(two.id)]
    answer = door.post("/v1/memories/fetch", {"ids": ids}).json()
    assert [item["id"] for item in answer["items"]] == [str(old.id), str(two.id), str(one.id)]
    assert [item["sources"][0]["quote"] for item in answer["items"]][-1] == "Ada has a cat."
    assert (answer["missing"], answer["next"]) == ([nobody], None)
    assert len(door.post("/v1/memories/fetch", {"ids": ids, "known_at": "2020-01-01T00:00:00Z"}).json()["missing"]) == 4
    assert len(door.post("/v1/memories/fetch", {"ids": ids, "as_of": "2020-01-01T00:00:00Z"}).json()["missing"]) == 4
    assert len(door.post("/v1/memories/fetch", {"ids": ids}, tenant=OTHER).json()["missing"]) == 4


@pytest.mark.parametrize(
    ("body", "pointer"),
    [({}, "/ids"), ({"ids": []}, "/ids"), ({"ids": ["x"]}, "/ids/0"), ({"ids": [str(UUID(int=1))] * 201}, "/ids")],
)
def test_ids_that_cannot_be_read_at_once_are_refused(door: Doors, body: Json, pointer: str) -> None:
    answer = door.post("/v1/memories/fetch", body)
    assert (answer.status_code, [e["pointer"] for e in answer.json()["errors"]]) == (422, [pointer])


@pytest.fixture
def three_times(door: Doors) -> None:
    for year, project in ((2026, "atlas"), (2017, "atlas"), (2021, "borealis")):
        body = {"user_id": "ada", "content": f"Ada climbed hill {year}.", "occurred_at": f"{year}-05-01T00:00:00Z"}
        assert door.post("/v1/memories", {**body, "structured": {"project": project, "n": year}}).is_success


def years(door: Doors, **asked: str) -> list[int]:
    answer = door.get("/v1/memories", params={"user_id": "ada", **asked})
    assert answer.is_success, answer.text
    return [item["structured"]["n"] for item in answer.json()["items"]]


@pytest.mark.usefixtures("three_times")
def test_a_list_is_in_the_order_of_saying_and_of_a_time(door: Doors) -> None:
    assert years(door) == [2021, 2017, 2026]
    assert years(door, order="said") == [2026, 2021, 2017]
    assert years(door, order="said", **{"from": "2020-01-01T00:00:00Z"}) == [2026, 2021]
    assert years(door, **{"from": "2017-05-01T00:00:00Z", "to": "2021-05-01T00:00:00Z"}) == [2017]
    first = door.get("/v1/memories", params={"user_id": "ada", "order": "said", "limit": 2}).json()
    assert years(door, order="said", after=first["next"]) == [2017]


@pytest.mark.usefixtures("three_times")
def test_a_list_is_filtered_by_what_is_structured(door: Doors) -> None:
    assert years(door, structured='{"project": "atlas"}') == [2017, 2026]
    assert years(door, structured='{"project": "atlas", "n": 2026}') == [2026]
    assert years(door, structured='{"project": "nowhere"}') == []
    assert years(door, structured='{"n": [2021, 2026]}') == [2021, 2026]


def test_a_list_is_filtered_by_the_metadata_of_what_its_memories_cite(door: Doors, app: Database) -> None:
    for name, shop in (("m1", "north"), ("m2", "south")):
        accept(app, said(f"I like the {shop} shop.", message_id=name, metadata={"shop": {"name": shop}}))
        cited = [{"session_id": "s1", "message_id": name}]
        body = {"user_id": "ada", "content": f"Ada likes the {shop} shop.", "evidence": cited}
        assert door.post("/v1/memories", body).is_success
    for wanted, count in (('{"shop.name": "north"}', 1), ('{"shop.name": ["north", "south"]}', 2), ('{"shop": 1}', 0)):
        answer = door.get("/v1/memories", params={"user_id": "ada", "metadata": wanted}).json()
        assert len(answer["items"]) == count, wanted


@pytest.mark.parametrize(
    ("asked", "pointer"),
    [
        ({"structured": "atlas"}, "/structured"),
        ({"structured": '["atlas"]'}, "/structured"),
        ({"metadata": '{"a.b.c": 1}'}, "/metadata"),
        ({"metadata": '{"a": NaN}'}, "/metadata"),
        ({"metadata": '{"a": "\\u0000"}'}, "/metadata"),
        ({"from": "2026-05-01T00:00:00"}, "/from"),
        ({"from": "2026-05-01T00:00:00Z", "to": "2026-05-01T00:00:00Z"}, "/to"),
    ],
)
def test_a_filter_that_is_none_is_refused_with_its_place(door: Doors, asked: dict[str, str], pointer: str) -> None:
    refused = door.get("/v1/memories", params={"user_id": "ada", **asked})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, pointer)
