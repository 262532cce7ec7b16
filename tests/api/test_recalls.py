from __future__ import annotations

import time
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from api.http.recalls import LONGEST, Asker, Recall, announcements_of
from core import echo
from core.config import Settings
from core.db import Database
from core.echo import Served
from tests.core.test_upkeep import a_memory, carry_out
from tests.doors import OTHER, key_of, opened
from tests.faults.model import serving
from tests.samples import TENANT, accept, ended, said
from tests.works import at_work


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
        (verdict,) = rows(app, "SELECT kind, reason FROM verdicts")
        assert (verdict.kind, "echo" in verdict.reason) == ("ignore", True)

        accept(app, said("Yes, my umbrella blue is in the drawer.", session="s3"), ended("s3", message_count=3))
        works.settle()
    (after,) = rows(app, "SELECT confidence FROM memories")
    assert after.confidence > before[0].confidence, "a person who says it again confirms it"
