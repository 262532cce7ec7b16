from __future__ import annotations

from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import ended, said
from tests.works import Works


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
