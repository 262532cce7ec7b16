from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out
from tests.samples import said


def test_after_a_logout_a_copied_cookie_leads_to_the_login(browser: Browser, door: Doors) -> None:
    copied = dict(browser.client.cookies)
    assert browser.get("/keys").status_code == 200
    assert browser.press("/logout").status_code == 204
    browser.client.cookies.update(copied)
    assert browser.get("/keys").headers["location"].startswith("/console/login")
    assert browser.press("/add", text="x").headers["hx-redirect"] == "/console/login"
    browser.client.cookies.clear()
    assert browser.log_in(door.keys["acme"]).status_code == 303
    assert browser.get("/keys").status_code == 200


@pytest.mark.parametrize(("typed", "path"), [("cello lessons", "search?query=cello%20lessons"), ("e1", "events/e1")])
def test_what_is_typed_leads_to_what_it_names_or_to_a_search(
    browser: Browser, door: Doors, typed: str, path: str
) -> None:
    door.post("/v1/events", said("I play the cello.", id="e1"))
    assert browser.get(f"/go?q={typed}").headers["location"] == f"/console/{path}"


def test_the_id_of_a_memory_leads_to_it(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    assert browser.get(f"/go?q={memory.id}").headers["location"] == f"/console/memories/{memory.id}"


def test_a_language_is_chosen_for_good(browser: Browser) -> None:
    answer = browser.get("/language/zh-CN", referer="http://testserver/console/memories")
    assert answer.headers["location"] == "/console/memories"
    assert '<html lang="zh-CN"' in browser.get("/memories").text
    assert browser.get("/language/xx").status_code == 404


def test_assets_are_kept_by_browsers(stranger: Browser) -> None:
    answer = stranger.get("/static/vendor/htmx.min.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert "immutable" in answer.headers["cache-control"]
