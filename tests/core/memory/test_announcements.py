"""Events about changes carry the category and what a memory said before and says now, and nothing of what is erased."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from core.config import Settings
from core.memory import memories
from core.memory.changes import Add, Archive, Confirm, Dispute, Edit, Merge, Pin, Replace, Restore
from core.memory.identity import KnownMemory
from core.storage.db import Database
from core.types import Category, Json, Trust
from rules.registry import store
from tests.core.changing import EMBEDDER, Bench, a_candidate, an_add
from tests.core.erasing import a_word, erased, holding, rows, told, user_erased
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, said
from tests.works import Works


@pytest.fixture
def bench(app: Database) -> Bench:
    return Bench(app)


def liking(what: str, day: int = 0) -> Add:
    fields = {"category": Category.PREFERENCE, "attribute": "preference.drink", "value": what}
    return an_add(f"Ada's drink is {what}.", day, **fields)


def known(bench: Bench, memory_id: UUID) -> KnownMemory:
    return memories.known_of(bench.row(memory_id))


def words(what: str) -> Json:
    return {"content": f"Ada's drink is {what}.", "attribute": "preference.drink", "value": what}


def test_what_took_anothers_place_says_both(app: Database, bench: Bench) -> None:
    tea, mate = liking("tea"), liking("mate", 1)
    bench.apply(tea)
    bench.apply(replace(mate, supersedes=known(bench, tea.id)))
    (payload,) = told(app, "memory.superseded")
    assert (payload["category"], payload["by"]) == ("preference", str(mate.id))
    assert (payload["old"], payload["new"]) == (words("tea"), words("mate"))


def test_each_change_says_the_category_and_the_words_before_and_after(app: Database, bench: Bench) -> None:
    add = an_add("Ada keeps bees.", category=Category.PREFERENCE)
    bench.apply(add)
    more = a_candidate("Ada keeps bees at home.", 1, category=Category.PREFERENCE)
    vector = EMBEDDER.embed([more.content])[0]
    bench.apply(Confirm(known(bench, add.id), a_candidate("Ada keeps bees.", 1), "again"))
    bench.apply(Merge(known(bench, add.id), more, "more", vector))
    bench.apply(Edit(add.id, 3, {"content": "Ada keeps many bees."}, "edit", vector))
    bench.apply(Pin(add.id, 4, pinned=True, reason="pin"))
    bench.apply(Replace(known(bench, add.id), replace(more, content="Ada keeps few bees."), "right", vector))
    bench.apply(Archive(add.id, 6, "old"))
    bench.apply(Restore(add.id, 7, "back"))
    changed = [
        (one["category"], one.get("old", {}).get("content"), one.get("new", {}).get("content"))
        for kind in ("memory.merged", "memory.updated", "memory.archived", "memory.restored")
        for one in told(app, kind)
    ]
    home, many, few = "Ada keeps bees at home.", "Ada keeps many bees.", "Ada keeps few bees."
    assert changed == [
        ("preference", "Ada keeps bees.", home),
        ("preference", "Ada keeps bees.", "Ada keeps bees."),
        ("preference", home, many),
        ("preference", many, many),
        ("preference", many, few),
        ("preference", few, None),
        ("preference", None, few),
    ]


def test_a_dispute_says_what_is_denied_and_what_denies_it(app: Database, bench: Bench) -> None:
    likes, hates = an_add("Ada likes tea.", category=Category.PREFERENCE), an_add("Ada hates tea.", 1)
    bench.apply(likes)
    bench.apply(hates)
    bench.apply(Dispute(known(bench, hates.id), known(bench, likes.id), "denied"))
    (payload,) = told(app, "memory.conflicted")
    assert (payload["category"], payload["with"]) == ("preference", str(hates.id))
    assert (payload["old"]["content"], payload["new"]["content"]) == ("Ada likes tea.", "Ada hates tea.")


def test_a_quarantined_text_is_passed_on_by_no_event(app: Database, bench: Bench) -> None:
    word = a_word()
    add = an_add("Ada keeps bees.")
    bench.apply(add)
    bench.apply(Edit(add.id, 1, {"content": f"Ada {word}.", "trust": Trust.QUARANTINED.value}, "set apart"))
    assert all(word not in str(payload) for payload in told(app, "memory.updated"))


@pytest.mark.parametrize("which", ["old", "new"])
def test_events_about_a_change_hold_nothing_of_what_is_erased(app: Database, bench: Bench, which: str) -> None:
    word, other = a_word(), a_word()
    tea, mate = liking(word), liking(other, 1)
    bench.apply(tea)
    bench.apply(replace(mate, supersedes=known(bench, tea.id)))
    assert "events" in holding(app, word)
    assert "events" in holding(app, other)
    gone, kept = (tea, word), (mate, other)
    if which == "new":
        gone, kept = kept, gone
    erased(app, gone[0].id)
    assert holding(app, gone[1]) == []
    assert bench.row(kept[0].id).value == kept[1]


CHANGED = a_document(
    name="preference_changed",
    event_type=["memory.updated", "memory.superseded"],
    conditions={"all": [{"field": "payload.category", "op": "==", "value": "preference"}]},
    actions=[
        {
            "action_type": "emit",
            "event_type": "preference.changed",
            "payload": {
                "user_id": "{{payload.user_id}}",
                "was": "{{payload.old.value}}",
                "is": "{{payload.new.value}}",
            },
        }
    ],
)


@pytest.fixture
def teas(app: Database, works: Works) -> tuple[str, str]:
    """A preference that has changed, with a rule that says so: what was preferred, and what is."""
    was, now = a_word(), a_word()
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, CHANGED, author="test")
    for minute, line in enumerate(("I live in Porto.", f"My favorite tea is {was}.", f"My favorite tea is {now}.")):
        accept(app, said(line, time=f"2026-11-21T12:0{minute}:00+00:00"))
        works.settle()
    return was, now


def test_a_rule_acts_when_a_preference_changes_and_on_nothing_else(app: Database, teas: tuple[str, str]) -> None:
    was, now = teas
    assert told(app, "preference.changed") == [{"user_id": "ada", "was": was, "is": now}]


def test_what_a_rule_passed_on_goes_with_the_memory_and_with_the_user(
    app: Database, teas: tuple[str, str], settings: Settings
) -> None:
    was, now = teas
    (current,) = rows(app, "SELECT id FROM memories WHERE value = :now AND status = 'active'", now=now)
    erased(app, current.id, evidence=True)
    assert holding(app, now) == []
    user_erased(app, settings)
    assert holding(app, was) == []
