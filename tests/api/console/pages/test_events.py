from __future__ import annotations

from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import ended, event, said
from tests.works import Works

MORE = {"field": "payload.n", "op": ">", "value": 5}


def test_the_log_is_filtered(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("I play the cello.", id="m1"), ended(id="e1")])
    shown = browser.get("/events?type=session.*").text
    assert "/console/events/e1" in shown
    assert "/console/events/m1" not in shown


def test_a_trace_shows_rules_with_actual_values_dispatches_and_changes(
    browser: Browser, door: Doors, works: Works
) -> None:
    door.post("/v1/events", [said(f"I live in Lisbon, {n}.", id=f"m{n}") for n in range(3)] + [ended(id="e1")])
    works.settle()
    shown = browser.get("/events/e1").text
    assert "write_episodes" in shown
    assert "<code>session.message_count</code> &gt;= <code>3</code>" in shown
    assert "/console/work/" in shown
    assert browser.get("/events/nothing").status_code == 404


def test_older_events_are_reached_with_the_same_filter(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("Tea.", id=f"m{n}") for n in range(60)])
    shown = browser.get("/events?type=message.added").text
    assert 'href="?after=' in shown
    assert "&amp;type=message.added" in shown


def test_a_trace_goes_down_to_what_followed_and_was_sent(browser: Browser, door: Doors, works: Works) -> None:
    tell = {"action_type": "notify", "channel": "log", "template": "{{payload.content}}"}
    assert door.post("/v1/rules", {"name": "tell", "event_type": "memory.created", "actions": [tell]}).is_success
    door.post("/v1/events", [said(f"I live in Lisbon, {n}.", id=f"m{n}") for n in range(3)] + [ended(id="e1")])
    works.settle()
    chain = door.get("/v1/events/e1/chain").json()
    created = next(one for one in chain["followed_by"] if one["event_type"] == "memory.created")
    assert [(one["rule"], one["to"], one["status"]) for one in created["dispatches"]] == [("tell", "log", "done")]
    shown = browser.get("/events/e1").text
    assert "notify</a>" in shown
    assert "→ log" in shown
    assert f'href="/console/memories/{created["subject"][7:]}"' in shown


def test_a_trace_says_in_words_what_held_a_rule_back_and_what_waits(
    browser: Browser, door: Doors, works: Works
) -> None:
    tell = {"action_type": "notify", "channel": "log", "template": "x"}
    rules = [
        {"name": "cool", "event_type": "order.placed", "flow": {"cooldown": {"seconds": 60}}, "actions": [tell]},
        {"name": "asks", "event_type": "order.placed", "action_mode": "approve", "actions": [tell]},
        {"name": "later", "event_type": "order.placed", "flow": {"count": {"threshold": 2}}, "actions": [tell]},
        {"name": "no", "event_type": "order.placed", "actions": [tell], "conditions": MORE},
    ]
    for rule in rules:
        assert door.post("/v1/rules", rule).is_success
    door.post("/v1/events", [event("order.placed", {"n": n}, id=f"o{n}") for n in (1, 2)])
    works.settle()
    shown = browser.get("/events/o2").text
    assert "it acted on this key a short while ago" in shown
    assert "waits for approval" in shown
    assert "Kept until there are enough" in browser.get("/events/o1").text
    assert "Acts on 2 events together" in shown
    assert '<code class="actual">2</code>' in shown
    assert shown.index(">asks<") < shown.index(">cool<") < shown.index(">no<")
    assert 'href="/console/rules/no?event=o2#test"' in shown
    assert browser.get("/rules/no?event=o2").text.count('name="event"') == 2


def test_a_trace_shows_replays_apart(browser: Browser, door: Doors, works: Works) -> None:
    tell = {"action_type": "notify", "channel": "log", "template": "x"}
    door.post("/v1/rules", {"name": "r", "event_type": "order.placed", "actions": [tell]})
    door.post("/v1/events", event("order.placed", id="o1"))
    works.settle()
    door.post("/v1/events/replay", {"filter": {"event_ids": ["o1"]}, "rules": ["r"], "mode": "shadow"})
    works.settle()
    shown = browser.get("/events/o1").text
    assert "<h2>Replays</h2>" in shown
    assert "badge shadow" in shown
