from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out


def ago(days: int) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def test_memories_stand_in_time_with_what_replaced_them(browser: Browser, door: Doors) -> None:
    for city, days in (("Oslo", 400), ("Lisbon", 10)):
        body = {"user_id": "ada", "content": f"Ada lives in {city}.", "attribute": "home.city", "value": city}
        assert door.post("/v1/memories", body | {"valid_from": ago(days).isoformat()}).is_success
    shown = browser.get("/timeline?user_id=ada").text
    assert "Ada lives in Oslo." in shown
    assert 'class="arrow supersedes"' in shown
    assert 'class="span superseded' in shown
    recent = browser.get(f"/timeline?user_id=ada&span=year&until={ago(380).date()}").text
    assert "Ada lives in Oslo." in recent
    assert "Ada lives in Lisbon." not in recent
    assert "until=" in recent
    assert "Ada lives in Oslo." in browser.get("/timeline?user_id=ada&axis=known&span=week").text


def test_what_is_left_out_is_said(browser: Browser, app: Database) -> None:
    carry_out(app, *(a_memory(f"Ada has seen city {n}.") for n in range(3)))
    assert "1 more lie in this span" in browser.get("/timeline?user_id=ada&limit=2").text


def test_without_a_user_it_asks_for_one(browser: Browser) -> None:
    assert "Name a user" in browser.get("/timeline").text
    assert "No memory in this span" in browser.get("/timeline?user_id=nobody").text
