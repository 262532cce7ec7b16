"""Conflicts as they are found, and what a decision about one makes of its memories."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from core.config import Settings
from core.consolidation import conflicts
from core.consolidation.conflicts import ConflictDecision, ConflictResolution, MemoryConflict
from core.errors import Conflict, Invalid, NotFound
from core.memory import memories
from core.memory.changes import Add, Edit
from core.storage.db import Database
from core.tenancy import tenants
from core.types import Trust
from tests import databases
from tests.core.consolidation.disputes import NOW, dispute, dogs, state
from tests.databases import is_waited_for
from tests.doors import OTHER
from tests.factories import EMBEDDER, PERSON, a_memory, carry_out, events_since, memory_row
from tests.patience import wait_until
from tests.samples import TENANT

WORDS = "Ada had a dog until the summer."


def three(app: Database) -> tuple[Add, Add, Add]:
    """A memory that two others deny, the oldest first."""
    old, new = dogs(app)
    third = a_memory("Ada has three dogs.")
    carry_out(app, third)
    dispute(app, (third, old))
    return old, new, third


def found(app: Database, **how: Any) -> tuple[list[MemoryConflict], UUID | None]:
    with app.tenant(TENANT) as tx:
        return conflicts.find(tx, **how)


def one(app: Database, add: Add) -> MemoryConflict:
    with app.tenant(TENANT) as tx:
        return conflicts.of_memory(tx, add.id)


def resolve(app: Database, add: Add, choice: conflicts.Choice, **fields: Any) -> ConflictResolution:
    decided = ConflictDecision(choice, **fields)
    vector = EMBEDDER.embed([decided.content])[0] if decided.content else None
    with app.tenant(TENANT) as tx:
        return conflicts.resolve(tx, TENANT, add.id, decided, vector, PERSON)


def refused(app: Database, add: Add, choice: conflicts.Choice, **fields: Any) -> list[tuple[str, str]]:
    with pytest.raises(Invalid) as error:
        resolve(app, add, choice, **fields)
    return [(problem.pointer, problem.detail) for problem in error.value.problems]


def test_memories_that_deny_each_other_through_others_are_one_conflict(app: Database) -> None:
    old, new, third = three(app)
    ([conflict], following) = found(app)
    assert conflict.ids == [third.id, new.id, old.id]
    assert conflict.id == third.id
    assert [(pair.from_id, pair.to_id, pair.reason) for pair in conflict.pairs] == [
        (new.id, old.id, "one denies the other"),
        (third.id, old.id, "one denies the other"),
    ]
    assert following is None
    assert all(one(app, add).ids == conflict.ids for add in (old, new, third))


def test_a_memory_whose_opponent_is_gone_is_a_conflict_of_its_own(app: Database) -> None:
    old, new = dogs(app)
    carry_out(app, Edit(old.id, 2, {"trust": Trust.CONFIRMED.value}, "sure"))
    ([conflict], _) = found(app)
    assert (conflict.ids, conflict.pairs) == ([new.id], [])


def test_a_memory_that_is_not_disputed_is_in_no_conflict(app: Database) -> None:
    cat = a_memory("Ada has a cat.")
    carry_out(app, cat)
    assert found(app) == ([], None)
    with pytest.raises(NotFound, match="in no conflict"):
        one(app, cat)
    with pytest.raises(NotFound, match="in no conflict"):
        resolve(app, cat, "reject")


def test_a_page_goes_on_where_the_one_before_it_ended(app: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    dogs(app)
    none, cat = a_memory("Ada has no cat."), a_memory("Ada has a cat.")
    carry_out(app, none, cat)
    dispute(app, (none, cat))
    (first, following) = found(app, limit=1)
    (rest, end) = found(app, limit=5, after=following)
    assert ([one.id for one in first], len(rest), end) == ([cat.id], 1, None)
    monkeypatch.setattr(conflicts, "LOOKED", 2)
    (looked, following) = found(app)
    assert [one.id for one in looked] == [cat.id]
    assert following == none.id, "the page has looked through as many as it may, and is not the last"


def test_another_tenant_sees_no_conflict_and_decides_none(app: Database) -> None:
    old, new = dogs(app)
    with app.tenant(OTHER) as tx:
        tenants.ensure(tx, OTHER)
        assert conflicts.find(tx) == ([], None)
        with pytest.raises(NotFound):
            conflicts.resolve(tx, OTHER, old.id, ConflictDecision("reject"), None, PERSON)
    assert state(app, old, new) == [("active", "disputed")] * 2


def test_each_memory_cites_its_latest_messages_and_no_more_than_the_bound(
    app: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = dogs(app)
    add = """
        INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote, at)
        SELECT :tenant, :id, 's1', 'x' || n, 'e', 'quote ' || n, now() + make_interval(hours => n)
        FROM generate_series(1, 4) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(add), {"tenant": TENANT, "id": old.id})
        monkeypatch.setattr(conflicts, "CITED", 3)
        cited = conflicts.cited(tx, [old.id, new.id, UUID(int=7)])
    assert [row.quote for row in cited[old.id]] == ["quote 4", "quote 3", "quote 2"]
    assert [row.quote for row in cited[new.id]] == ["Ada has no dog."]
    assert cited[UUID(int=7)] == []


