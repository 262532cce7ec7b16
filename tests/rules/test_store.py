from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from core.db import Database
from core.errors import Conflict, Invalid, NotFound
from core.types import Json
from rules import defaults, store
from rules.store import Book
from tests.rules.samples import RUN, a_document, an_event
from tests.samples import TENANT


@pytest.fixture
def book(queue: Database) -> Book:
    """What a router knows, looked up at every refresh."""
    known = Book(0)
    refresh(known, queue)
    return known


def refresh(book: Book, queue: Database) -> None:
    with queue.queue() as tx:
        book.refresh(tx)


def save(app: Database, document: Json, if_version: int | None = None) -> int:
    with app.tenant(TENANT) as tx:
        return store.save(tx, TENANT, document, author="test", if_version=if_version).version


def names(book: Book, tenant: str = TENANT) -> set[str]:
    return {rule.name for rule, _ in book.of(tenant).rules}


DEFAULTS = {str(document["name"]) for document in defaults.load()}


def test_a_tenant_begins_with_the_default_rules(app: Database, book: Book) -> None:
    with app.tenant(TENANT) as tx:
        assert {stored.name for stored in store.in_force(tx)} == DEFAULTS
    assert names(book) == DEFAULTS


def test_each_save_is_a_version_and_the_same_again_is_none(app: Database) -> None:
    assert save(app, a_document()) == 1
    assert save(app, a_document(description="changed")) == 2
    assert save(app, a_document(description="changed")) == 2
    with app.tenant(TENANT) as tx:
        assert [(v.version, v.author) for v in store.versions(tx, "r")] == [(2, "test"), (1, "test")]
        assert store.document_of(tx, TENANT, "r", 1) == a_document()
        assert store.document_of(tx, TENANT, "r", 9) is None


def test_an_edit_of_an_old_version_is_a_conflict(app: Database) -> None:
    save(app, a_document())
    save(app, a_document(description="theirs"), if_version=1)
    with pytest.raises(Conflict):
        save(app, a_document(description="mine"), if_version=1)
    with pytest.raises(Conflict):
        save(app, a_document(name="new"), if_version=1)
    assert save(app, a_document(name="new"), if_version=0) == 1


def test_what_is_deleted_is_out_of_force_and_its_versions_stay(app: Database) -> None:
    save(app, a_document())
    with app.tenant(TENANT) as tx, pytest.raises(Conflict):
        store.delete(tx, TENANT, "r", author="test", if_version=7)
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "r", author="test", if_version=1)
    with app.tenant(TENANT) as tx:
        with pytest.raises(NotFound):
            store.get(tx, "r")
        with pytest.raises(NotFound):
            store.delete(tx, TENANT, "r", author="test")
        assert [v.document for v in store.versions(tx, "r")] == [None, a_document()]
    assert save(app, a_document(), if_version=0) == 3


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ([], ""),
        ({}, "/name"),
        (a_document(name="No Spaces"), "/name"),
        (a_document(actions=[{**RUN, "target": "memory_eater"}]), "/actions/0/target"),
        (a_document(flow={"cooldown": {"seconds": 3}}), "/flow/cooldown"),
        (a_document(action_mode="approve"), "/action_mode"),
        (a_document(conditions={"all": [{"field": "payload.x", "op": "means", "value": "y"}]}), "/conditions/all/0/op"),
        (a_document(description="a\x00b"), "/description"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_with_its_place(app: Database, document: object, pointer: str) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid) as refused:
        store.save(tx, TENANT, document, author="test")  # type: ignore[arg-type]
    assert pointer in [problem.pointer for problem in refused.value.problems]


def test_a_router_sees_an_edit_a_deletion_and_a_return(app: Database, queue: Database, book: Book) -> None:
    save(app, a_document())
    assert "r" not in names(book)
    refresh(book, queue)
    assert "r" in names(book)
    save(app, a_document(enabled=False))
    refresh(book, queue)
    assert [v.held_by for v in book.of(TENANT).decide(an_event()) if v.name == "r"] == ["disabled"]
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "r", author="test")
    refresh(book, queue)
    assert "r" not in names(book)
    save(app, a_document(enabled=False))
    refresh(book, queue)
    assert "r" in names(book)


def test_a_router_does_not_look_more_often_than_it_is_told(app: Database, queue: Database) -> None:
    patient = Book(3600)
    refresh(patient, queue)
    save(app, a_document())
    refresh(patient, queue)
    assert "r" not in names(patient)


def test_rules_of_one_tenant_decide_nothing_for_another(app: Database, queue: Database, book: Book) -> None:
    with app.tenant("globex") as tx:
        store.save(tx, "globex", a_document(name="theirs"), author="test")
    refresh(book, queue)
    assert names(book, "globex") == {"theirs"}
    assert "theirs" not in names(book)
    assert names(book, "nobody") == set()


def test_a_router_never_sees_half_of_an_import(app: Database, queue: Database, book: Book) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="one"), author="test")
        refresh(book, queue)
        store.save(tx, TENANT, a_document(name="two"), author="test")
        refresh(book, queue)
        assert names(book) == DEFAULTS
    refresh(book, queue)
    assert names(book) == {*DEFAULTS, "one", "two"}


def test_an_import_that_fails_leaves_nothing(app: Database, queue: Database, book: Book) -> None:
    with pytest.raises(Invalid), app.tenant(TENANT) as tx:  # noqa: PT012 - the second one fails
        store.save(tx, TENANT, a_document(name="one"), author="test")
        store.save(tx, TENANT, a_document(name="two", event_type=5), author="test")
    refresh(book, queue)
    assert names(book) == DEFAULTS


def test_two_edits_that_commit_in_another_order_than_they_began_are_both_seen(
    app: Database, queue: Database, book: Book
) -> None:
    with app.tenant(TENANT) as early:
        store.save(early, TENANT, a_document(name="early"), author="test")
        save(app, a_document(name="late"))
        refresh(book, queue)
        assert names(book) == {*DEFAULTS, "late"}
    refresh(book, queue)
    assert names(book) == {*DEFAULTS, "early", "late"}


@pytest.mark.parametrize(
    "spoiled", [{"name": "bad"}, [], 5, a_document(name="bad", actions=[{**RUN, "target": "gone"}])]
)
def test_an_unreadable_rule_leaves_the_others_in_force(
    app: Database, queue: Database, book: Book, spoiled: object
) -> None:
    save(app, a_document(name="bad"))
    with app.tenant(TENANT) as tx:
        values = "document = cast(:document AS jsonb), revision = nextval('rule_revision')"
        update = text(f"UPDATE rules SET {values} WHERE name = 'bad'")
        tx.execute(update, {"document": json.dumps(spoiled)})
    refresh(book, queue)
    assert names(book) == DEFAULTS
