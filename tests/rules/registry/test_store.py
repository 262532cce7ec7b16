from __future__ import annotations

import json
import threading
from unittest.mock import ANY

import pytest
from sqlalchemy import text

from core.errors import Conflict, Invalid, NotFound
from core.events import log
from core.storage.db import Database
from core.types import Json
from rules.registry import defaults, store
from rules.registry.limits import Allowed
from rules.registry.live_rules import LiveRules
from rules.registry.store import StoredRule
from tests.patience import wait_until
from tests.rules.registry.stored import DEFAULTS, names, refresh, save
from tests.rules.samples import RUN, a_document, a_leaf
from tests.samples import TENANT


def test_a_tenant_begins_with_the_default_rules(app: Database, book: LiveRules) -> None:
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
        (a_document(actions=[{"action_type": "webhook", "url": "https://a.org"}]), "/actions/0/url"),
        (a_document(risk_level="high"), "/risk_level"),
        (a_document(conditions=a_leaf("matches", "[ab]*a[ab]{900}c")), "/conditions"),
        (a_document(name="schema"), "/name"),
        (a_document(name=".."), "/name"),
        (a_document(actions=[{**RUN, "params": {"a": float("inf")}}]), "/actions/0/params/a"),
        (a_document(description="a\x00b"), "/description"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_with_its_place(app: Database, document: object, pointer: str) -> None:
    with app.tenant(TENANT) as tx, pytest.raises(Invalid) as refused:
        store.save(tx, TENANT, document, author="test")  # type: ignore[arg-type]
    assert pointer in [problem.pointer for problem in refused.value.problems]


def announced(app: Database) -> list[tuple[str, Json]]:
    with app.tenant(TENANT) as tx:
        return [(e.subject or "", e.payload) for e in reversed(log.find(tx, event_type="rule.changed"))]


def test_every_edit_is_announced_and_a_new_tenant_is_none(app: Database) -> None:
    assert announced(app) == []
    save(app, a_document())
    save(app, a_document())
    save(app, a_document(priority=1))
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "r", author="test", comment="no longer")
        store.rollback(tx, TENANT, "r", 1, author="test")
    assert [subject for subject, _ in announced(app)] == ["rule:r"] * 4
    said = [payload for _, payload in announced(app)]
    assert [payload["change"] for payload in said] == ["created", "changed", "deleted", "rolled back"]
    assert said[2] == {"rule": "r", "version": 3, "author": "test", "comment": "no longer", "change": "deleted"}


def test_a_rollback_is_a_new_version_that_says_what_an_old_one_said(app: Database) -> None:
    save(app, a_document())
    save(app, a_document(priority=1))
    with app.tenant(TENANT) as tx:
        back = store.rollback(tx, TENANT, "r", 1, author="ada", if_version=2)
        assert (back.version, back.document) == (3, a_document())
        newest = store.versions(tx, "r", limit=1)[0]
        assert (newest.author, newest.comment) == ("ada", "back to version 1")
        assert store.rollback(tx, TENANT, "r", 1, author="ada").version == 3


def test_a_rollback_to_nothing_is_none(app: Database) -> None:
    save(app, a_document())
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "r", author="test")
        for version in (2, 7):
            with pytest.raises(NotFound):
                store.rollback(tx, TENANT, "r", version, author="test")
        with pytest.raises(Conflict):
            store.rollback(tx, TENANT, "r", 1, author="test", if_version=2)
        assert store.rollback(tx, TENANT, "r", 1, author="test", if_version=0).version == 3


def test_a_rollback_to_what_is_no_longer_allowed_is_refused(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(risk_level="high"), author="test", allowed=Allowed(high_risk=True))
        store.save(tx, TENANT, a_document(), author="test")
        with pytest.raises(Invalid):
            store.rollback(tx, TENANT, "r", 1, author="test")


def test_each_version_shows_what_it_changed(app: Database) -> None:
    save(app, a_document())
    save(app, a_document(priority=1))
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "r", author="test")
        third, second, first = store.versions(tx, "r")
        assert [v.version for v in store.versions(tx, "r", before=3, limit=1)] == [2]
    assert '+  "priority": 1' in second.diff
    assert first.diff.startswith("--- /dev/null")
    assert "+++ /dev/null" in third.diff


def test_a_number_that_becomes_true_is_a_change(app: Database) -> None:
    save(app, a_document(conditions=a_leaf("==", 1)))
    assert save(app, a_document(conditions=a_leaf("==", True))) == 2


