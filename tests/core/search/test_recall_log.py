from __future__ import annotations

import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event as hooks
from sqlalchemy import text

from core.config import Settings
from core.consolidation import echo
from core.consolidation.echo import Served
from core.erasure import user as user_erasure
from core.events.doorbell import Doorbell, broker_url
from core.memory.changes import Owner
from core.search import recall_log
from core.search.recall_log import LONGEST, SPACED_SECONDS, Asker, Recall, RecallSpacing, Recorded, announcements_of
from core.storage.db import Database
from core.tenancy import retention
from core.tenancy.retention import Retention
from tests.doors import OTHER, key_of, opened
from tests.factories import PERSON, a_memory, carry_out
from tests.faults.model import serving
from tests.patience import wait_until
from tests.samples import TENANT, accept, ended, event, said
from tests.works import at_work

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


def rows(app: Database, statement: str, tenant: str = TENANT) -> list[Any]:
    with app.tenant(tenant) as tx:
        return list(tx.execute(text(statement)))


def servings(app: Database, tenant: str = TENANT) -> list[Any]:
    return rows(app, "SELECT user_id, hash, memory_id FROM servings ORDER BY user_id, hash", tenant)


@pytest.fixture
def cat(app: Database) -> UUID:
    add = a_memory("Ada has a cat.")
    carry_out(app, add)
    return add.id


@pytest.mark.parametrize("announced", [True, False])
def test_what_a_search_hands_out_is_written_down_announced_or_not(
    settings: Settings, app: Database, cat: UUID, announced: bool
) -> None:
    accept(app, said("My cat likes tuna. She sleeps on the warm radiator."))
    with opened(settings.model_copy(update={"announce_recalls": announced})) as door:
        found = door.post("/v1/search", {"user_id": "ada", "query": "cat"}).json()["results"]
    assert {one["type"] for one in found} == {"memory", "message"}
    kept = {row.hash: row.memory_id for row in servings(app)}
    assert kept[echo.digest("Ada has a cat.")] == cat
    assert kept[echo.digest("She sleeps on the warm radiator.")] is None
    assert [row.user_id for row in servings(app)] == ["ada"] * len(kept)
    told = rows(app, "SELECT 1 FROM events WHERE event_type = 'memory.recalled'")
    assert len(told) == announced


def test_a_search_of_a_group_alone_is_nobodys_and_a_search_of_both_is_the_users(
    settings: Settings, app: Database, cat: UUID
) -> None:
    accept(app, said("Our group meets on Mondays.", group_id="g", user="bob"))
    with opened(settings) as door:
        assert door.post("/v1/search", {"group_id": "g", "query": "Mondays"}).json()["results"]
    assert servings(app) == []
    with opened(settings) as door:
        door.post("/v1/search", {"group_id": "g", "user_id": "cy", "query": "Mondays"})
    assert {row.user_id for row in servings(app)} == {"cy"}


def test_tenants_keep_what_they_were_handed_out_apart(settings: Settings, app: Database, cat: UUID) -> None:
    key_of(settings, OTHER)
    accept(app, said("I have a dog called Rex."), tenant=OTHER)
    with opened(settings) as door:
        for tenant in (TENANT, OTHER):
            door.post("/v1/search", {"user_id": "ada", "query": "cat or dog"}, tenant=tenant)
    assert {row.hash for row in servings(app)}.isdisjoint(row.hash for row in servings(app, OTHER))
    assert servings(app, OTHER)


def test_nobody_waits_for_it_to_be_written(settings: Settings, app: Database, cat: UUID) -> None:
    with opened(settings) as door:
        door.post("/v1/search", {"user_id": "ada", "query": "cat"})
        with app.tenant(TENANT) as tx:
            tx.execute(text("LOCK TABLE servings IN ACCESS EXCLUSIVE MODE"))
            began = time.monotonic()
            for _ in range(3):
                assert door.post("/v1/search", {"user_id": "ada", "query": "cat"}).json()["results"]
            assert time.monotonic() - began < 5
    assert servings(app)


