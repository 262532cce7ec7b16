"""A person tidies up: all memories that match a filter at once, the recall of one, and its time."""

from __future__ import annotations

import pytest

from bench.stand import Stand
from tests.browser.pages import PHONE, Chromium, Watched

pytestmark = [pytest.mark.browser]


def remember(stand: Stand, user: str, *contents: str) -> list[str]:
    return [
        stand.call("POST", "/v1/memories", {"user_id": user, "content": content})["memory"]["id"]
        for content in contents
    ]


def test_all_that_match_are_previewed_then_archived_and_one_is_undone(watched: Watched, stand: Stand) -> None:
    ids = remember(stand, "ivo", "Ivo plays the oboe.", "Ivo has two cats.", "Ivo is afraid of heights.")
    page = watched.page
    watched.open("/memories?user_id=ivo")
    page.get_by_label("all that match the filter").check()
    with page.expect_navigation():
        page.get_by_role("button", name="Archive").click()
    page.get_by_role("heading", name="Carry it out").wait_for()
    assert page.locator("tbody tr").count() == 3
    assert watched.barriers() == []
    assert stand.call("GET", f"/v1/memories/{ids[0]}")["status"] == "active"
    page.get_by_label("Type 3 to confirm").fill("2")
    page.locator("form.card").get_by_role("button", name="Archive").click()
    page.locator("#notices", has_text="Nothing was changed").wait_for()
    page.get_by_label("Type 3 to confirm").fill("3")
    preview = page.url
    page.locator("form.card").get_by_role("button", name="Archive").click()
    page.wait_for_url(lambda url: "/bulk/" in url and url != preview)
    page.locator("#standing .badge.done").wait_for()
    assert stand.call("GET", f"/v1/memories/{ids[0]}")["status"] == "archived"
    row = page.locator("tbody tr", has_text="oboe")
    with page.expect_navigation():
        row.get_by_role("button", name="Undo").click()
    assert "oboe" in page.locator("h1").inner_text()
    assert stand.call("GET", f"/v1/memories/{ids[0]}")["status"] == "active"


def test_why_a_memory_was_not_recalled_is_asked_with_words_of_it(watched: Watched, stand: Stand) -> None:
    remember(stand, "lea", "Lea sails a dinghy.", "Lea bakes rye bread.")
    page = watched.page
    watched.open("/search?user_id=lea&query=What+does+Lea+sail%3F&limit=1")
    page.get_by_label("Why not this memory?").fill("rye bread")
    page.get_by_role("button", name="Explain").click()
    page.locator("#why", has_text="ranked below").wait_for()
    assert page.locator("#why svg.stack").count() == 2
    assert watched.barriers() == []


def test_a_timeline_is_walked_with_the_keyboard_and_zoomed_on_a_phone(chromium: Chromium, stand: Stand) -> None:
    with chromium.logged_in(stand.key, PHONE) as watched:
        page = watched.page
        watched.open("/timeline?user_id=maya")
        page.get_by_role("link", name="1 year").click()
        page.locator("a[aria-current=true]", has_text="1 year").wait_for()
        assert watched.overflow() == []
        page.locator("svg.timeline a").first.press("Enter")
        page.wait_for_url("**/console/memories/**")
        assert watched.faults == []
