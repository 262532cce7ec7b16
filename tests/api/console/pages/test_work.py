"""Approvals, waiting dispatches, deliveries, and the page of one dispatch."""

from __future__ import annotations

import json

from sqlalchemy import text

from core.config import Settings
from core.storage.db import Database
from core.types import Json
from tests.api.console.browser import Browser
from tests.api.http.dead import LOG, NOWHERE, failed, letters
from tests.api.http.hostile import told
from tests.core.consolidation.disputes import dogs
from tests.doors import Doors, key_of
from tests.samples import TENANT, accept, event
from tests.works import Works

HELD: Json = {
    "name": "ask_first",
    "event_type": "order.placed",
    "action_mode": "approve",
    "actions": [{"action_type": "emit", "event_type": "order.praised", "payload": {}}],
}


def held(door: Doors, works: Works, number: int = 1) -> list[str]:
    door.post("/v1/rules", HELD)
    for n in range(number):
        door.post("/v1/events", event(id=f"o{n}"))
    works.settle()
    return [one["id"] for one in door.get("/v1/dispatches?hold=approval").json()["items"]]


def test_an_approval_is_given_where_it_is_shown(browser: Browser, door: Doors, works: Works) -> None:
    [one] = held(door, works)
    shown = browser.get("/work/approvals").text
    assert "ask_first" in shown
    assert "Publishes <code>order.praised</code>" in shown
    assert "Approve" in browser.get(f"/work/{one}").text
    assert browser.press(f"/work/{one}/approve", comment="fine").status_code == 204
    assert not door.get("/v1/dispatches?hold=approval").json()["items"]
    assert "no such action" in browser.press(f"/work/{one}/destroy").text
    overview = browser.get("/work").text
    assert "Approved" in overview
    assert "<q>fine</q>" in overview


def test_a_decision_that_somebody_else_has_published_is_not_shown(browser: Browser, app: Database) -> None:
    """An old log may hold one."""
    accept(app, event("approval.decided", {"by": "key:FORGED", "verdict": "approve"}, source="shop"))
    assert "FORGED" not in browser.get("/work").text


def test_all_of_a_rule_are_decided_if_they_are_as_many_as_were_shown(
    browser: Browser, door: Doors, works: Works
) -> None:
    held(door, works, 3)
    assert "Approve all 3" in browser.get("/work/approvals").text
    fields = {"rule": "ask_first", "verdict": "reject", "comment": "no"}
    assert "has changed" in browser.press("/work/approvals", **fields, confirm="2").text
    assert browser.press("/work/approvals", **fields, confirm="3").status_code == 204
    assert not door.get("/v1/dispatches?hold=approval").json()["items"]


def test_the_badge_counts_what_needs_a_person(browser: Browser, door: Doors, works: Works) -> None:
    assert browser.get("/badge").text.strip() == ""
    held(door, works, 2)
    told(door)
    assert ">3</span>" in browser.get("/badge").text


def test_what_waits_for_another_attempt_says_when_and_why(browser: Browser, door: Doors, app: Database) -> None:
    [one] = letters(app, "The webhook answered 503.")
    with app.tenant(TENANT) as tx:
        tx.execute(text("UPDATE dispatches SET status = 'retrying', wake_at = now() + interval '14 s', attempt = 2"))
    shown = browser.get("/work").text
    assert "The webhook answered 503." in shown
    assert "data-until" in shown
    assert "attempts: 2" in shown
    assert "data-until" in browser.get(f"/work/{one}").text