def test_many_searches_are_one_write(
    settings: Settings, app: Database, cat: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_log, "GATHER_SECONDS", 3600)
    asked: list[str] = []

    def note(_c: Any, _u: Any, statement: str, *_: Any) -> None:
        asked.append(statement)

    with opened(settings) as door:
        engine = door.client.app.state.deps.db.engine  # type: ignore[attr-defined]
        hooks.listen(engine, "before_cursor_execute", note)
        for _ in range(12):
            assert door.post("/v1/search", {"user_id": "ada", "query": "cat"}).json()["results"]
        written = [one for one in asked if "INSERT" in one or "UPDATE" in one]
        assert [one for one in written if "api_keys" not in one] == [], "reading writes nothing but the use of a key"
    assert sum("INSERT INTO servings" in one for one in asked) == 1
    (told,) = rows(app, "SELECT payload FROM events WHERE event_type = 'memory.recalled'")
    queries = [{"query": "cat", "memory_ids": [str(cat)]}]
    assert told.payload == {"user_id": "ada", "memory_ids": [str(cat)], "searches": 12, "queries": queries}


def test_what_is_handed_out_again_at_once_is_not_touched_again(app: Database, cat: UUID) -> None:
    def stored() -> list[Any]:
        return rows(app, "SELECT hash, ctid, xmax, memory_id, at FROM servings ORDER BY hash")

    def handed_out(seconds: float, memory: UUID | None = None) -> list[Any]:
        served = [Served("She sleeps on the warm radiator.", memory)]
        with app.tenant(TENANT) as tx:
            echo.note(tx, TENANT, "ada", served, NOW + timedelta(seconds=seconds))
        return stored()

    first = handed_out(0)
    assert [row.xmax for row in first] == ["0"]
    assert handed_out(echo.AGAIN_SECONDS - 1) == first, "not even locked"
    named = handed_out(1, cat)
    assert [row.memory_id for row in named] == [cat]
    assert handed_out(2, cat) == named
    (later,) = handed_out(echo.AGAIN_SECONDS + 3)
    assert (later.at, later.memory_id) == (NOW + timedelta(seconds=echo.AGAIN_SECONDS + 3), cat)


