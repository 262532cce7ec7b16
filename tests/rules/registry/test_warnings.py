from __future__ import annotations

import json

from sqlalchemy import text

from core.storage.db import Database
from rules.document.schema import Rule
from rules.registry import folder, warnings
from rules.registry.limits import Allowed
from rules.registry.live_rules import LiveRules
from tests.rules.registry.samples import emits
from tests.rules.registry.stored import save
from tests.rules.samples import a_document, a_leaf, a_rule
from tests.samples import TENANT, accept, event

BACK = a_document(name="back", event_type="b", actions=[emits("a")])
FORTH = a_document(name="forth", event_type="a", actions=[emits("b")])


def warned(app: Database, rule: Rule) -> dict[str, str]:
    with app.tenant(TENANT) as tx:
        return {one.pointer: one.detail for one in warnings.of_rule(tx, rule)}


def planned(app: Database, *documents: object) -> dict[str, list[str]]:
    """The places of the warnings about each rule of an import."""
    with app.tenant(TENANT) as tx:
        steps = folder.plan(tx, {"rules.json": json.dumps(documents)}, Allowed(), prune=False)
        return {name: [one.pointer for one in found] for name, found in warnings.of_plan(tx, steps).items()}


def test_a_rule_is_held_against_those_in_force(app: Database) -> None:
    accept(app, event("a"), event("b"))
    forth = a_rule(**FORTH)
    assert warned(app, forth) == {}
    save(app, BACK)
    assert list(warned(app, forth)) == ["/actions/0"]


def test_a_rule_is_held_against_the_payloads_of_the_log(app: Database) -> None:
    rule = a_rule(event_type="order.placed", conditions=a_leaf(">", 5, field="payload.totl"), actions=[emits("x.y")])
    assert list(warned(app, rule)) == ["/event_type"], "nobody publishes it, so that its fields are not known"
    accept(app, event("order.placed", {"total": 7}))
    assert "did you mean `payload.total`?" in warned(app, rule)["/conditions/field"]


def test_rules_of_one_import_are_held_against_each_other(app: Database) -> None:
    accept(app, event("a"), event("b"))
    assert planned(app, BACK, FORTH) == {"back": ["/actions/0"], "forth": ["/actions/0"]}


def test_what_an_import_changes_counts_as_it_will_be_and_not_as_it_is(app: Database) -> None:
    accept(app, event("a"), event("b"))
    save(app, BACK)
    assert planned(app, {**BACK, "actions": [emits("c")]}, FORTH) == {"back": [], "forth": []}


def test_a_stored_rule_that_cannot_be_read_takes_no_part(app: Database) -> None:
    save(app, BACK)
    with app.tenant(TENANT) as tx:
        tx.execute(text('UPDATE rules SET document = \'{"name": "back", "from": "later"}\' WHERE name = \'back\''))
    accept(app, event("a"), event("b"))
    assert warned(app, a_rule(**FORTH)) == {}


def test_a_stored_rule_whose_target_is_gone_takes_no_part_as_routers_ignore_it(app: Database, queue: Database) -> None:
    save(app, BACK)
    accept(app, event("a"), event("b"))
    assert list(warned(app, a_rule(**FORTH))) == ["/actions/0"]
    gone = {"action_type": "run_agent", "target": "pager"}
    with app.tenant(TENANT) as tx:
        with_gone = text("UPDATE rules SET document = jsonb_insert(document, '{actions,0}', cast(:gone AS jsonb))")
        tx.execute(with_gone, {"gone": json.dumps(gone)})
    book = LiveRules(0)
    with queue.queue() as tx:
        book.refresh(tx)
    assert book.of(TENANT).get("back") is None
    assert warned(app, a_rule(**FORTH)) == {}
    assert planned(app, FORTH) == {"forth": []}