def test_a_tenant_has_as_many_rules_as_it_may_have_and_no_more(app: Database) -> None:
    few = Allowed(rules=len(DEFAULTS) + 1)
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(name="one"), author="test", allowed=few)
        with pytest.raises(Conflict, match="IMPRINT_RULES_PER_TENANT"):
            store.save(tx, TENANT, a_document(name="two"), author="test", allowed=few)
        store.save(tx, TENANT, a_document(name="one", priority=1), author="test", allowed=few)
        store.delete(tx, TENANT, "one", author="test")
        store.save(tx, TENANT, a_document(name="two"), author="test", allowed=few)
        with pytest.raises(Conflict):
            store.rollback(tx, TENANT, "one", 1, author="test", allowed=few)


def test_of_two_who_make_the_same_rule_at_once_one_is_told(app: Database) -> None:
    outcome: list[object] = []

    def second() -> None:
        try:
            outcome.append(save(app, a_document(priority=2), if_version=0))
        except Conflict as error:
            outcome.append(error)

    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, a_document(priority=1), author="test", if_version=0)
        thread = threading.Thread(target=second)
        thread.start()
        wait_until(lambda: is_waited_for(app))
    thread.join()
    assert [type(one) for one in outcome] == [Conflict]


def is_waited_for(app: Database) -> bool:
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%rules/%'"
    with app.tenant(TENANT) as tx:
        return bool(tx.execute(text(waiting)).scalar_one())


def test_default_rules_come_once_and_a_deleted_one_stays_deleted(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        store.delete(tx, TENANT, "notify_important", author="test")
        assert store.install_defaults(tx, TENANT) == []
    with app.tenant("globex") as tx:
        store.save(tx, "globex", a_document(name="notify_important"), author="test")
        assert set(store.install_defaults(tx, "globex")) == DEFAULTS - {"notify_important"}
        assert store.get(tx, "notify_important").document == a_document(name="notify_important")


def test_a_default_rule_that_nobody_edited_follows_its_default(app: Database) -> None:
    default = next(one for one in defaults.load() if one["name"] == "forget_on_request")
    older = default | {"description": "An earlier default."}
    with app.tenant("globex") as tx:
        store.save(tx, "globex", older, author=store.DEFAULTS_AUTHOR)
        store.save(tx, "globex", a_document(name="notify_important"), author="ada")
        store.install_defaults(tx, "globex")
        assert store.get(tx, "forget_on_request") == StoredRule("forget_on_request", 2, default)
        assert store.get(tx, "notify_important").version == 1
        store.install_defaults(tx, "globex")
        assert store.get(tx, "forget_on_request").version == 2


def test_rules_of_one_tenant_decide_nothing_for_another(app: Database, queue: Database, book: LiveRules) -> None:
    with app.tenant("globex") as tx:
        store.save(tx, "globex", a_document(name="theirs"), author="test")
    refresh(book, queue)
    assert names(book, "globex") == {"theirs"}
    assert "theirs" not in names(book)
    assert names(book, "nobody") == set()


def test_an_import_that_fails_leaves_nothing(app: Database, queue: Database, book: LiveRules) -> None:
    with pytest.raises(Invalid), app.tenant(TENANT) as tx:  # noqa: PT012 - the second one fails
        store.save(tx, TENANT, a_document(name="one"), author="test")
        store.save(tx, TENANT, a_document(name="two", event_type=5), author="test")
    refresh(book, queue)
    assert names(book) == DEFAULTS


def test_two_edits_that_commit_in_another_order_than_they_began_are_both_seen(
    app: Database, queue: Database, book: LiveRules
) -> None:
    with app.tenant(TENANT) as early:
        store.save(early, TENANT, a_document(name="early"), author="test")
        # Edits of one tenant wait for each other; the numbers that tell of them are those of all tenants.
        with app.tenant("globex") as late:
            store.save(late, "globex", a_document(name="late"), author="test")
        refresh(book, queue)
        assert (names(book), book.of("globex").get("late")) == (DEFAULTS, (ANY, 1))
    refresh(book, queue)
    assert names(book) == {*DEFAULTS, "early"}


@pytest.mark.parametrize(
    "spoiled", [{"name": "bad"}, [], 5, a_document(name="bad", actions=[{**RUN, "target": "gone"}])]
)
def test_an_unreadable_rule_leaves_the_others_in_force(
    app: Database, queue: Database, book: LiveRules, spoiled: object
) -> None:
    save(app, a_document(name="bad"))
    with app.tenant(TENANT) as tx:
        values = "document = cast(:document AS jsonb), revision = nextval('rule_revision')"
        update = text(f"UPDATE rules SET {values} WHERE name = 'bad'")
        tx.execute(update, {"document": json.dumps(spoiled)})
    refresh(book, queue)
    assert names(book) == DEFAULTS