def test_a_dead_dispatch_is_retried_with_edited_parameters(
    browser: Browser, door: Doors, app: Database, works: Works
) -> None:
    [one] = failed(app, works)
    shown = browser.get(f"/work/{one}").text
    assert "Retry with these parameters" in shown
    assert "in its agent" in shown
    words = json.loads(browser.get(f"/work/{one}/words.json").text)
    assert words["schema"]["properties"]["channel"]
    assert 'data-pointer="/channel"' in browser.press(f"/work/{one}/check", params=json.dumps(NOWHERE)).text
    assert "Not JSON" in browser.press(f"/work/{one}/check", params="{").text
    assert "valid" in browser.press(f"/work/{one}/check", params=json.dumps(LOG)).text
    assert "must be an object" in browser.press(f"/work/{one}/edited", params="[]").text
    answer = browser.press(f"/work/{one}/edited", params=json.dumps(LOG))
    target = answer.headers["hx-redirect"].removeprefix("/console")
    assert "Retried with parameters edited by" in browser.get(target).text
    assert "Retried with other parameters as" in browser.get(f"/work/{one}").text


def test_a_delivery_is_sent_again(browser: Browser, door: Doors, app: Database, works: Works) -> None:
    [one] = failed(app, works)
    assert one in browser.get("/work/deliveries?status=dead").text
    assert browser.press(f"/work/deliveries/{one}").status_code == 204
    assert "is pending" in browser.press(f"/work/deliveries/{one}").text
    assert "Nothing was sent" in browser.get("/work/deliveries?rule=other").text


def test_every_page_says_when_nothing_needs_a_person(browser: Browser) -> None:
    for path, words in (
        ("/work", "Nobody has decided anything yet."),
        ("/work/approvals", "Nothing waits for approval."),
        ("/work/dead", "No dead letters."),
        ("/work/conflicts", "Nothing is disputed."),
        ("/work/quarantine", "Nothing is in quarantine."),
        ("/work/deliveries", "Nothing was sent."),
    ):
        assert words in browser.get(path).text


def test_a_key_that_only_reads_sees_all_and_every_button_answers_why_not(
    settings: Settings, browser: Browser, door: Doors, app: Database, works: Works
) -> None:
    [asked] = held(door, works)
    [dead] = failed(app, works)
    old, _ = dogs(app)
    hostile = told(door)["id"]
    [group] = door.get("/v1/dispatches/groups").json()["items"]
    before = _state(door)
    browser.log_in(key_of(settings, TENANT, ("read",)))
    for path in ("approvals", "dead", f"dead/{group['fingerprint']}", "conflicts", "quarantine", dead, asked):
        shown = browser.get(f"/work/{path}").text
        assert "This key lacks the scope" in shown
        assert "disabled aria-describedby" in shown
    presses = [
        (f"/work/{asked}/approve", {}),
        (f"/work/{asked}/reject", {}),
        (f"/work/{asked}/cancel", {}),
        ("/work/approvals", {"rule": "ask_first", "verdict": "approve", "confirm": "1"}),
        (f"/work/{dead}/retry", {}),
        (f"/work/{dead}/edited", {"params": json.dumps(LOG)}),
        (f"/work/deliveries/{dead}", {}),
        ("/work/dead/retry", {"fingerprint": group["fingerprint"]}),
        ("/work/dead/discard", {"fingerprint": group["fingerprint"], "confirm": "1"}),
        (f"/work/conflicts/{old.id}", {"choice": f"keep:{old.id}"}),
        ("/work/quarantine", {"id": hostile, "verdict": "release"}),
        (f"/work/undo/{old.change_id}", {}),
    ]
    for path, fields in presses:
        answer = browser.press(path, **fields)
        assert answer.headers["hx-retarget"] == "#notices", path
        assert "scope" in answer.text, path
    assert _state(door) == before


def _state(door: Doors) -> list[Json]:
    """What the presses might have changed."""
    paths = ("/v1/dispatches", "/v1/conflicts", "/v1/quarantine", "/v1/dispatches/groups")
    answers = [door.get(path).json() for path in paths]
    for one in [*answers[1]["items"], *answers[2]["items"]]:
        for memory in [side["memory"] for side in one.get("sides", ())] or [one["memory"]]:
            memory.pop("strength")
    return answers
