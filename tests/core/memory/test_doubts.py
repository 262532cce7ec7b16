"""Memories that something said later may have ended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from core.memory import doubts, relations
from core.memory.changes import Add, Link, Unlink
from core.memory.doubts import Doubts
from core.storage.db import Database
from core.types import Relation
from tests.factories import PERSON, a_memory, carry_out
from tests.samples import TENANT

SPRING, AUTUMN = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 10, 1, tzinfo=UTC)


@pytest.fixture
def pair(app: Database) -> tuple[Add, Add]:
    """Return a memory and a later one that makes it doubtful."""
    old = a_memory("Ada drives to work.", occurred_at=SPRING)
    new = a_memory("Ada's bus gets her to work at eight.", occurred_at=AUTUMN)
    carry_out(app, old, new)
    carry_out(app, Link(new.id, Relation.MAY_SUPERSEDE, old.id))
    return old, new


def doubted(app: Database, *memories: Add) -> Doubts:
    with app.tenant(TENANT) as tx:
        places = [(e.session_id, e.message_id) for memory in memories for e in memory.candidate.evidence]
        return doubts.of(tx.execute(*doubts.statement([memory.id for memory in memories], places)))


def test_the_earlier_memory_is_doubted_and_the_later_is_not(app: Database, pair: tuple[Add, Add]) -> None:
    old, _ = pair
    assert doubted(app, *pair).memories == {old.id}
    with app.tenant(TENANT) as tx:
        assert doubts.of_memories(tx, [memory.id for memory in pair]) == {old.id}
        assert doubts.of_memories(tx, []) == frozenset()


@pytest.mark.parametrize("status", ["archived", "superseded"])
def test_what_follows_the_later_memory_does_not_begin_the_earlier_again(
    app: Database, pair: tuple[Add, Add], status: str
) -> None:
    old, new = pair
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE memories SET status = :status WHERE id = :id"), {"status": status, "id": new.id})
    assert doubted(app, old).memories == {old.id}


def test_a_message_that_says_both_is_not_doubted(app: Database, pair: tuple[Add, Add]) -> None:
    old, new = pair
    with app.tenant(TENANT) as tx:
        copied = """
            INSERT INTO evidence (tenant_id, memory_id, session_id, message_id, event_id, quote)
            SELECT tenant_id, :new, session_id, message_id, event_id, quote FROM evidence WHERE memory_id = :old
        """
        tx.execute(text(copied), {"old": old.id, "new": new.id})
    assert doubted(app, old) == Doubts({old.id})


@pytest.mark.parametrize(
    ("change", "of_the_earlier"),
    [
        ("trust = 'rejected'", False),
        ("status = 'superseded'", True),
        ("said_at = '2026-11-01Z'", True),
    ],
    ids=["the later is rejected", "the earlier is over", "the earlier was said again"],
)
def test_a_doubt_counts_while_the_later_memory_does(
    app: Database, pair: tuple[Add, Add], change: str, of_the_earlier: bool
) -> None:
    old, new = pair
    with app.tenant(TENANT) as tx:
        tx.execute(text(f"UPDATE memories SET {change} WHERE id = :id"), {"id": old.id if of_the_earlier else new.id})
    assert doubted(app, old).memories == frozenset()


def test_of_a_memory_that_is_over_in_part_the_messages_are_doubted(app: Database) -> None:
    old, new = a_memory("Ada drives …", occurred_at=SPRING), a_memory("Ada rows.", occurred_at=AUTUMN)
    carry_out(app, old, new)
    carry_out(app, Link(new.id, Relation.SUPERSEDES_PART, old.id))
    places = {(evidence.session_id, evidence.message_id) for evidence in old.candidate.evidence}
    assert doubted(app, old) == Doubts(frozenset(), frozenset(places))


def test_a_person_who_does_not_share_a_doubt_removes_it(app: Database, pair: tuple[Add, Add]) -> None:
    old, new = pair
    with app.tenant(TENANT) as tx:
        relations.remove(tx, TENANT, Unlink(new.id, Relation.MAY_SUPERSEDE, old.id), "both hold", PERSON)
    assert doubted(app, old).memories == frozenset()
