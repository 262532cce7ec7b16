from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import text

from core.storage.db import Database
from core.types import Category, Kind, Topic
from tests.core.search.searching import contents, remember, search
from tests.samples import TENANT, accept, said
from tests.works import Works


def test_filters_on_memories_let_through_what_fits(app: Database) -> None:
    accept(app, said("x", message_id="m1", id="e1"))
    remember(app, "Ada likes tea.", category=Category.PREFERENCE, topic=Topic.HABIT, importance=0.9, tags=("drink",))
    remember(app, "Ada went to Rome.", kind=Kind.EPISODIC, importance=0.2, tags=("trip", "italy"))
    only = {"include": frozenset({"memories"})}
    assert len(search(app, "Ada", **only)) == 2
    assert contents(search(app, "Ada", categories=["preference"], **only)) == ["Ada likes tea."]
    assert contents(search(app, "Ada", kinds=["episodic"], **only)) == ["Ada went to Rome."]
    assert contents(search(app, "Ada", topics=["habit", "finance"], **only)) == ["Ada likes tea."]
    assert contents(search(app, "Ada", tags=["italy", "france"], **only)) == ["Ada went to Rome."]
    assert contents(search(app, "Ada", min_importance=0.5, **only)) == ["Ada likes tea."]
    assert contents(search(app, "Ada", session_id="s1", **only)) != []
    assert search(app, "Ada", session_id="s2", **only) == []


def test_a_span_of_time_lets_through_what_happened_in_it(app: Database, works: Works) -> None:
    accept(app, said("tea in May", time="2026-05-01T00:00:00Z"), said("tea in June", time="2026-06-01T00:00:00Z"))
    for _ in range(2):
        june = {"since": datetime(2026, 5, 15, tzinfo=UTC)}
        assert contents(search(app, "tea", **june)) == ["tea in June"]
        assert contents(search(app, "tea", until=datetime(2026, 5, 15, tzinfo=UTC))) == ["tea in May"]
        works.settle(flush=False)


def test_a_session_lets_through_its_own_messages(app: Database, works: Works) -> None:
    accept(app, said("tea one"), said("tea two", session="s2"))
    assert contents(search(app, "tea", session_id="s2")) == ["tea two"]
    works.settle(flush=False)
    assert contents(search(app, "tea", session_id="s2")) == ["tea two"]


def test_what_is_asked_for_is_what_comes(app: Database) -> None:
    accept(app, said("Ada likes tea.", message_id="m1", id="e1"))
    remember(app, "Ada likes tea.")
    kinds = {
        name: {f.ranked.hit.type for f in search(app, "tea", include=frozenset({name}))}
        for name in ("memories", "messages")
    }
    assert kinds == {"memories": {"memory"}, "messages": {"message"}}
    assert search(app, "tea", include=frozenset()) == []


def test_a_least_similarity_leaves_out_what_is_below_or_has_no_vector(app: Database, works: Works) -> None:
    accept(app, said("A ship sails."), said("Bread is baked."))
    works.settle(flush=False)
    accept(app, said("Another ship sails too."))
    assert contents(search(app, "ship sails", min_similarity=0.5)) == ["A ship sails."]


def test_superseded_rejected_and_expired_memories_are_not_found(app: Database) -> None:
    accept(app, said("x", message_id="m1", id="e1"))
    adds = [remember(app, f"Ada likes tea {n}.") for n in ("one", "two", "three", "four")]
    spoil = ["status = 'superseded'", "trust = 'rejected'", "expires_at = now() - interval '1 s'"]
    with app.tenant(TENANT) as tx:
        for add, change in zip(adds, spoil, strict=False):
            tx.execute(text(f"UPDATE memories SET {change} WHERE id = :id"), {"id": add.id})
    assert contents(search(app, "tea", include=frozenset({"memories"}))) == ["Ada likes tea four."]
