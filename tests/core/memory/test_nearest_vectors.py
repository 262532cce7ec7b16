from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from sqlalchemy import text

from core.config import Settings
from core.erasure.runner import _NOTE_ALL as NOTE_ALL
from core.index.resident import cache, loading
from core.index.search_index import vector_literal
from core.memory import nearest_vectors, neighbours, writer
from core.memory.changes import Add, Archive, Edit
from core.memory.nearest_vectors import Near
from core.search import query
from core.search.question import Question
from core.storage.db import Database, Tx, stream_chunks
from tests.databases import analyzed
from tests.factories import ADA, EMBEDDER, PERSON, a_memory, carry_out
from tests.samples import TENANT, accept
from tests.samples import said as message
from tests.works import Works

PEOPLE = ["Bob", "Carla", "Marek", "Ines", "Tom"]
THINGS = ["likes tea with", "met", "painted the house of", "owes money to", "lost at chess to", "ran with"]
SCAN = text("""
    SELECT cast(i.ref AS uuid) AS id, 1 - (i.embedding <=> cast(:vector AS halfvec)) AS cosine FROM search_index i
    WHERE i.user_id = :user AND i.type = 'memory' AND i.embedding IS NOT NULL
    ORDER BY i.embedding <=> cast(:vector AS halfvec), i.ref LIMIT 5
""")


def some(count: int, seed: int = 1) -> list[Add]:
    chance = random.Random(seed)
    return [
        a_memory(f"Ada {chance.choice(THINGS)} {chance.choice(PEOPLE)} on day {n} of {seed}.") for n in range(count)
    ]


def asked(*texts: str) -> Any:
    return EMBEDDER.embed(list(texts))


def near(tx: Tx, vectors: Any, user: str = "ada") -> list[Near]:
    return nearest_vectors.nearest(tx, user, vectors, 5)


def by_scan(tx: Tx, vectors: Any, user: str = "ada") -> list[Near]:
    """What a scan over all rows of the user finds."""
    values = [{"user": user, "vector": vector_literal(vector)} for vector in vectors]
    return [[(r.id, r.cosine) for r in tx.execute(SCAN, one) if r.cosine > 0] for one in values]


def assert_same(app: Database, vectors: Any, user: str = "ada") -> None:
    with app.tenant(TENANT) as tx:
        for ours, theirs in zip(near(tx, vectors, user), by_scan(tx, vectors, user), strict=True):
            assert [c for _, c in ours] == pytest.approx([c for _, c in theirs], abs=1e-5)
            last = ours[-1][1] if ours else 0.0
            # Of those that lie equally far, either may come last.
            assert {i for i, c in ours if c > last + 1e-5} == {i for i, c in theirs if c > last + 1e-5}


QUESTIONS = ("Ada likes tea with Bob.", "Ada met Carla on day 3 of 1.", "Nothing of the kind", "Ada ran with Tom")


def test_it_finds_what_a_scan_over_all_rows_finds(app: Database) -> None:
    carry_out(app, *some(150))
    assert_same(app, asked(*QUESTIONS, *(f"Ada met {name} on day {n} of 1." for n in range(20) for name in PEOPLE)))


def test_it_sees_whatever_has_been_written_since(app: Database) -> None:
    vectors = asked(*QUESTIONS)
    first, second = some(30), some(30, seed=2)
    assert_same(app, vectors)
    carry_out(app, *first)
    assert_same(app, vectors)
    carry_out(app, *second)
    assert_same(app, vectors)
    said = "Ada likes tea with Bob, always."
    carry_out(app, Edit(first[0].id, 1, {"content": said}, "put right", asked(said)[0]))
    assert_same(app, vectors)
    remove(app, [second[0].id, second[1].id])
    assert_same(app, vectors)
    remove(app, [second[2].id])
    carry_out(app, *some(1, seed=3))
    assert_same(app, vectors)


def remove(app: Database, ids: Sequence[UUID]) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index WHERE ref = ANY(:refs)"), {"refs": [str(one) for one in ids]})


def test_only_changes_are_read_again(app: Database) -> None:
    carry_out(app, *some(40))
    with app.tenant(TENANT) as tx:
        near(tx, asked("Ada met Bob."))
    carry_out(app, *some(3, seed=2))
    with app.tenant(TENANT) as tx:
        check = cache.of(tx.engine).memories(TENANT, "ada").check(EMBEDDER.dimension)
        assert len(tx.execute(cache.CHANGED, check.values).one().refs) == 3


def test_what_is_rolled_back_was_never_there(app: Database) -> None:
    mine = some(10)
    carry_out(app, *mine)
    vectors = asked("Ada is a welder.")

    def write_and_give_up() -> None:
        with app.tenant(TENANT) as tx:
            near(tx, vectors)
            writer.apply(tx, TENANT, ADA, [a_memory("Ada is a welder.")], PERSON)
            said = Edit(mine[0].id, 1, {"content": "Ada was a welder."}, "because", asked("Ada was a welder.")[0])
            writer.apply(tx, TENANT, ADA, [said], PERSON)
            assert near(tx, vectors)[0][0][1] == pytest.approx(1, abs=1e-3)
            raise InterruptedError

    with pytest.raises(InterruptedError):
        write_and_give_up()
    assert_same(app, vectors)
    carry_out(app, a_memory("Ada is a painter."))
    assert_same(app, vectors)


def test_a_transaction_that_commits_after_a_later_one_is_seen(app: Database) -> None:
    vectors = asked(*QUESTIONS)
    carry_out(app, *some(5))
    with app.tenant(TENANT) as slow:
        writer.apply(slow, TENANT, replace(ADA, user_id="bob"), some(1, seed=7), PERSON)
        for table in ("search_index", "memories"):
            slow.execute(text(f"UPDATE {table} SET user_id = 'ada' WHERE user_id = 'bob'"))
        carry_out(app, *some(2, seed=8))
        assert_same(app, vectors)
    assert_same(app, vectors)


