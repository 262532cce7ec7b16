"""What the rules made of one event; the answer that shows it is tested in `tests/api/test_trace.py`."""

from __future__ import annotations

from typing import Any
from unittest import mock

from sqlalchemy import text

from core.events import log
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from rules.engine.similarity import Meanings
from rules.registry import event_trace, run_now, store
from rules.registry.event_trace import TracedRule
from rules.registry.run_now import RunRequest
from tests.rules.registry.samples import emits
from tests.rules.registry.stored import save
from tests.rules.samples import NOON, a_document, a_leaf
from tests.samples import TENANT, accept, event
from tests.works import Works

LARGE = a_document(event_type="order.placed", conditions=a_leaf(">", 5, field="payload.total"), actions=[emits("x.y")])


def placed(app: Database, total: int) -> str:
    return accept(app, event("order.placed", {"total": total})).ids[0][0]


def traced(app: Database, event_id: str) -> dict[str, TracedRule]:
    """The rules considered for an event, but for the default ones."""
    with app.tenant(TENANT) as tx:
        consideration = event_trace.read(tx, log.get(tx, event_id))
    return {one.rule: one for one in event_trace.explain(consideration, Meanings(HashEmbedder()))}


def verdicts(app: Database, event_id: str) -> dict[str, str]:
    return {name: one.verdict for name, one in traced(app, event_id).items()}


def test_before_the_router_has_seen_it_nothing_is_decided(app: Database) -> None:
    save(app, LARGE)
    assert verdicts(app, placed(app, 9)) == {"r": "not decided yet"}


def test_a_rule_that_acted_and_one_that_did_not_show_the_values_they_saw(app: Database, works: Works) -> None:
    save(app, LARGE)
    ids = [placed(app, total) for total in (9, 3)]
    works.settle()
    fired, missed = (traced(app, one)["r"] for one in ids)
    assert (fired.verdict, missed.verdict) == ("fired", "no match")
    assert [one.tree and one.tree["actual"] for one in (fired, missed)] == [9, 3]


def test_rules_for_other_types_and_of_other_schedules_are_not_considered(app: Database, works: Works) -> None:
    save(app, LARGE)
    save(app, a_document(name="other", event_type="order.refused"))
    nightly = {"schedule": {"cron": "0 3 * * *", "timezone": "UTC"}, "actions": LARGE["actions"]}
    for name in ("one", "two"):
        save(app, {"name": name, **nightly})
    with app.tenant(TENANT) as tx:
        (due,) = [stored for stored in store.in_force(tx) if stored.name == "one"]
        (tick,) = run_now.run(tx, TENANT, due, RunRequest("key:1", NOON, 10)).ids
    one = placed(app, 9)
    works.settle()
    assert verdicts(app, one) == {"r": "fired"}
    assert verdicts(app, tick) == {"one": "fired"}


def test_an_event_is_explained_by_the_rules_of_its_time(app: Database, works: Works) -> None:
    save(app, LARGE)
    one = placed(app, 9)
    works.settle()
    save(app, {**LARGE, "conditions": a_leaf(">", 50, field="payload.total")})
    save(app, a_document(name="later", event_type="order.placed", actions=[emits("x.y")]))
    found = traced(app, one)
    assert found.keys() == {"r"}
    assert (found["r"].version, found["r"].verdict) == (1, "fired")
    assert found["r"].tree is not None
    assert found["r"].tree["expected"] == 5


def test_a_rule_that_this_version_cannot_read_says_so(app: Database) -> None:
    save(app, LARGE)
    broken: dict[str, Any] = {"broken": '{"name": "r", "event_type": "order.placed", "from": "later"}'}
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rule_versions SET document = cast(:broken AS jsonb) WHERE name = 'r'"), broken)
    found = traced(app, placed(app, 9))["r"]
    assert (found.verdict, found.tree) == ("unreadable", None)
    assert "from" in (found.reason or "")


def test_a_router_that_does_not_know_an_edit_yet_is_traced_with_the_version_it_knew(
    app: Database, works: Works
) -> None:
    save(app, LARGE)
    works.settle()
    book = works.router.book
    with mock.patch.object(type(book), "is_due", False):
        save(app, LARGE | {"conditions": a_leaf(">", 1, field="payload.total")})
        save(app, LARGE | {"name": "younger", "conditions": a_leaf(">", 1, field="payload.total")})
        early = placed(app, 3)
        works.settle()
    book.expect([TENANT])
    late = placed(app, 3)
    works.settle()
    old, new = (traced(app, one) for one in (early, late))
    assert (old["r"].verdict, old["r"].version, old["r"].tree and old["r"].tree["result"]) == ("no match", 1, False)
    assert "younger" not in old
    assert (new["r"].verdict, new["r"].version, new["younger"].verdict) == ("fired", 2, "fired")
