"""From an event to a receipt: a person sees why nothing was remembered, changes the rule, and makes memory forget."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from bench.stand import Stand
from tests.browser.pages import Watched
from tests.samples import ended, said

pytestmark = [pytest.mark.browser]

RULE = "consolidate_on_session_end"


def publish(stand: Stand, session: str, *contents: str) -> None:
    """A whole session of one user, and what follows from it."""
    events: list[Any] = [said(one, session=session, user="noor", id=f"{session}:{n}") for n, one in enumerate(contents)]
    events.append(ended(session, "noor", message_count=len(contents), id=f"{session}:end"))
    token = stand.call("POST", "/v1/events", events)["settle_token"]
    while not stand.call("GET", f"/v1/settle?token={token}&timeout=2&flush=true")["settled"]:
        pass


def verdict(watched: Watched) -> str:
    return watched.page.locator(".lanes article", has_text=RULE).locator(".badge").first.inner_text()


def fires(watched: Watched, stand: Stand, session: str) -> bool:
    """Whether the rule acts on a session's end: an edit is in force within a second, on a busy machine later."""
    time.sleep(1)
    publish(stand, session, "I am allergic to peanuts.")
    watched.open(f"/events/{session}:end")
    return verdict(watched) == "fired"


def edit_rule(watched: Watched, changed: str) -> None:
    watched.open(f"/rules/{RULE}")
    watched.page.locator(".cm-content").click()
    watched.page.keyboard.press("Control+a")
    watched.page.keyboard.insert_text(changed)
    watched.page.locator("#report", has_text="Valid.").wait_for()


def test_from_an_event_to_a_receipt(watched: Watched, stand: Stand) -> None:
    page = watched.page
    publish(stand, "n1", "I am allergic to peanuts.")
    watched.open("/events/n1:end")
    assert verdict(watched) == "no match"
    rule = stand.call("GET", f"/v1/rules/{RULE}")["rule"]
    rule["conditions"]["all"][0]["value"] = 1

    edit_rule(watched, json.dumps(rule, indent=2))
    page.get_by_role("button", name="Backtest").click()
    page.locator("#backtest .tiles").wait_for()
    page.locator(".cm-content").press("Control+s")
    page.get_by_label("Comment").fill("One message is enough")
    with page.expect_navigation():
        page.get_by_role("button", name="Save as a new version").click()
    page.locator("h1", has_text="v2").wait_for()
    assert page.locator(".versions").get_by_text("One message is enough").is_visible()

    assert any(fires(watched, stand, session) for session in ("n2", "n3", "n4"))
    page.locator(".change a").first.click()
    page.wait_for_url("**/console/memories/*")
    assert "peanuts" in page.locator("h1").inner_text()
    place = page.url.partition("/console")[2]

    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Statement").fill("Noor is allergic to peanuts and cashews.")
    with page.expect_navigation():
        page.get_by_role("button", name="Save").click()
    assert "cashews" in page.locator("h1").inner_text()
    with page.expect_navigation():
        page.get_by_role("button", name="Undo last change").click()
    assert "cashews" not in page.locator("h1").inner_text()

    page.locator("[data-toggle=erase]").click()
    page.locator("#confirm").fill("wrong")
    page.locator("#erase button.danger").click()
    page.locator("#notices", has_text="Nothing was erased").wait_for()
    page.locator("#confirm").fill(place[-8:])
    page.locator("#erase button.danger").click()
    page.wait_for_url("**/console/receipts/*")
    assert "signature" in page.locator("main").inner_text()
    assert [*watched.overflow(), *watched.barriers(), *watched.faults] == []
    assert watched.open(place) in {404, 410}
    watched.faults.clear()