def test_the_kept_one_holds_and_what_it_denies_ends_when_it_begins(app: Database) -> None:
    old, new, third = three(app)
    resolved = resolve(app, old, "keep", keep=new.id, reason="She said so.")
    assert resolved.ids == [third.id, new.id, old.id]
    assert state(app, new, old, third) == [
        ("active", "confirmed"),
        ("superseded", "disputed"),
        ("active", "candidate"),
    ]
    assert memory_row(app, old.id).valid_to == new.candidate.occurred_at
    with app.tenant(TENANT) as tx:
        versions = [memories.history(tx, add.id)[-1] for add in (new, old, third)]
        told = [event for event in events_since(tx, 0, 100) if event.event_type == "memory.superseded"]
    assert [version.reason for version in versions] == [
        "Someone has decided to keep it. She said so.",
        f"Gave way to memory {new.id}. She said so.",
        "What denied it gave way. She said so.",
    ]
    assert {version.change_id for version in versions} == {resolved.change_id}
    [event] = told
    assert (event.subject, event.payload["by"]) == (f"memory:{old.id}", str(new.id))


def test_what_another_one_still_denies_stays_disputed(app: Database) -> None:
    old, new, third = three(app)
    fourth = a_memory("Ada has no dogs at all.")
    carry_out(app, fourth)
    dispute(app, (fourth, third))
    resolve(app, old, "keep", keep=new.id)
    assert state(app, third, fourth) == [("active", "disputed")] * 2
    ([left], _) = found(app)
    assert set(left.ids) == {third.id, fourth.id}


def test_all_may_hold_each_in_its_time(app: Database) -> None:
    old, new = dogs(app)
    begin, end = NOW - timedelta(days=9), NOW + timedelta(days=1)
    resolve(app, old, "keep_all", periods={old.id: (begin, end), new.id: (end, None)})
    assert state(app, old, new) == [("active", "confirmed")] * 2
    assert [(row.valid_from, row.valid_to) for row in (memory_row(app, add.id) for add in (old, new))] == [
        (begin, end),
        (end, None),
    ]


def test_none_may_be_true(app: Database) -> None:
    old, new = dogs(app)
    resolve(app, old, "reject")
    assert {trust for _, trust in state(app, old, new)} == {"rejected"}
    assert found(app) == ([], None)


def test_all_are_merged_into_the_kept_one_which_is_confirmed(app: Database) -> None:
    old, new, third = three(app)
    resolved = resolve(app, third, "merge", keep=old.id, content=WORDS)
    assert state(app, old, new, third) == [("active", "confirmed"), ("archived", "disputed"), ("archived", "disputed")]
    assert memory_row(app, old.id).content == WORDS
    with app.tenant(TENANT) as tx:
        assert len(memories.evidence(tx, [old.id])[old.id]) == 3
        assert {memories.history(tx, add.id)[-1].change_id for add in (old, new, third)} == {resolved.change_id}


def test_a_merge_without_words_keeps_those_of_the_kept_one(app: Database) -> None:
    old, new = dogs(app)
    resolve(app, old, "merge", keep=new.id)
    assert memory_row(app, new.id).content == "Ada has no dog."


def test_memories_with_other_audience_labels_are_not_merged(app: Database) -> None:
    old, new = dogs(app)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET audience_labels = '{hr}' WHERE id = :id"), {"id": new.id})
    [(pointer, detail)] = refused(app, old, "merge", keep=old.id)
    assert (pointer, str(new.id) in detail, "labels" in detail) == ("/choice", True, True)
    assert state(app, old, new) == [("active", "disputed")] * 2


def test_one_memory_alone_is_not_merged(app: Database) -> None:
    old, new = dogs(app)
    carry_out(app, Edit(old.id, 2, {"trust": Trust.CONFIRMED.value}, "sure"))
    assert refused(app, new, "merge", keep=new.id) == [
        ("/choice", "there is nothing to merge with; choose `keep_all` or `reject`")
    ]


def test_a_memory_of_another_conflict_is_neither_kept_nor_dated(app: Database) -> None:
    old, new = dogs(app)
    stranger = uuid4()
    [(pointer, detail)] = refused(app, old, "keep", keep=stranger)
    assert (pointer, detail) == ("/keep", f"is not in this conflict; its memories are {new.id}, {old.id}")
    assert refused(app, old, "keep_all", periods={stranger: (None, None)}) == [
        (f"/periods/{stranger}", "is not in this conflict")
    ]


