"""Quarantine by cause: release and reject one or all."""

from __future__ import annotations

from tests.api.console.browser import Browser
from tests.api.http.hostile import listed, told, trust_of
from tests.doors import Doors


def test_a_cause_shows_its_texts_and_what_was_found_in_them(browser: Browser, door: Doors) -> None:
    told(door)
    shown = browser.get("/work/quarantine").text
    assert "would have its reader drop its instructions" in shown
    assert "previous instructions" in shown
    assert "in the statement" in shown


def test_one_is_rejected_and_all_of_a_cause_are_released(browser: Browser, door: Doors) -> None:
    one, other, third = told(door), told(door, user="bo"), told(door, user="cy")
    assert browser.press("/work/quarantine", id=one["id"], verdict="reject").status_code == 204
    cause = listed(door)[0]["cause"]
    assert browser.press("/work/quarantine", cause=cause, verdict="release").status_code == 204
    assert trust_of(door, one, other, third) == ["rejected", "candidate", "candidate"]


def test_a_row_that_is_refused_says_why(browser: Browser, door: Doors) -> None:
    plain = told(door, "I like tea.")
    assert "nothing to review" in browser.press("/work/quarantine", id=plain["id"], verdict="release").text
