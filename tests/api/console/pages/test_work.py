from __future__ import annotations

from api.console.pages import work
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import event
from tests.works import Works

HELD = {
    "name": "ask_first",
    "event_type": "order.placed",
    "action_mode": "approve",
    "actions": [{"action_type": "emit", "event_type": "order.praised", "payload": {}}],
}


def test_errors_that_differ_in_ids_and_numbers_are_one_group() -> None:
    errors = ["host 10.1 failed after 3 s", "host 10.2 failed after 12 s", "no such host"]
    groups = work._by_fingerprint([{"target": "webhook", "error": one} for one in errors])
    assert [len(group["items"]) for group in groups] == [2, 1]


def test_an_approval_is_given_where_it_is_shown(browser: Browser, door: Doors, works: Works) -> None:
    door.post("/v1/rules", HELD)
    door.post("/v1/events", event(id="o1"))
    works.settle()
    shown = browser.get("/work").text
    assert "ask_first" in shown
    [held] = door.get("/v1/dispatches?hold=approval").json()["items"]
    assert "Approve" in browser.get(f"/work/{held['id']}").text
    assert browser.press(f"/work/{held['id']}/approve").status_code == 204
    assert not door.get("/v1/dispatches?hold=approval").json()["items"]
    assert "no such action" in browser.press(f"/work/{held['id']}/destroy").text
