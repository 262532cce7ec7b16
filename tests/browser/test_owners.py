"""A user and a group as a person looks at them: back in time by the keyboard, what would go, and the receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.stand import Stand
from core.memory import receipts
from tests.browser.pages import Watched
from tests.samples import ended, said

pytestmark = [pytest.mark.browser]


def publish(stand: Stand, session: str, user: str, *contents: str, group: str | None = None) -> None:
    more = {"group_id": group} if group else {}
    events = [said(one, session=session, user=user, id=f"{session}:{n}", **more) for n, one in enumerate(contents)]
    token = stand.call("POST", "/v1/events", [*events, ended(session, user, id=f"{session}:end", **more)])[
        "settle_token"
    ]
    while not stand.call("GET", f"/v1/settle?token={token}&timeout=2&flush=true")["settled"]:
        pass


def test_a_slider_is_moved_by_keys_and_says_its_moment(watched: Watched) -> None:
    watched.open("/people/maya")
    slider = watched.page.get_by_label("Known then")
    slider.focus()
    with watched.page.expect_response("**/memories?*"):
        for _ in range(100):
            watched.page.keyboard.press("ArrowLeft")
    assert slider.input_value() == "0"
    told = slider.get_attribute("aria-valuetext")
    assert told
    assert told != "now"
    watched.page.locator("#asof", has_text="As of then").wait_for()
    assert watched.page.evaluate("document.activeElement.id") == "known-then"
    assert "known_then=0" in watched.page.url
    assert watched.barriers() == []


def test_a_user_is_found_by_the_beginning_of_the_id(watched: Watched) -> None:
    watched.open("/people")
    watched.page.get_by_label("Id begins with").fill("may")
    watched.page.get_by_role("button", name="Find").click()
    watched.page.wait_for_url("**/people?kind=user&q=may")
    watched.page.get_by_role("link", name="maya", exact=True).click()
    watched.page.wait_for_url("**/console/people/maya")


def test_a_group_shows_who_spoke_and_what_is_known(watched: Watched, stand: Stand) -> None:
    publish(stand, "crew-1", "bob", "I work on the billing service.", "I live in Turin.", "I like tea.", group="crew")
    watched.open("/people?kind=group")
    watched.page.get_by_role("link", name="crew", exact=True).click()
    watched.page.wait_for_url("**/console/groups/crew")
    watched.page.locator("#asof", has_text="billing").wait_for()
    assert watched.page.locator(".card", has_text="Members").get_by_role("link", name="bob").first.is_visible()
    watched.page.get_by_role("button", name="Erase group").click()
    watched.page.locator("#erasure", has_text="rows in all").wait_for()
    assert [*watched.overflow(), *watched.barriers()] == []


def test_an_erasure_shows_what_goes_and_leaves_a_receipt_that_anyone_can_verify(
    watched: Watched, stand: Stand, tmp_path: Path
) -> None:
    publish(stand, "gus-1", "gus", "I live in Turin.", "I am allergic to nuts.", "I work as a nurse.")
    watched.open("/people/gus")
    watched.page.get_by_role("button", name="Erase user").click()
    watched.page.locator("#erasure", has_text="rows in all").wait_for()
    assert watched.barriers() == []
    watched.page.locator("#confirm").fill("gus")
    watched.page.locator("#erasure button.danger").click()
    watched.page.wait_for_url("**/console/receipts/*")
    with watched.page.expect_download() as loaded:
        watched.page.get_by_role("link", name="Download the receipt").click()
    file = tmp_path / "receipt.json"
    loaded.value.save_as(file)
    told = json.loads(file.read_text())
    assert receipts.verify(told["receipt"], told["signature"], told["public_key"])
    watched.open("/people?q=gus")
    assert "No id begins with this" in watched.page.locator("main").inner_text()
