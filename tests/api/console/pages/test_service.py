from __future__ import annotations

from tests.api.console.browser import Browser
from tests.doors import Doors


def test_documents_are_listed_by_user(browser: Browser, door: Doors) -> None:
    for user in ("ada", "bob"):
        door.post("/v1/documents", {"user_id": user, "title": f"Notes of {user}", "content": "We bake at four."})
    shown = browser.get("/documents?user_id=ada").text
    assert "Notes of ada" in shown
    assert "Notes of bob" not in shown


def test_the_service_shows_limits_and_models(browser: Browser) -> None:
    shown = browser.get("/service").text
    assert "requests_per_key" in shown
