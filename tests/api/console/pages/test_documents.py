from __future__ import annotations

from tests.api.console.browser import Browser
from tests.doors import Doors


def test_a_document_is_shown_with_its_passages_and_erased(browser: Browser, door: Doors) -> None:
    stored = door.post(
        "/v1/documents", {"user_id": "ada", "title": "Cellos", "content": "# Strings\n\nA cello has four."}
    )
    place = f"/documents/{stored.json()['id']}"
    assert place in browser.get("/documents?user_id=ada").text
    shown = browser.get(place).text
    assert "A cello has four." in shown
    assert "Strings" in shown
    assert browser.press(f"{place}/erase").headers["hx-redirect"] == "/console/documents"
    assert browser.get(place).status_code == 404
