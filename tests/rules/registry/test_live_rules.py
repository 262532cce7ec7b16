from __future__ import annotations

from core.storage.db import Database
from core.tenancy import tenants
from rules.registry import store
from rules.registry.live_rules import LiveRules
from tests.rules.registry.stored import DEFAULTS, names, refresh, save
from tests.rules.samples import a_document, an_event
from tests.samples import TENANT


def test_a_router_knows_within_a_look_who_allows_high_risk(app: Database, queue: Database, book: LiveRules) -> None:
    assert not book.allows_high_risk(TENANT)
    for allowed in (True, False):
        with app.tenant(TENANT) as tx:
            tenants.allow_high_risk(tx, TENANT, allowed=allowed)
        refresh(book, queue)
        assert book.allows_high_risk(TENANT) is allowed
        assert not book.allows_high_risk("nobody")


def test_a_router_sees_an_edit_a_deletion_and_a_return(app: Database, queue: Database, book: LiveRules) -> None:
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
    patient = LiveRules(3600)
    refresh(patient, queue)
    save(app, a_document())
    refresh(patient, queue)
    assert "r" not in names(patient)


def test_a_router_never_sees_half_of_an_import(app: Database, queue: Database, book: LiveRules) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="one"), author="test")
        refresh(book, queue)
        store.save(tx, TENANT, a_document(name="two"), author="test")
        refresh(book, queue)
        assert names(book) == DEFAULTS
    refresh(book, queue)
    assert names(book) == {*DEFAULTS, "one", "two"}
