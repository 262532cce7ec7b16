from __future__ import annotations

import pytest
from sqlalchemy import text

from core.storage.db import Database
from rules.registry import store
from rules.registry.limits import Allowed
from tests.rules.samples import RUN, a_document, a_rule
from tests.samples import TENANT, accept, event
from tests.workers.routing.routed import EMIT, rows, save
from tests.works import Works
from workers.routing import action_dispatches, router


def test_templates_are_filled_in_from_the_event(app: Database, queue: Database, works: Works) -> None:
    save(app, a_document(event_type="order.placed", actions=[EMIT]))
    accept(app, event(payload={"id": 7}))
    works.settle()
    emitted = rows(queue, "events", "seq")[-1]
    assert (emitted.event_type, emitted.payload, emitted.hop, emitted.source) == (
        "order.checked",
        {"id": 7},
        1,
        "imprint",
    )


def test_a_rule_in_shadow_leaves_a_dispatch_that_nobody_runs(app: Database, queue: Database, works: Works) -> None:
    save(app, a_document(event_type="order.placed", actions=[EMIT], action_mode="shadow"))
    accept(app, event())
    assert router.route(works.router) == (1, [])
    (dispatch,) = rows(queue, "dispatches")
    assert (dispatch.status, dispatch.wake_at) == ("shadow", None)
    assert works.settle() == 0


def test_a_rule_that_asks_for_approval_waits_and_says_so_in_its_chain(
    app: Database, queue: Database, works: Works
) -> None:
    save(app, a_document(name="careful", event_type="a", action_mode="approve", actions=[EMIT, RUN]))
    accept(app, event("a", id="root"))
    count, owed = router.route(works.router)
    assert (count, owed) == (1, [])
    first, second = rows(queue, "dispatches", "id")
    assert (first.status, first.hold, second.status, second.hold, second.after) == (
        *("held", "approval", "held", "turn"),
        first.id,
    )
    assert first.expires_at > first.created_at
    asked = rows(queue, "events", "seq")[-1]
    assert (asked.event_type, asked.causation_id, asked.lineage) == ("approval.requested", "root", ["careful"])
    assert asked.payload["dispatch_id"] == str(first.id)
    assert asked.payload["may_decide"] == {"scopes": ["rules", "admin"]}


def test_a_rule_of_high_risk_runs_by_itself_only_where_its_tenant_allows_it(
    app: Database, queue: Database, works: Works
) -> None:
    bold = a_document(name="bold", event_type="a", risk_level="high")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE tenants SET allows_high_risk = true"))
        store.save(tx, TENANT, bold, author="test", allowed=Allowed(high_risk=True))
    accept(app, event("a"))
    router.route(works.router)
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE tenants SET allows_high_risk = false"))
    accept(app, event("a"))
    router.route(works.router)
    assert [(d.status, d.hold) for d in rows(queue, "dispatches", "id")] == [("pending", None), ("held", "approval")]


def test_two_actions_of_a_rule_are_two_dispatches_in_their_order(app: Database, queue: Database, works: Works) -> None:
    notify = {"action_type": "notify", "channel": "log", "template": "Hi {{payload.name}}"}
    save(app, a_document(event_type="order.placed", actions=[notify, EMIT, RUN]))
    accept(app, event(payload={"name": "Ada"}))
    router.route(works.router)
    dispatches = rows(queue, "dispatches", "id")
    assert [d.target for d in dispatches] == ["notifier", "event_emitter", "memory_extractor"]
    assert dispatches[0].params["template"] == "Hi Ada"


def test_an_action_that_its_templates_blow_up_is_set_aside_and_holds_up_no_other(
    app: Database, queue: Database, works: Works
) -> None:
    copies = {"action_type": "emit", "event_type": "b", "payload": {f"k{n}": "{{payload.text}}" for n in range(9)}}
    save(app, a_document(name="copies", event_type="a", actions=[copies]), a_document(name="good", event_type="a"))
    accept(app, event("a", {"text": "x" * 100_000}))
    assert len(router.route(works.router)[1]) == 1
    found = {d.rule: d for d in rows(queue, "dispatches")}
    assert (found["copies"].status, found["good"].status) == ("dead", "pending")
    assert "524,288 are allowed" in found["copies"].error


@pytest.mark.parametrize(
    ("risk", "mode", "allowed", "acts"),
    [
        ("high", "auto", False, "approve"),
        ("high", "auto", True, "auto"),
        ("high", "approve", True, "approve"),
        ("high", "shadow", False, "shadow"),
        ("medium", "auto", False, "auto"),
    ],
)
def test_only_what_would_run_by_itself_is_held_for_its_risk(risk: str, mode: str, allowed: bool, acts: str) -> None:
    rule = a_rule(risk_level=risk, action_mode=mode)
    assert action_dispatches.mode_of(rule, allows_high_risk=allowed) == acts
