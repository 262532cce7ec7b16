from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.consolidation import echo
from core.maintenance import sweeps
from core.memory import decay, writer
from core.memory.changes import (
    Archive,
    Confirm,
    Derive,
    Ignore,
    Link,
    Merge,
    Owner,
    Part,
    Pin,
    Use,
)
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Category, Evidence, Relation
from tests.databases import analyzed, carried_out
from tests.factories import (
    ADA,
    NOW,
    PERSON,
    a_memory,
    carry_out,
    changes_of,
    close,
    event_types,
    expected,
    many_memories,
    memory_row,
    set_back,
    sweep,
)
from tests.samples import TENANT


def test_a_new_memory_knows_when_it_will_have_faded(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    rule = a_memory("Never call before ten.", category=Category.INSTRUCTION)
    carry_out(app, cat, rule)
    assert close(memory_row(app, cat.id).fade_at, expected(app, cat.id))
    assert memory_row(app, rule.id).fade_at is None


def test_a_confirmation_a_relation_and_a_use_put_it_off(app: Database) -> None:
    cat, dog = a_memory("Ada has a cat."), a_memory("Ada walks a dog.")
    carry_out(app, cat, dog)
    set_back(app, [cat.id, dog.id], 30)
    stands = memory_row(app, cat.id)
    known = KnownMemory(cat.id, 1, stands.content, "ada", None, None, stands.occurred_at)
    again = replace(cat.candidate, evidence=(Evidence("s2", "m9", "e9", "my cat"),))
    carry_out(app, Confirm(known, again, "again"))
    assert close(memory_row(app, cat.id).fade_at, expected(app, cat.id, evidence=2))
    carry_out(app, Link(cat.id, Relation.ABOUT, dog.id), Link(cat.id, Relation.CONTRADICTS, dog.id), Use(dog.id))
    assert close(memory_row(app, cat.id).fade_at, expected(app, cat.id, evidence=2, relations=1))
    assert close(memory_row(app, dog.id).fade_at, expected(app, dog.id, relations=1, uses=1))


def test_ten_recalls_in_a_minute_are_one_use_and_make_neither_version_nor_event(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    before = event_types(app)
    counted = [carry_out(app, Use(cat.id)).get("used", 0) for _ in range(10)]
    assert counted == [1] + [0] * 9
    set_back(app, [cat.id], decay.SPACING / timedelta(days=1))
    assert carry_out(app, Use(cat.id)) == {"used": 1}
    assert (memory_row(app, cat.id).uses, memory_row(app, cat.id).version) == (2, 1)
    assert (event_types(app), changes_of(app, cat.id)) == (before, ["add"])


def test_the_sweep_archives_what_is_due_and_nothing_else(app: Database) -> None:
    old, young, pinned = a_memory("Ada has a cat."), a_memory("Ada has a dog."), a_memory("Ada has a fox.")
    carry_out(app, old, young, pinned)
    carry_out(app, Pin(pinned.id, 1, pinned=True, reason="dear"))
    set_back(app, [old.id, pinned.id], 600)
    assert sweep(app) == 1
    assert [memory_row(app, m.id).status for m in (old, young, pinned)] == ["archived", "active", "active"]
    assert memory_row(app, old.id).fade_at is None
    assert changes_of(app, old.id) == ["add", "archive"]
    assert event_types(app)[-1] == "memory.archived"
    assert sweep(app) == 0


def test_a_sweep_goes_page_by_page_the_longest_faded_first(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(5)]
    carry_out(app, *several)
    for place, one in enumerate(several):
        set_back(app, [one.id], 1000 + place)
    assert [sweep(app, page=2) for _ in range(2)] == [2, 2]
    assert [memory_row(app, m.id).status for m in several] == ["active", *["archived"] * 4]
    assert sweep(app, page=2) == 1


def test_what_someone_changes_at_the_moment_is_left_for_the_next_sweep(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    set_back(app, [cat.id], 600)
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, ADA, [Use(cat.id)], PERSON)
        assert sweep(app) == 0
    assert sweep(app) == 0
    assert memory_row(app, cat.id).status == "active"


def overflow(app: Database, limit: int, page: int = 100) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.archive_weakest(tx, TENANT, PERSON, limit, page)


def test_above_the_limit_the_weakest_go_and_never_the_pinned(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.", importance=0.1 + n / 10) for n in range(6)]
    carry_out(app, *several)
    carry_out(app, Pin(several[0].id, 1, pinned=True, reason="dear"))
    carry_out(app, a_memory("Bob has a dog."), owner=Owner("bob"))
    assert overflow(app, 4) == 2
    assert [memory_row(app, m.id).status for m in several] == ["active", "archived", "archived", *["active"] * 3]
    assert overflow(app, 4) == 0


def test_who_has_only_pinned_memories_keeps_all_of_them(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(3)]
    carry_out(app, *several)
    carry_out(app, *(Pin(m.id, 1, pinned=True, reason="dear") for m in several))
    assert overflow(app, 1) == 0


@pytest.mark.parametrize(
    ("statement", "name"), [(sweeps.FADED, "memories_fading"), (sweeps.EXPIRED, "memories_expiring")]
)
def test_a_sweep_reads_what_is_due_by_its_index_and_nothing_else(
    settings: Settings, app: Database, statement: Any, name: str
) -> None:
    many_memories(app, 5_000, due=20)
    analyzed(settings, "memories")
    with app.tenant(TENANT) as tx:
        nodes = carried_out(tx, statement.text, {"page": 500})
    (scan,) = [node for node in nodes if "Scan" in node["Node Type"]]
    assert (scan["Node Type"], scan["Index Name"], scan["Actual Rows"]) == ("Index Scan", name, 20)
    assert "tenant_id" in scan["Index Cond"]
    assert scan.get("Rows Removed by Filter", 0) == 0
    assert all("Sort" not in node["Node Type"] for node in nodes)


def drop(app: Database, days: float = 30) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.drop_archived(tx, TENANT, PERSON, days, 100)


def put_back(app: Database, days: float) -> None:
    """Let what was archived have been archived so many days earlier."""
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET updated_at = updated_at - make_interval(days => :days)"), {"days": days})


def traces(app: Database, memory_id: UUID) -> list[str]:
    """The tables in which a memory is named."""
    named = {
        "memories": "id = :id",
        "memory_versions": "memory_id = :id",
        "evidence": "memory_id = :id",
        "relations": "from_id = :id OR to_id = :id",
        "search_index": "ref = cast(:id AS text)",
    }
    with app.tenant(TENANT) as tx:
        return [
            table
            for table, condition in named.items()
            if tx.execute(text(f"SELECT 1 FROM {table} WHERE {condition}"), {"id": memory_id}).first()
        ]


def test_what_another_memory_stands_for_is_dropped_wholly_in_time(app: Database) -> None:
    cat, dog = a_memory("Ada has a cat."), a_memory("Ada has a dog.")
    carry_out(app, cat, dog)
    core = Derive(
        a_memory("Ada has a cat. Ada has a dog.").candidate, [Part(a.id, 1) for a in (cat, dog)], "", None, True
    )
    carry_out(app, core)
    put_back(app, 20)
    assert drop(app) == 0
    put_back(app, 20)
    assert drop(app) == 2
    assert traces(app, cat.id) == traces(app, dog.id) == []
    assert traces(app, core.id) == ["memories", "memory_versions", "evidence", "search_index"]
    assert event_types(app)[-2:] == ["memory.erased"] * 2


def test_what_stands_for_itself_alone_is_never_dropped(app: Database) -> None:
    cat, dog = a_memory("Ada has a cat."), a_memory("Ada has a dog.")
    carry_out(app, cat, dog)
    # A pattern is drawn from memories that stay; what archives one of them later has nothing to do with it.
    pattern = Derive(a_memory("Ada has animals.").candidate, [Part(a.id, 1) for a in (cat, dog)], "seen")
    carry_out(app, pattern)
    carry_out(app, Archive(cat.id, 1, "no"), Archive(dog.id, 1, "no"))
    put_back(app, 400)
    assert drop(app) == 0


def test_what_was_merged_with_another_is_dropped_too(app: Database) -> None:
    cat, again = a_memory("Ada has a cat."), a_memory("Ada has a black cat.")
    carry_out(app, cat, again)
    keeper, gone = (KnownMemory(a.id, 1, a.candidate.content, "ada", None, None, NOW) for a in (again, cat))
    carry_out(app, Merge(keeper, again.candidate, "same", absorbs=gone))
    put_back(app, 40)
    assert drop(app) == 1
    assert (traces(app, cat.id), memory_row(app, again.id).status) == ([], "active")


def test_verdicts_that_kept_nothing_are_forgotten_after_their_days(app: Database) -> None:
    junk = a_memory("Thanks!").candidate
    carry_out(app, *(Ignore(junk, "a pleasantry") for _ in range(3)))
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    known = KnownMemory(cat.id, 1, cat.candidate.content, "ada", None, None, NOW)
    carry_out(app, Confirm(known, cat.candidate, "again"))
    with app.tenant(TENANT) as tx:
        assert sweeps.delete_leftovers(tx, 90, 3600, 100) == 0
        tx.execute(text("UPDATE verdicts SET at = at - interval '91 days'"))
        assert sweeps.delete_leftovers(tx, 90, 3600, 2) == 2
        assert sweeps.delete_leftovers(tx, 90, 3600, 2) == 1
        assert tx.execute(text("SELECT kind FROM verdicts")).scalars().all() == ["confirm"]


def test_what_was_handed_out_long_ago_is_forgotten(app: Database) -> None:
    told_then = [echo.Served("Ada has a black cat and two dogs.")]
    with app.tenant(TENANT) as tx:
        echo.note(tx, TENANT, "ada", told_then, NOW - timedelta(days=8))
        echo.note(tx, TENANT, "bob", told_then, NOW - timedelta(days=6))
        assert sweeps.delete_leftovers(tx, 90, 3600, 100) == 1
        assert set(tx.execute(text("SELECT user_id FROM servings")).scalars()) == {"bob"}
