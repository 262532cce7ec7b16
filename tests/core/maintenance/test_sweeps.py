from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from core.config import Settings
from core.consolidation import echo
from core.errors import Conflict
from core.events import log
from core.events.publishing import Author
from core.inference.embedders import HashEmbedder
from core.maintenance import sweeps
from core.memory import decay, memories, retention, writer
from core.memory.changes import (
    Add,
    Archive,
    Change,
    Confirm,
    Derive,
    Ignore,
    Link,
    Merge,
    Owner,
    Part,
    Pin,
    Restore,
    Use,
)
from core.memory.identity import KnownMemory
from core.search import query
from core.storage.db import Database
from core.types import Candidate, Category, Evidence, Json, Relation, Topic
from tests.databases import analyzed, carried_out
from tests.questions import question as a_question
from tests.samples import TENANT

NOW = datetime.now(UTC)
ADA = Owner("ada")
PERSON = Author("key:1")
EMBEDDER = HashEmbedder()


def a_memory(content: str, **fields: Any) -> Add:
    quote = Evidence("s1", content, "e1", content)
    plain = Candidate(content, Category.FACT, Topic.PERSONAL, "ada", (quote,), NOW)
    return Add(replace(plain, **fields), "because", EMBEDDER.embed([content])[0])


def carry_out(app: Database, *wanted: Change, owner: Owner = ADA) -> Json:
    with app.tenant(TENANT) as tx:
        return writer.apply(tx, TENANT, owner, wanted, PERSON)


def row(app: Database, memory_id: UUID) -> Any:
    with app.tenant(TENANT) as tx:
        return memories.get(tx, memory_id)


