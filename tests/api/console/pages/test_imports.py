from __future__ import annotations

import json

from tests.api.console.browser import Browser
from tests.doors import Doors

TALK = json.dumps({"role": "user", "content": "I play the cello.", "session_id": "s1"}).encode()


def send(browser: Browser, *, dry_run: bool) -> str:
    headers = {"x-csrf-token": browser.token, "hx-request": "true", "content-type": "application/octet-stream"}
    query = {"user_id": "ada", "dry_run": str(dry_run).lower()}
    return browser.client.post("/console/imports", params=query, content=TALK, headers=headers).text


def test_a_file_is_looked_at_and_then_imported(browser: Browser, door: Doors) -> None:
    assert "What is in it" in send(browser, dry_run=True)
    assert not door.get("/v1/events").json()["items"]
    assert "Imported" in send(browser, dry_run=False)
    assert door.get("/v1/events?type=message.added").json()["items"]
    assert "messages" in browser.get("/imports").text


def test_an_import_of_the_command_line_is_on_the_page(browser: Browser, door: Doors) -> None:
    report = {"messages": 111, "accepted": 140, "skipped": {"a picture": 37}}
    body = {"user_id": "ada", "formats": ["chatgpt"], "status": "done", "report": report}
    assert door.post("/v1/imports/records", body).status_code == 201
    shown = browser.get("/imports").text
    assert "chatgpt" in shown
    assert "37 × a picture" in shown
    assert door.post("/v1/imports/records", {**body, "report": {"messages": -1}}).status_code == 422