def test_users_and_tenants_are_kept_apart(app: Database) -> None:
    carry_out(app, *some(5))
    carry_out(app, a_memory("Ada met Bob."), owner=replace(ADA, user_id="bob"))
    assert_same(app, asked("Ada met Bob."), "bob")
    with app.tenant("other") as tx:
        assert near(tx, asked("Ada met Bob.")) == [[]]
    assert_same(app, asked("Ada met Bob."))


def test_vectors_of_another_length_are_near_to_nothing(app: Database) -> None:
    long = Add(replace(some(1)[0].candidate, content="Ada is tall."), "because", np.ones(7, np.float32))
    carry_out(app, *some(3), long)
    with app.tenant(TENANT) as tx:
        assert long.id not in {one for one, _ in near(tx, asked("Ada is tall."))[0]}
        assert [one for one, _ in near(tx, np.ones((1, 7), np.float32))[0]] == [long.id]
        assert len(near(tx, asked("Ada is tall."))[0]) == 3


def test_what_nobody_asks_for_is_let_go(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(app, *some(3))
    for user in ("ada", "bob"):
        with app.tenant(TENANT) as tx:
            near(tx, asked("Ada met Bob."), user)
    monkeypatch.setattr(cache, "IDLE_SECONDS", -1)
    monkeypatch.setattr(cache, "SWEEP_SECONDS", 0)
    with app.tenant(TENANT) as tx:
        near(tx, asked("Ada met Bob."), "bob")
        assert cache.of(tx.engine).usage()[0] == 0


def test_the_longest_unused_goes_where_there_is_no_room(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out(app, *some(3))
    carry_out(app, *some(3, seed=2), owner=replace(ADA, user_id="bob"))
    with app.tenant(TENANT) as tx:
        near(tx, asked("Ada met Bob."))
        one = cache.of(tx.engine).usage()[1]
    monkeypatch.setattr(cache, "MOST_BYTES", one * 3 // 2)
    monkeypatch.setattr(cache, "SWEEP_SECONDS", 0)
    for user in ("ada", "bob", "ada"):
        assert_same(app, asked("Ada met Bob."), user)
    with app.tenant(TENANT) as tx:
        cache.of(tx.engine).sweep()
        assert cache.of(tx.engine).usage()[0] == 1


def test_what_was_archived_does_not_crowd_out_what_stands(app: Database) -> None:
    stands = a_memory("Ada met Bob on the stairs today.")
    away = [a_memory(f"Ada met Bob on the stairs, {n}.") for n in range(40)]
    carry_out(app, stands, *away)
    carry_out(app, *(Archive(one.id, 1, "no") for one in away))
    question = a_memory("Ada met Bob on the stairs.").candidate
    with app.tenant(TENANT) as tx:
        (known,) = neighbours.of(tx, "ada", [question], asked(question.content))
    assert [one.id for one in known] == [stands.id]


OTHERS = text("""
    INSERT INTO search_index (tenant_id, type, session_id, ref, user_id, occurred_at, terms, own_terms, embedding)
    SELECT tenant_id, type, session_id, gen_random_uuid()::text, 'user' || n, occurred_at, terms, own_terms, embedding
    FROM search_index CROSS JOIN generate_series(1, 400) AS n
""")


def test_memories_are_read_by_the_index_of_the_user(settings: Settings, app: Database) -> None:
    carry_out(app, *some(5))
    values = {"user": "ada", "group": None, "types": ["memory"], "dimension": EMBEDDER.dimension}
    with app.tenant(TENANT) as tx:  # Rows of many others, or any index would do.
        tx.execute(OTHERS)
    analyzed(settings, "search_index")
    with app.tenant(TENANT) as tx:
        plan = str([*stream_chunks(tx, f"EXPLAIN {loading._ALL}", values | loading.enumerations())])
    assert "search_index_of_user" in plan


def test_judging_asks_the_rows_that_a_search_has_read(app: Database) -> None:
    carry_out(app, *some(5))
    query.search(app, TENANT, Question("tea", "ada"), EMBEDDER)
    assert_same(app, asked(*QUESTIONS))
    assert cache.of(app.engine).usage()[0] == 1
    cache.of(app.engine).clear()
    assert_same(app, asked(*QUESTIONS))
    query.search(app, TENANT, Question("tea", "ada"), EMBEDDER)
    assert cache.of(app.engine).usage()[0] == 2
    carry_out(app, *some(3, seed=2))
    assert_same(app, asked(*QUESTIONS))


def test_messages_are_no_neighbours(app: Database, works: Works) -> None:
    accept(app, message("Ada met Bob."))
    works.settle(flush=False)
    carry_out(app, *some(3))
    with app.tenant(TENANT) as tx:
        there = set(tx.execute(text("SELECT cast(ref AS uuid) FROM search_index WHERE type = 'memory'")).scalars())
    for _ in range(2):
        with app.tenant(TENANT) as tx:
            assert {one for one, _ in near(tx, asked("Ada met Bob."))[0]} <= there
        query.search(app, TENANT, Question("tea", "ada"), EMBEDDER)


def test_memories_are_read_again_after_an_erasure_that_names_nobody(app: Database) -> None:
    carry_out(app, *some(5))
    assert_same(app, asked(*QUESTIONS))
    with app.tenant(TENANT) as tx:
        tx.execute(text("DELETE FROM search_index"))
        tx.execute(text("DELETE FROM search_changes"))
        tx.execute(NOTE_ALL)
    with app.tenant(TENANT) as tx:
        assert near(tx, asked("Ada met Bob.")) == [[]]