def set_back(app: Database, ids: Sequence[UUID], days: float) -> None:
    """Let time pass, as if what happened to these memories had happened so many days earlier."""
    shift = """
        UPDATE memories SET recorded_at = recorded_at - d, last_used_at = last_used_at - d, fade_at = fade_at - d
        FROM (SELECT make_interval(secs => :days * 86400) AS d) AS passed WHERE id = ANY(:ids)
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(shift), {"ids": list(ids), "days": days})


def told(app: Database) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [e.event_type for e in log.since(tx, 0, 1000)]


def history(app: Database, memory_id: UUID) -> list[str]:
    with app.tenant(TENANT) as tx:
        return [v.change for v in memories.history(tx, memory_id)]


def sweep(app: Database, page: int = 100) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.archive_faded(tx, TENANT, PERSON, page)


def expected(app: Database, memory_id: UUID, **facts: Any) -> datetime | None:
    stands = row(app, memory_id)
    known = decay.Facts(stands.importance, stands.category, **facts)
    return decay.fading(known).fade_at(stands.last_used_at or stands.recorded_at, decay.UNDER)


def close(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and abs(one - other) < timedelta(milliseconds=1)


def test_a_new_memory_knows_when_it_will_have_faded(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    rule = a_memory("Never call before ten.", category=Category.INSTRUCTION)
    carry_out(app, cat, rule)
    assert close(row(app, cat.id).fade_at, expected(app, cat.id))
    assert row(app, rule.id).fade_at is None


def test_a_confirmation_a_relation_and_a_use_put_it_off(app: Database) -> None:
    cat, dog = a_memory("Ada has a cat."), a_memory("Ada walks a dog.")
    carry_out(app, cat, dog)
    set_back(app, [cat.id, dog.id], 30)
    stands = row(app, cat.id)
    known = KnownMemory(cat.id, 1, stands.content, "ada", None, None, stands.occurred_at)
    again = replace(cat.candidate, evidence=(Evidence("s2", "m9", "e9", "my cat"),))
    carry_out(app, Confirm(known, again, "again"))
    assert close(row(app, cat.id).fade_at, expected(app, cat.id, evidence=2))
    carry_out(app, Link(cat.id, Relation.ABOUT, dog.id), Link(cat.id, Relation.CONTRADICTS, dog.id), Use(dog.id))
    assert close(row(app, cat.id).fade_at, expected(app, cat.id, evidence=2, relations=1))
    assert close(row(app, dog.id).fade_at, expected(app, dog.id, relations=1, uses=1))


def test_ten_recalls_in_a_minute_are_one_use_and_make_neither_version_nor_event(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    before = told(app)
    counted = [carry_out(app, Use(cat.id)).get("used", 0) for _ in range(10)]
    assert counted == [1] + [0] * 9
    set_back(app, [cat.id], decay.SPACING / timedelta(days=1))
    assert carry_out(app, Use(cat.id)) == {"used": 1}
    assert (row(app, cat.id).uses, row(app, cat.id).version) == (2, 1)
    assert (told(app), history(app, cat.id)) == (before, ["add"])


def test_the_sweep_archives_what_is_due_and_nothing_else(app: Database) -> None:
    old, young, pinned = a_memory("Ada has a cat."), a_memory("Ada has a dog."), a_memory("Ada has a fox.")
    carry_out(app, old, young, pinned)
    carry_out(app, Pin(pinned.id, 1, pinned=True, reason="dear"))
    set_back(app, [old.id, pinned.id], 600)
    assert sweep(app) == 1
    assert [row(app, m.id).status for m in (old, young, pinned)] == ["archived", "active", "active"]
    assert row(app, old.id).fade_at is None
    assert history(app, old.id) == ["add", "archive"]
    assert told(app)[-1] == "memory.archived"
    assert sweep(app) == 0


def test_a_sweep_goes_page_by_page_the_longest_faded_first(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(5)]
    carry_out(app, *several)
    for place, one in enumerate(several):
        set_back(app, [one.id], 1000 + place)
    assert [sweep(app, page=2) for _ in range(2)] == [2, 2]
    assert [row(app, m.id).status for m in several] == ["active", *["archived"] * 4]
    assert sweep(app, page=2) == 1


def test_what_someone_changes_at_the_moment_is_left_for_the_next_sweep(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    set_back(app, [cat.id], 600)
    with app.tenant(TENANT) as tx:
        writer.apply(tx, TENANT, ADA, [Use(cat.id)], PERSON)
        assert sweep(app) == 0
    assert sweep(app) == 0
    assert row(app, cat.id).status == "active"


def test_what_was_archived_can_be_restored_and_begins_to_fade_anew(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    set_back(app, [cat.id], 600)
    sweep(app)
    assert carry_out(app, Restore(cat.id, 2, "missed")) == {"restored": 1}
    assert row(app, cat.id).status == "active"
    assert close(row(app, cat.id).fade_at, expected(app, cat.id))
    assert (sweep(app), history(app, cat.id)) == (0, ["add", "archive", "restore"])
    assert told(app)[-1] == "memory.restored"


def test_unpinned_it_fades_again(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    carry_out(app, Pin(cat.id, 1, pinned=True, reason="dear"))
    assert row(app, cat.id).fade_at is None
    carry_out(app, Pin(cat.id, 2, pinned=False, reason="no more"))
    assert close(row(app, cat.id).fade_at, expected(app, cat.id))
    assert history(app, cat.id) == ["add", "pin", "unpin"]


@pytest.mark.parametrize("stale", [Archive, Restore, lambda i, v, r: Pin(i, v, True, r)])
def test_what_was_decided_on_an_old_version_is_a_conflict(app: Database, stale: Any) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    carry_out(app, Pin(cat.id, 1, pinned=True, reason="dear"))
    with pytest.raises(Conflict):
        carry_out(app, stale(cat.id, 1, "late"))
    assert history(app, cat.id) == ["add", "pin"]


def test_nothing_is_restored_beside_what_has_taken_its_place(app: Database) -> None:
    lisbon = a_memory("Ada lives in Lisbon.", attribute="home.city", value="Lisbon")
    carry_out(app, lisbon)
    carry_out(app, Archive(lisbon.id, 1, "moved"))
    carry_out(app, a_memory("Ada lives in Porto.", attribute="home.city", value="Porto"))
    with pytest.raises(Conflict):
        carry_out(app, Restore(lisbon.id, 2, "back"))


def expire(app: Database, memory_id: UUID, when: datetime) -> None:
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET expires_at = :at WHERE id = :id"), {"at": when, "id": memory_id})


def found(app: Database, **fields: Any) -> list[str]:
    question = a_question("cat", **fields)
    return [f.memory.content for f in query.search(app, TENANT, question, EMBEDDER).results if f.memory is not None]


def test_what_has_expired_is_not_served_even_before_a_sweep(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    assert found(app) == ["Ada has a cat."]
    expire(app, cat.id, NOW - timedelta(days=1))
    assert (found(app), found(app, include_archived=True)) == ([], ["Ada has a cat."])
    with app.tenant(TENANT) as tx:
        assert memories.count(tx, "ada") == 0
        assert memories.neighbours(tx, "ada", [cat.candidate], EMBEDDER.embed(["Ada has a cat."])) == [[]]
        assert sweeps.archive_expired(tx, TENANT, PERSON, 10) == 1
    assert row(app, cat.id).status == "archived"
    assert (found(app), found(app, include_archived=True)) == ([], ["Ada has a cat."])


def test_what_has_expired_may_be_said_anew_and_comes_back_without_its_term(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    expire(app, cat.id, NOW - timedelta(days=1))
    again = a_memory("Ada has a cat.")
    assert carry_out(app, again) == {"added": 1}
    with app.tenant(TENANT) as tx:
        sweeps.archive_expired(tx, TENANT, PERSON, 10)
    carry_out(app, Archive(again.id, 1, "twice"))
    carry_out(app, Restore(cat.id, 2, "the first one"))
    assert row(app, cat.id).expires_at is None


def overflow(app: Database, limit: int, page: int = 100) -> int:
    with app.tenant(TENANT) as tx:
        return sweeps.archive_weakest(tx, TENANT, PERSON, limit, page)


def test_above_the_limit_the_weakest_go_and_never_the_pinned(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.", importance=0.1 + n / 10) for n in range(6)]
    carry_out(app, *several)
    carry_out(app, Pin(several[0].id, 1, pinned=True, reason="dear"))
    carry_out(app, a_memory("Bob has a dog."), owner=Owner("bob"))
    assert overflow(app, 4) == 2
    assert [row(app, m.id).status for m in several] == ["active", "archived", "archived", *["active"] * 3]
    assert overflow(app, 4) == 0


def test_who_has_only_pinned_memories_keeps_all_of_them(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(3)]
    carry_out(app, *several)
    carry_out(app, *(Pin(m.id, 1, pinned=True, reason="dear") for m in several))
    assert overflow(app, 1) == 0


def test_a_new_threshold_or_formula_draws_every_curve_anew(app: Database) -> None:
    several = [a_memory(f"Ada has cat number {n}.") for n in range(5)]
    carry_out(app, *several)
    with app.tenant(TENANT) as tx:
        assert not retention.align(tx, TENANT, "fading", decay.UNDER)
        assert retention.align(tx, TENANT, "weekly", 0.1)
        last, pages = None, 0
        while pages == 0 or last is not None:
            last, pages = retention.redraw(tx, TENANT, last, 2), pages + 1
    assert pages == 3
    for one in several:
        stands = row(app, one.id)
        curve = decay.weekly(decay.Facts(stands.importance, stands.category))
        assert close(stands.fade_at, curve.fade_at(stands.recorded_at, 0.1))


def many(app: Database, count: int, due: int) -> None:
    """Memories of many users, of which the first are due."""
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, fade_at, expires_at)
        SELECT :tenant, gen_random_uuid(), 'u' || n % 97, 'x', 'semantic', 'fact', 'other', 'Fact ' || n, md5(n::text),
               'candidate', 'active', now(), now() + make_interval(days => CASE WHEN n <= :due THEN -1 ELSE n END),
               CASE WHEN n <= :due THEN now() - interval '1 day' END
        FROM generate_series(1, :count) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT, "count": count, "due": due})


@pytest.mark.parametrize(
    ("statement", "name"), [(sweeps.FADED, "memories_fading"), (sweeps.EXPIRED, "memories_expiring")]
)
def test_a_sweep_reads_what_is_due_by_its_index_and_nothing_else(
    settings: Settings, app: Database, statement: Any, name: str
) -> None:
    many(app, 5_000, due=20)
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
    assert told(app)[-2:] == ["memory.erased"] * 2


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
    assert (traces(app, cat.id), row(app, again.id).status) == ([], "active")


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