@pytest.mark.parametrize("versions", [{0: 1, 1: 2}, {0: 2}, {0: 2, 1: 2, 2: 1}])
def test_a_decision_about_others_than_were_seen_is_refused(app: Database, versions: dict[int, int]) -> None:
    ids = [*(add.id for add in dogs(app)), uuid4()]
    decided = ConflictDecision("reject", versions={ids[place]: version for place, version in versions.items()})
    with app.tenant(TENANT) as tx, pytest.raises(Conflict, match=r"[Ll]ook"):
        conflicts.resolve(tx, TENANT, ids[0], decided, None, PERSON)


def test_of_two_decisions_at_once_the_second_finds_no_conflict_any_more(app: Database) -> None:
    old, new = dogs(app)
    outcome: list[object] = []

    def second() -> None:
        try:
            outcome.append(resolve(app, old, "keep", keep=old.id))
        except NotFound as error:
            outcome.append(error)

    with app.tenant(TENANT) as tx:
        conflicts.resolve(tx, TENANT, old.id, ConflictDecision("keep", keep=new.id), None, PERSON)
        thread = threading.Thread(target=second)
        thread.start()
        wait_until(lambda: is_waited_for(app))
    thread.join()
    assert [type(one) for one in outcome] == [NotFound]
    assert state(app, new, old) == [("active", "confirmed"), ("superseded", "disputed")]


@pytest.mark.parametrize(
    ("decided", "pointers"),
    [
        (ConflictDecision("keep"), ["/keep"]),
        (ConflictDecision("merge"), ["/keep"]),
        (ConflictDecision("keep_all", keep=UUID(int=1)), ["/keep"]),
        (ConflictDecision("reject", keep=UUID(int=1), content="x"), ["/keep", "/content"]),
        (ConflictDecision("reject", periods={UUID(int=1): (None, None)}), ["/periods"]),
        (ConflictDecision("keep_all", periods={UUID(int=1): (NOW, NOW)}), [f"/periods/{UUID(int=1)}/valid_to"]),
        (ConflictDecision("keep_all", periods={UUID(int=1): (NOW, None)}), []),
        (ConflictDecision("merge", keep=UUID(int=1), content="x"), []),
    ],
)
def test_what_is_wrong_with_a_decision_is_named_with_its_place(decided: ConflictDecision, pointers: list[str]) -> None:
    assert [problem.pointer for problem in conflicts.problems(decided)] == pointers


def test_a_page_looks_at_the_disputed_alone_however_many_memories_there_are(settings: Settings, app: Database) -> None:
    """With pairs of disputed memories among so many others that the planner has a choice."""
    fill = """
        INSERT INTO memories (tenant_id, id, user_id, subject, kind, category, topic, content, statement_key, trust,
                              status, occurred_at, fade_at)
        SELECT :tenant, cast(lpad(to_hex(n), 32, '0') AS uuid), 'ada', 'x', 'semantic', 'fact', 'other', 'Fact ' || n,
               md5(n::text), CASE WHEN n > 19800 THEN 'disputed' ELSE 'candidate' END, 'active', :at, :at
        FROM generate_series(1, 20000) AS n
    """
    relate = """
        INSERT INTO relations (tenant_id, from_id, relation, to_id)
        SELECT :tenant, cast(lpad(to_hex(n), 32, '0') AS uuid),
               CASE WHEN n > 19800 THEN 'contradicts' ELSE 'follows' END, cast(lpad(to_hex(n - 1), 32, '0') AS uuid)
        FROM generate_series(2, 20000, 2) AS n
    """
    with app.tenant(TENANT) as tx:
        tx.execute(text(fill), {"tenant": TENANT, "at": NOW})
        tx.execute(text(relate), {"tenant": TENANT})
    databases.analyzed(settings, "memories", "relations", "verdicts")
    with app.tenant(TENANT) as tx:
        (listed, following) = conflicts.find(tx, limit=50)
        page = databases.carried_out(tx, str(conflicts._PAGE), {"after": None, "looked": 500, "most": 20})
        member = databases.carried_out(tx, str(conflicts._ONE), {"id": listed[0].id, "most": 20})
        pairs = databases.carried_out(tx, str(conflicts._PAIRS), {"ids": list(listed[0].ids)})
    assert (len(listed), {len(one.ids) for one in listed}, following) == (50, {2}, listed[-1].id)
    for nodes, memories_read, relations_read in ((page, 1_200, 900), (member, 8, 8), (pairs, 0, 4)):
        assert sum(databases.looked_at(nodes, "memories")) <= memories_read
        assert sum(databases.looked_at(nodes, "relations")) <= relations_read
