from __future__ import annotations

from api.console.pages.dry_run import messages_of
from tests.api.console.browser import Browser
from tests.doors import Doors


def test_a_line_is_a_message_with_its_role_or_speaker() -> None:
    assert list(messages_of("Ada: I like tea.\n\nassistant: Noted: tea.\nPlain words\n王：我喜欢茶")) == [
        {"role": "user", "speaker": "Ada", "content": "I like tea."},
        {"role": "assistant", "content": "Noted: tea."},
        {"role": "user", "content": "Plain words"},
        {"role": "user", "speaker": "王", "content": "我喜欢茶"},
    ]


def test_a_dry_run_shows_what_would_be_remembered_and_stores_nothing(browser: Browser, door: Doors) -> None:
    shown = browser.press("/try", user_id="ada", text="Ada: I live in Lisbon.").text
    assert "Lisbon" in shown
    assert "home.city" in shown
    assert not door.get("/v1/memories?user_id=ada").json()["items"]
    assert not door.get("/v1/events").json()["items"]
