from __future__ import annotations

from core.storage.db import Database
from rules.registry.payload_fields import payloads_of
from tests.rules.registry.samples import emits, warned
from tests.rules.samples import a_leaf, a_rule
from tests.samples import TENANT, accept, event, said


def test_checked_types_are_known_by_their_declared_fields_and_what_lies_within() -> None:
    known = ["payload.role", "payload.metadata.plan.deep", "payload.tool_calls[0].name"]
    for field in known:
        assert warned(a_rule(conditions=a_leaf("exists", field=field))) == {}
    assert (
        "did you mean `payload.content`?"
        in warned(a_rule(conditions=a_leaf("==", 1, field="payload.contents")))["/conditions/field"]
    )


def test_the_events_of_the_service_are_known_too() -> None:
    assert (
        warned(a_rule(event_type="memory.*", conditions=a_leaf("exists", field="payload.by"), actions=[emits("x")]))
        == {}
    )
    found = warned(a_rule(event_type="rule.changed", conditions=a_leaf("==", 1, field="payload.nmae")))
    assert "/conditions/field" in found


def test_what_the_log_has_is_read_from_its_latest_events(app: Database) -> None:
    deep = {"order": {"items": [{"sku": 1}, {"name": "a"}]}, "user_id": "ada"}
    accept(app, event("order.placed", deep), event("order.refused", {"why": None}), event("other", {"x": 1}))
    accept(app, said("Hello.", session="s1"))
    with app.tenant(TENANT) as tx:
        found = payloads_of(tx, ["order.*"])
    assert set(found.seen) == {"order.placed", "order.refused"}
    assert ("order", "items", "[]", "name") in found.seen["order.placed"]
    assert ("why",) in found.seen["order.refused"]


def test_signs_of_a_pattern_are_signs_of_the_type_and_nothing_more(app: Database) -> None:
    accept(app, event("order_placed", {"a": 1}), event("orderXplaced", {"b": 1}))
    with app.tenant(TENANT) as tx:
        assert set(payloads_of(tx, ["order_placed"]).seen) == {"order_placed"}


def test_one_tenant_does_not_know_the_payloads_of_another(app: Database) -> None:
    accept(app, event("order.placed", {"secret": 1}), tenant="globex")
    with app.tenant(TENANT) as tx:
        assert payloads_of(tx, ["*"]).seen == {}


def test_what_was_published_is_read_from_the_log(app: Database) -> None:
    accept(app, event("order.placed", {}), event("other", {}))
    with app.tenant(TENANT) as tx:
        assert payloads_of(tx, ["order.*", "parcel.lost"]).published == {"order.placed"}
