from __future__ import annotations

import html
import json
import re

from sqlalchemy import text

from core.storage.db import Database
from rules.document import formatting
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import TENANT, ended, said
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
    assert "Not JSON" in browser.press(f"/rules/{NAME}/backtest", rule="{").text
    review = browser.press(f"/rules/{NAME}/review", rule=draft, comment="for the test").text
    assert "<del>" in review
    assert "<ins>" in review
    assert 'value="for the test"' in review
    assert door.get(f"/v1/rules/{NAME}").json()["version"] == 1
    assert "They say the same." in browser.press(f"/rules/{NAME}/review", rule=rule(door)).text
    assert "Expecting property name" in browser.press(f"/rules/{NAME}/review", rule="{").text
    assert "/name" in browser.press(f"/rules/{NAME}/review", rule='{"name": ""}').text
    save = {"rule": draft, "comment": "for the test"}
    assert "version 1" in browser.press(f"/rules/{NAME}/save", **save, version="7").text
    assert browser.press(f"/rules/{NAME}/save", **save, version="1").status_code == 204
    assert door.get(f"/v1/rules/{NAME}").json()["version"] == 2
    assert "for the test" in browser.get(f"/rules/{NAME}").text
    preview = browser.get(f"/rules/{NAME}/rollback/1").text
    assert "<del>" in preview
    assert door.get(f"/v1/rules/{NAME}").json()["version"] == 2
    assert browser.press(f"/rules/{NAME}/rollback", version="1", comment="").status_code == 204
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
    assert "matched" in browser.get(f"/rules/{NAME}/figures").text


def test_a_backtest_shows_the_events_on_which_a_draft_differs(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", [said("One.", id="m1"), ended(id="e1")])
    draft = rule(door, conditions={"field": "session.message_count", "op": ">=", "value": 1})
    shown = browser.press(f"/rules/{NAME}/backtest", rule=draft).text
    assert 'href="/console/events/e1"' in shown
    assert 'data-series="in_force"' in shown


def test_an_edited_text_is_tested_on_an_edited_event(browser: Browser, door: Doors) -> None:
    event = json.dumps({"event_type": "session.ended", "source": "x", "payload": {"session_id": "s", "user_id": "u"}})
    draft = rule(door, conditions={"field": "payload.user_id", "op": "==", "value": "u"})
    assert "badge fired" in browser.press(f"/rules/{NAME}/test", event=event, rule=draft).text
    assert "badge fired" not in browser.press(f"/rules/{NAME}/test", event=event).text


def test_the_list_shows_what_each_rule_did_and_its_row_changes_when_it_is_paused(
    browser: Browser, door: Doors, works: Works
) -> None:
    door.post("/v1/events", [said(f"Number {n}.", id=f"m{n}") for n in range(3)] + [ended(id="e1")])
    works.settle()
    shown = browser.get(f"/rules?q={NAME}").text
    assert shown.count("<tr") == 2
    assert 'aria-label="1 fired, 0 gathered, 0 held back.' in shown
    row = browser.press(f"/rules/{NAME}/pause", enabled="false", row="1").text
    assert row.strip().startswith('<tr class="paused">')
    assert NAME not in browser.get("/rules?state=live").text
    assert NAME in browser.get("/rules?state=paused").text


def test_more_rules_than_a_page_are_listed_page_by_page(browser: Browser, door: Doors) -> None:
    for number in range(60):
        tell = {"action_type": "notify", "channel": "log", "template": "x"}
        document = {"name": f"many_{number:02}", "event_type": "order.placed", "actions": [tell]}
        assert door.post("/v1/rules", document).status_code == 201
    first = browser.get("/rules?q=many_").text
    assert first.count('class="spark"') == 50
    assert 'href="?after=many_49&amp;q=many_"' in first
    assert browser.get("/rules?q=many_&after=many_49").text.count('class="spark"') == 10


def test_an_edit_runs_in_shadow_beside_the_live_rule_and_is_put_in_force(
    browser: Browser, door: Doors, app: Database, works: Works
) -> None:
    draft = rule(door, conditions={"field": "session.message_count", "op": ">=", "value": 1})
    assert browser.get(f"/rules/{NAME}/beside").text.count("Nothing to compare with") == 1
    moved = browser.press(f"/rules/{NAME}/shadow", rule=draft)
    assert moved.headers["hx-redirect"] == f"/console/rules/{NAME}.shadow"
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE rule_versions SET at = at - interval '1 hour'"))
    door.post("/v1/events", [said("One.", id="m1"), ended(id="e1")])
    works.settle()
    for page, other in ((NAME, f"{NAME}.shadow"), (f"{NAME}.shadow", NAME)):
        shown = browser.get(f"/rules/{page}/beside").text
        assert f"only {NAME}.shadow" in shown
        assert 'href="/console/events/e1"' in shown
        assert f'href="/console/rules/{other}"' in shown
    assert "/promote" in shown
    assert door.get("/v1/events/e1/trace").json()["dispatches"][-1]["status"] == "shadow"
    assert browser.press(f"/rules/{NAME}.shadow/promote").headers["hx-redirect"] == f"/console/rules/{NAME}"
    live = door.get(f"/v1/rules/{NAME}").json()["rule"]
    assert (live["conditions"]["value"], live["action_mode"]) == (1, "auto")
    assert door.get(f"/v1/rules/{NAME}.shadow").status_code == 404


def test_what_is_no_rule_cannot_run_in_shadow(browser: Browser) -> None:
    assert "cannot run" in browser.press(f"/rules/{NAME}/shadow", rule="[]").text
    assert "cannot run" in browser.press(f"/rules/{NAME}/promote").text
    assert browser.press("/rules/nothing.shadow/promote").headers["hx-retarget"] == "#notices"


def test_the_editor_shows_a_rule_in_canonical_order(browser: Browser) -> None:
    page = browser.get("/rules/consolidate_on_session_end").text
    shown = re.search(r'<textarea[^>]*name="rule"[^>]*>(.*?)</textarea>', page, re.DOTALL)
    assert shown
    rule = json.loads(html.unescape(shown[1]))
    assert html.unescape(shown[1]) == formatting.canonical_text(rule)
    assert next(iter(rule)) == "name"
