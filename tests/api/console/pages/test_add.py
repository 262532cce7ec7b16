from __future__ import annotations

import json

import pytest

from api.console.pages import add
from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out

TALK = "Ada: I play the cello.\nassistant: Noted."


@pytest.mark.parametrize(
    ("text", "is_json"),
    [('{"a": 1}', True), ("[1]", True), ('{"a": 1}\n{"b": 2}', True), ("{not json", False), (TALK, False), ("", False)],
)
def test_json_is_told_from_lines_of_talk(text: str, is_json: bool) -> None:
    assert add.is_json(text) is is_json


def test_lines_become_messages_of_one_session() -> None:
    raw, messages = add.read(TALK, "s")
    assert [json.loads(line) for line in raw.splitlines()] == [
        {"role": "user", "speaker": "Ada", "content": "I play the cello.", "session_id": "s", "id": "s:0"},
        {"role": "assistant", "content": "Noted.", "session_id": "s", "id": "s:1"},
    ]
    assert len(messages) == 2


def test_what_is_pasted_is_looked_at_first_and_imported_once(browser: Browser, door: Doors) -> None:
    shown = browser.press("/add/paste", user_id="ada", text=TALK, step="look").text
    assert "I play the cello." in shown
    assert not door.get("/v1/events").json()["items"]
    for _ in range(2):
        answer = browser.press("/add/paste", user_id="ada", text=TALK, session="s9", step="import")
        assert answer.headers["hx-redirect"] == "/console?added=s9"
    items = door.get("/v1/sessions/s9/messages").json()["items"]
    assert [one["content"] for one in items] == ["I play the cello.", "Noted."]


def test_json_is_imported_in_its_own_format(browser: Browser, door: Doors) -> None:
    text = json.dumps([{"role": "user", "content": "I play the cello.", "session_id": "j1"}])
    assert "messages" in browser.press("/add/paste", user_id="ada", text=text, step="look").text
    browser.press("/add/paste", user_id="ada", text=text, step="import")
    assert door.get("/v1/sessions/j1/messages").json()["items"]


def test_what_is_remembered_of_it_is_shown_as_it_comes(browser: Browser, app: Database) -> None:
    assert "Nothing yet" in browser.get("/add/result?session_id=s1").text
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    assert f"/console/memories/{memory.id}" in browser.get("/add/result?session_id=s1").text


def test_the_line_for_a_shell_names_the_server_that_was_asked(browser: Browser) -> None:
    assert "curl http://testserver/v1/events" in browser.get("/add").text
    assert "curl http://testserver/v1/events" in browser.get("").text