def test_of_what_is_erased_before_it_is_announced_nobody_hears(
    settings: Settings, app: Database, cat: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    dog = a_memory("Ada has a dog.")
    carry_out(app, dog)
    monkeypatch.setattr(recall_log, "GATHER_SECONDS", 3600)
    with opened(settings) as door:
        found = door.post("/v1/search", {"user_id": "ada", "query": "Ada has", "include": ["memories"]}).json()
        assert {one["id"] for one in found["results"]} == {str(cat), str(dog.id)}
        assert door.ask("DELETE", f"/v1/memories/{cat}").is_success
    (told,) = rows(app, "SELECT payload FROM events WHERE event_type = 'memory.recalled'")
    assert told.payload["memory_ids"] == [str(dog.id)]


ADA, BOB = Asker(TENANT, "ada", None), Asker(TENANT, "bob", None)


def a_recall(*ids: int, asker: Asker = ADA, announced: bool = True) -> Recall:
    return Recall(asker, [Served("x" * 1000, UUID(int=one)) for one in ids], announced)


def numbers(due: list[Recall]) -> list[tuple[set[int], int]]:
    return [({one.memory_id.int for one in recall.served if one.memory_id}, recall.searches) for recall in due]


def test_the_same_memories_are_announced_once_a_minute_with_all_that_asked_for_them() -> None:
    spacing = RecallSpacing()
    assert numbers(spacing.due([a_recall(1, 2), a_recall(2, 3)], 0)) == [({1, 2, 3}, 2)]
    for second in range(1, 60):
        assert spacing.due([a_recall(1), a_recall(3)], second) == []
    assert numbers(spacing.due([], SPACED_SECONDS)) == [({1, 3}, 118)]
    assert spacing.due([], SPACED_SECONDS * 9, ending=True) == []


def test_a_memory_that_was_not_announced_lately_does_not_wait_and_takes_the_others_along() -> None:
    spacing = RecallSpacing()
    spacing.due([a_recall(1)], 0)
    assert spacing.due([a_recall(1)], 1) == []
    assert numbers(spacing.due([a_recall(2)], 2)) == [({1, 2}, 2)]
    assert spacing.due([a_recall(1), a_recall(2)], SPACED_SECONDS + 1) == [], "both were announced a minute later"


def test_askers_are_announced_each_for_themselves_and_what_is_held_is_said_at_the_end() -> None:
    spacing = RecallSpacing()
    assert len(spacing.due([a_recall(1), a_recall(1, asker=BOB)], 0)) == 2
    assert spacing.due([a_recall(1, asker=BOB), a_recall(1, announced=False)], 1) == []
    assert [(one.asker, one.searches) for one in spacing.due([], 1, ending=True)] == [(BOB, 1)]


steps = st.tuples(st.floats(0, 50), st.lists(st.frozensets(st.integers(1, 4), min_size=1), max_size=3))


@given(st.lists(steps, max_size=20))
def test_every_search_is_counted_once_and_no_memory_is_said_to_wait_for_longer_than_a_minute(
    turns: list[tuple[float, list[frozenset[int]]]],
) -> None:
    spacing, now, asked, said = RecallSpacing(), 0.0, 0, 0
    waiting: dict[int, float] = {}
    for passed, searches in turns:
        now += passed
        asked += len(searches)
        for one in set().union(*searches):
            waiting.setdefault(one, now)
        due = spacing.due([a_recall(*one) for one in searches], now)
        assert len(due) <= 1
        for ids, count in numbers(due):
            said += count
            assert ids == set(waiting)
            waiting.clear()
        assert all(now - since < SPACED_SECONDS for since in waiting.values())
        assert not any(one.text for recall in due for one in recall.served)
    said += sum(count for _, count in numbers(spacing.due([], now, ending=True)))
    assert said == asked


def test_of_a_very_long_text_the_beginning_is_kept(settings: Settings, app: Database) -> None:
    end = "The last sentence names a walrus."
    accept(app, said("A walrus swims far. " + "and on " * LONGEST + end))
    with opened(settings) as door:
        assert door.post("/v1/search", {"user_id": "ada", "query": "walrus"}).json()["results"]
    hashes = {row.hash for row in servings(app)}
    assert echo.digest("A walrus swims far.") in hashes
    assert echo.digest(end) not in hashes


def test_only_what_is_announced_becomes_an_event() -> None:
    ada, served = Asker(TENANT, "ada", None), [Served("x", UUID(int=1))]
    assert announcements_of([Recall(ada, served, announced=False)]) == []
    (one,) = announcements_of([Recall(ada, served, announced=False), Recall(ada, served, announced=True)])
    assert one.payload == {"user_id": "ada", "memory_ids": [str(UUID(int=1))], "searches": 1}


def test_a_memory_that_was_searched_and_comes_back_from_the_assistant_is_not_learnt_again(
    settings: Settings, app: Database
) -> None:
    with serving() as model, at_work(settings.model_copy(update={"llm_base_url": model.url})) as works:
        accept(app, said("My umbrella blue is in the drawer."), ended(message_count=3))
        works.settle()
        before = rows(app, "SELECT id, content, confidence, version FROM memories")
        assert [row.content for row in before] == ["Ada's umbrella blue is in the drawer."]
        with opened(settings) as door:
            found = door.post("/v1/search", {"user_id": "ada", "query": "umbrella", "include": ["memories"]})
            assert [one["id"] for one in found.json()["results"]] == [str(before[0].id)]
        again = said("As far as I know, your umbrella blue is in the drawer.", role="assistant", session="s2")
        accept(app, again, ended("s2", message_count=3))
        works.settle()
        assert rows(app, "SELECT id, content, confidence, version FROM memories") == before
        assert rows(app, "SELECT kind FROM verdicts") == [], "what the assistant alone says is no statement"

        accept(
            app,
            said("My umbrella blue is in the drawer. I bought new curtains for the kitchen window.", session="s3"),
            ended("s3", message_count=3),
        )
        works.settle()
    (after,) = rows(app, "SELECT confidence FROM memories")
    assert after.confidence > before[0].confidence, "a person who says it again confirms it"


def test_recalls_are_written_after_each_silence(app: Database, settings: Settings) -> None:
    with closing(Doorbell(broker_url(settings))) as bell, closing(recall_log.Recalls(app, bell)) as recalls:
        for number, animal in enumerate(("cat sleeps on the radiator", "dog barks at the postman"), 1):
            recalls.note(Asker(TENANT, "ada", None), [Served(f"The {animal} every day.", None)], announced=True)
            wait_until(lambda number=number: len(servings(app)) == number)  # type: ignore[misc]
            wait_until(lambda: recalls._rests)


def test_a_text_is_recorded_once_in_a_while_for_each_user_and_memory() -> None:
    recorded, one = Recorded(), Served("Ada has a cat.")
    ada, bob = (Recall(Asker(TENANT, user, None), [one, one], announced=True) for user in ("ada", "bob"))
    elsewhere = ada._replace(asker=Asker(OTHER, "ada", None))
    of_memory = ada._replace(served=[one._replace(memory_id=UUID(int=1))])
    assert [len(recorded.new(recall, 0.0)) for recall in (ada, ada, bob, elsewhere, of_memory)] == [1, 0, 1, 1, 1]
    recorded.sweep(echo.AGAIN_SECONDS - 1)
    assert recorded.new(ada, echo.AGAIN_SECONDS - 1) == []
    recorded.sweep(echo.AGAIN_SECONDS)
    assert recorded.new(ada, echo.AGAIN_SECONDS) == [one]
    recorded.clear()
    assert recorded.new(ada, echo.AGAIN_SECONDS) == [one]


def test_what_could_not_be_recorded_is_recorded_when_it_is_handed_out_again(
    settings: Settings, app: Database, cat: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(settings) as door:
        recalls = door.client.app.state.deps.recalls  # type: ignore[attr-defined]
        with monkeypatch.context() as broken:
            broken.setattr(recall_log, "_note", lambda *_: 1 / 0)
            recalls._write([Recall(Asker(TENANT, "ada", None), [Served("Ada has a cat.", cat)], announced=False)])
        assert servings(app) == []
        recalls._write([Recall(Asker(TENANT, "ada", None), [Served("Ada has a cat.", cat)], announced=False)])
        assert [row.memory_id for row in servings(app)] == [cat]


def told(app: Database) -> list[Any]:
    return [row.payload for row in rows(app, "SELECT payload FROM events WHERE event_type = 'memory.recalled'")]


def test_an_event_tells_for_which_queries_its_memories_were_recalled(
    settings: Settings, app: Database, cat: UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_log, "GATHER_SECONDS", 3600)
    carry_out(app, a_memory("Ada plays the cello."))
    with opened(settings) as door:
        for query in ("the cat", "Who  has\na cat?", "the cat"):
            assert door.post("/v1/search", {"user_id": "ada", "query": query, "limit": 1}).is_success
        door.post("/v1/context", {"user_id": "ada", "query": "cello", "session_id": "s9"})
    (payload,) = told(app)
    by_query = {one["query"]: one for one in payload["queries"]}
    assert list(by_query) == ["the cat", "Who has a cat?", "cello"]
    assert by_query["the cat"] == {"query": "the cat", "memory_ids": [str(cat)]}
    assert by_query["cello"]["session_id"] == "s9"
    assert payload["searches"] == 4


def test_queries_of_an_event_are_bounded() -> None:
    asker = Asker(TENANT, "ada", None)
    ids = [UUID(int=n) for n in range(60)]
    served = [Served("", one) for one in ids]
    spacing = RecallSpacing()
    taken = [
        Recall(asker, served, announced=True, queries=recall_log._recalled_for(f"{n} " + "x" * 600, None, served))
        for n in range(15)
    ]
    (event,) = announcements_of(spacing.due(taken, 0.0))
    queries = event.payload["queries"]
    assert len(queries) == 10
    assert {len(one["query"]) for one in queries} == {500}
    assert {len(one["memory_ids"]) for one in queries} == {50}


def test_no_query_is_kept_where_conversations_leave_at_their_end(settings: Settings, app: Database, cat: UUID) -> None:
    accept(app, event("session.started", {"session_id": "s9", "user_id": "ada", "keep_days": 0}))
    with opened(settings) as door:
        door.post("/v1/context", {"user_id": "ada", "query": "cat", "session_id": "s9"})
    with app.tenant(TENANT) as tx:
        retention.put(tx, TENANT, Retention(sessions_days=0))
    with opened(settings) as door:
        door.post("/v1/search", {"user_id": "ada", "query": "cat"})
    assert [(one["memory_ids"], "queries" in one) for one in told(app)] == [([str(cat)], False)] * 2


def test_the_query_of_a_user_who_is_erased_meanwhile_is_not_told(
    settings: Settings, app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_log, "GATHER_SECONDS", 3600)
    carry_out(app, a_memory("The club keeps a cat."), owner=Owner("bob", "club"))
    accept(app, said("Hello.", user="ada"))
    with opened(settings) as door:
        for user in ("ada", "eve"):
            asked = {"user_id": user, "group_id": "club", "query": f"cat of {user}"}
            assert door.post("/v1/search", asked).json()["results"]
        with app.tenant(TENANT) as tx:
            user_erasure.erase(tx, TENANT, "ada", PERSON, settings)
    assert {one["user_id"]: "queries" in one for one in told(app)} == {"ada": False, "eve": True}
