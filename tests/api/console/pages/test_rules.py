from __future__ import annotations

import json

from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import ended, said
from tests.works import Works

NAME = "write_episodes"


def rule(door: Doors, **changes: object) -> str:
    return json.dumps(door.get(f"/v1/rules/{NAME}").json()["rule"] | changes)


def test_a_rule_is_checked_while_it_is_typed(browser: Browser, door: Doors) -> None:
    assert "Valid." in browser.press(f"/rules/{NAME}/validate", rule=rule(door)).text
    assert "Not JSON" in browser.press(f"/rules/{NAME}/validate", rule="{").text
    wrong = browser.press(f"/rules/{NAME}/validate", rule=rule(door, condtions={}))
    assert "did you mean" in wrong.text
    assert 'data-pointer="/condtions" data-severity="error"' in wrong.text
    assert "hx-retarget" not in wrong.headers


def test_a_rule_is_tested_on_a_past_event_and_with_edited_values(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("One.", id="m1"), ended(id="e1")])
    shown = browser.get(f"/rules/{NAME}?event=e1").text
    assert "session.message_count" in shown
    assert "no match" in shown
    event = {"id": "e1", "event_type": "order.placed", "source": "x", "payload": {}}
    assert "no match" in browser.press(f"/rules/{NAME}/test", event=json.dumps(event)).text
    assert "Not JSON" in browser.press(f"/rules/{NAME}/test", event="nonsense").text


def test_a_draft_is_backtested_and_saved_and_rolled_back(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("One.", id="m1"), ended(id="e1")])
    draft = rule(door, conditions={"field": "session.message_count", "op": ">=", "value": 1})
    shown = browser.press(f"/rules/{NAME}/backtest", rule=draft).text
    assert "only in the draft" in shown
    assert browser.press(f"/rules/{NAME}/save", rule=draft, comment="for the test").status_code == 204
    assert door.get(f"/v1/rules/{NAME}").json()["version"] == 2
    assert "for the test" in browser.get(f"/rules/{NAME}").text
    assert browser.press(f"/rules/{NAME}/rollback", version="1").status_code == 204
    assert door.get(f"/v1/rules/{NAME}").json()["rule"]["conditions"]["value"] == 3


def test_a_rule_is_paused_and_resumed_with_one_press(browser: Browser, door: Doors) -> None:
    for enabled in (False, True):
        assert browser.press(f"/rules/{NAME}/pause", enabled=str(enabled).lower()).status_code == 204
        assert door.get(f"/v1/rules/{NAME}").json()["rule"].get("enabled", True) is enabled


def test_what_a_rule_decided_lately_is_a_chart_over_a_table(browser: Browser, door: Doors, works: Works) -> None:
    assert "No event has reached it" in browser.get("/rules/nothing/activity").text
    door.post("/v1/events", [said("One.", id="m1"), ended(id="e1")])
    works.settle()
    shown = browser.get(f"/rules/{NAME}/activity").text
    assert 'data-series="held"' in shown
    assert shown.count("data-value=") == 3 * 28
