from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from core.events.publishing import Author
from core.index.resident import cache, filling
from core.index.resident.cache import OwnerCache
from core.index.resident.filling import Filler
from core.memory import writer
from core.memory.as_of import Moment
from core.memory.changes import Archive, Owner
from core.search import opening, query, uncached
from core.search.question import RankedAnswer
from core.search.recipes import RECIPES
from core.storage.db import Database
from tests.core.index.resident.answers import FILTERS, everything, lived
from tests.core.index.resident.kept import WORDS, cold, view
from tests.core.search.searching import EMBEDDER, contents, remember
from tests.factories import NOON
from tests.questions import question as a_question
from tests.samples import TENANT, accept_all, said
from tests.works import Works


@pytest.fixture
def ada(app: Database, works: Works) -> Database:
    return lived(app, works)


def reads() -> float:
    return REGISTRY.get_sample_value("imprint_search_reads_total", {"kind": "uncached"}) or 0.0


class Held(Filler):
    """A filler that notes what it is asked for, and fills when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[Any, ...]] = []

    def later(self, db: Database, tenant_id: str, entry: OwnerCache, dimension: int) -> None:
        self.asked.append((tenant_id, entry, dimension))


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    """Every owner is large, and nothing is cached behind the questions."""
    filler = Held()
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(filling, "FILLER", filler)
    yield filler
    filler.stop()


def asked_of(app: Database, words: str, **asked: Any) -> RankedAnswer:
    return query.search(app, TENANT, a_question(words, **asked), EMBEDDER)


@pytest.mark.parametrize("recipe", ["default", "precise", "associative", "even_blend"])
def test_the_database_answers_as_the_cache_where_few_rows_pass(
    ada: Database, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    blends = RECIPES[recipe].formula is not None
    wanted = [one for one in FILTERS if not blends or ("include" not in one and one.get("method") != "keyword")]
    warm = [everything(ada, recipe, asked) for asked in wanted]
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(filling, "FILLER", Held())
    before = reads()
    for asked, (results, considered) in zip(wanted, warm, strict=True):
        cold(ada)
        found, counted = everything(ada, recipe, asked)
        assert sorted(map(str, found)) == sorted(map(str, results)), asked
        assert counted == considered, asked
    assert reads() == before + len(wanted)
    assert sum(len(results) for results, _ in warm) > 20


def test_of_a_large_store_the_best_rows_are_found_and_all_are_counted(
    ada: Database, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncached, "READ_ALL", 0)
    monkeypatch.setattr(uncached, "PICKED", 3)
    cold(ada)
    found = asked_of(ada, "What of the ship and rain number 3?", limit=5)
    everything_ = query.rank(ada, TENANT, a_question("What of the ship and rain number 3?", limit=50), EMBEDDER)
    best = [key for _, key in everything_.page.keys][:3]
    assert {one.ranked.hit.key for one in found.results} & set(best)
    assert found.considered == everything_.considered
    assert len(found.results) < sum(found.considered.values())


def test_further_rows_are_looked_at_until_enough_have_passed(
    ada: Database, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncached, "READ_ALL", 0)
    monkeypatch.setattr(uncached, "PICKED", 2)
    for n in range(12):
        cold(ada)
        words = f"Ada has {WORDS[n % 6]} and {WORDS[n % 4]} number {n}."
        found = asked_of(ada, words, tags=["travel"], include=frozenset({"memories"}))
        assert len(found.results) >= 2, "of those with the tag, although others fit better"
        assert all("travel" in one.memory.tags for one in found.results)


def test_of_each_type_as_many_are_found_as_are_wanted(
    ada: Database, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uncached, "READ_ALL", 0)
    monkeypatch.setattr(uncached, "PICKED", 1)
    cold(ada)
    found = asked_of(ada, "Ada has tea and Lisbon.", limit=4, each=True)
    types = [one.ranked.hit.type for one in found.results]
    assert (types.count("memory"), types.count("message")) == (4, 4)


def test_what_a_reader_may_not_see_is_neither_found_nor_counted(app: Database, works: Works, held: Held) -> None:
    accept_all(app, [said("The safe is behind the oak tree."), said("The car is behind the house.", message_id="m2")])
    works.settle(flush=False)
    remember(app, "Ada hides a safe behind the oak tree.")
    remember(app, "Ada parks behind the house.")
    with app.tenant(TENANT) as tx:
        for table in ("messages", "memories"):
            tx.execute(text(f"UPDATE {table} SET audience_labels = '{{family}}' WHERE content LIKE '%safe%'"))
    for labels, seen in (([], 1), (["family"], 2), (None, 2)):
        reading = app.as_reader(labels)
        cold(app)
        answer = query.search(reading, TENANT, a_question("What is behind the tree?"), EMBEDDER)
        assert answer.considered == {"memory": seen, "message": seen, "document": 0}
        assert any("safe" in one for one in contents(answer.results)) is (seen == 2)


def test_another_tenants_user_of_the_same_name_is_not_found(app: Database, works: Works, held: Held) -> None:
    remember(app, "Ada likes tea.")
    answer = query.search(app, "other", a_question("Does Ada like tea?"), EMBEDDER)
    assert not answer.results
    assert answer.considered == {"memory": 0, "message": 0, "document": 0}


def test_a_memory_of_another_user_in_the_group_is_found_by_the_group_alone(app: Database, held: Held) -> None:
    remember(app, "Ada likes green tea.", group="friends")
    remember(app, "Ben likes green tea.", user="ben", group="friends")
    remember(app, "Ben likes black tea.", user="ben")
    shown = contents(asked_of(app, "Who likes tea?", group_id="friends").results)
    assert sorted(shown) == ["Ada likes green tea.", "Ben likes green tea."]
    assert contents(asked_of(app, "Who likes tea?").results) == ["Ada likes green tea."]


def test_a_message_of_which_some_memories_are_superseded_is_partly_superseded(ada: Database, held: Held) -> None:
    with ada.tenant(TENANT) as tx:
        active = text("SELECT id FROM memories WHERE status = 'active' ORDER BY id LIMIT 2")
        first, second = tx.execute(active).scalars()
        tx.execute(text("DELETE FROM evidence WHERE memory_id = ANY(:ids)"), {"ids": [first, second]})
        copied = """
            INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
            SELECT tenant_id, unnest(cast(:ids AS uuid[])), session_id, id, event_id, content FROM messages
            WHERE (session_id, id) = ('s1', 'm1')
        """
        tx.execute(text(copied), {"ids": [first, second]})
        tx.execute(text("UPDATE memories SET status = 'superseded' WHERE id = :id"), {"id": first})
    cold(ada)
    results = asked_of(ada, "tea", include=frozenset({"messages"}), limit=50).results
    marks = {result.message.id: (result.superseded, result.partly_superseded) for result in results if result.message}
    assert marks.pop("m1") == (False, True)
    assert not any(partly for _, partly in marks.values())


def test_what_a_later_memory_may_have_ended_is_marked_with_the_message_that_it_rests_on(
    ada: Database, held: Held
) -> None:
    with ada.tenant(TENANT) as tx:
        old = tx.execute(
            text("""
                SELECT m.id, e.message_id FROM memories m JOIN evidence e ON e.memory_id = m.id
                WHERE m.status = 'active' ORDER BY m.id LIMIT 1
            """)
        ).one()
        related = """
            INSERT INTO relations (tenant_id, from_id, relation, to_id)
            SELECT tenant_id, id, 'may_supersede', :old FROM memories
            WHERE status = 'active' ORDER BY coalesce(said_at, occurred_at) DESC, id DESC LIMIT 1
            RETURNING from_id
        """
        later = tx.execute(text(related), {"old": old.id}).scalar_one()
        tx.execute(text("DELETE FROM evidence WHERE memory_id = :id"), {"id": later})
    results = asked_of(ada, "tea", limit=50).results
    doubted = {result.memory.id if result.memory else result.message.id for result in results if result.doubted}
    assert doubted == {old.id, old.message_id}


def test_a_message_of_which_only_superseded_memories_are_left_is_marked(ada: Database, held: Held) -> None:
    with ada.tenant(TENANT) as tx:
        row = tx.execute(text("SELECT id FROM memories WHERE status = 'active' ORDER BY id LIMIT 1")).one()
        tx.execute(
            text("DELETE FROM evidence WHERE memory_id <> :id AND session_id = 's1' AND message_id = 'm1'"),
            {"id": row.id},
        )
        tx.execute(text("UPDATE memories SET status = 'superseded' WHERE id = :id"), {"id": row.id})
        said_ = tx.execute(
            text("SELECT session_id, message_id FROM evidence WHERE memory_id = :id"), {"id": row.id}
        ).all()
    cited = {f"{one.session_id}\x1f{one.message_id}" for one in said_}
    messages = frozenset({"messages"})
    warm = query.rank(ada, TENANT, a_question("tea", include=messages, limit=50), EMBEDDER).page.candidates
    cold(ada)
    found = asked_of(ada, "tea", include=messages, limit=50).page
    assert found is not None
    marked = set(found.candidates.keys[found.candidates.retired])
    assert marked == set(warm.keys[warm.retired])
    assert marked <= cited


def test_a_question_as_of_what_was_known_or_behind_a_place_reads_all_rows(ada: Database, held: Held) -> None:
    cold(ada)
    asked_of(ada, "tea", moment=Moment(known_at=NOON + timedelta(days=400)))
    assert not held.asked
    page = asked_of(ada, "tea", limit=2)
    assert page.page is not None
    cold(ada)
    asked_of(ada, "tea", limit=uncached.PICKED)
    assert not held.asked


def test_a_question_about_documents_alone_reads_no_rows(ada: Database, held: Held) -> None:
    cold(ada)
    asked_of(ada, "tea", include=frozenset({"documents"}))
    assert not held.asked
    assert cache.of(ada.engine).owner(TENANT, "ada", None).state.horizon is None


def test_rows_of_a_message_that_is_gone_leave_the_process_with_the_next_question(ada: Database, held: Held) -> None:
    view(ada)
    with ada.tenant(TENANT) as tx:
        gone = (
            tx.execute(
                text(
                    "DELETE FROM search_index WHERE type = 'message' AND ref = (SELECT min(ref) FROM "
                    "search_index WHERE type = 'message') RETURNING ref"
                )
            )
            .scalars()
            .all()
        )
    found = asked_of(ada, "tea and rain", limit=50)
    assert not {one.ranked.hit.key.split("\x1f")[-1] for one in found.results} & set(gone)
    assert len(cache.of(ada.engine).owner(TENANT, "ada", None).state.view) == 0
    assert len(held.asked) == 1
    assert found.considered == query.rank(ada, TENANT, a_question("tea and rain"), EMBEDDER).considered


def test_the_cache_is_filled_behind_the_first_question(ada: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "READ_ALL", 0)
    monkeypatch.setattr(filling, "FILLER", Filler())
    cold(ada)
    before = reads()
    first = asked_of(ada, "Who has tea and rain?")
    assert filling.FILLER.wait(20)
    later = asked_of(ada, "Who has tea and rain?")
    assert reads() == before + 1, "the second one reads the cache"
    assert [one.ranked.hit.key for one in later.results] == [one.ranked.hit.key for one in first.results]
    with ada.tenant(TENANT) as tx:
        row = tx.execute(text("SELECT id, version FROM memories WHERE status = 'active' LIMIT 1")).one()
        writer.apply(tx, TENANT, Owner("ada"), [Archive(row.id, row.version, "old")], Author("test"))
    assert str(row.id) not in {one.ranked.hit.key for one in asked_of(ada, "Who has tea and rain?", limit=50).results}
