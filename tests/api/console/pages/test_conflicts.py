"""Conflicts side by side: each choice, with its undo."""

from __future__ import annotations

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.api.http.disputes import listed
from tests.core.consolidation.disputes import dogs, state
from tests.doors import Doors
from tests.factories import memory_row

UNDO = "/work/undo/"


def undo_of(words: str) -> str:
    return UNDO + words.partition(f"/console{UNDO}")[2].partition('"')[0]


def test_both_sides_stand_beside_each_other_with_what_they_rest_on(browser: Browser, app: Database) -> None:
    dogs(app)
    shown = browser.get("/work/conflicts").text
    assert shown.count('class="side"') == 2
    assert "one denies the other" in shown
    assert shown.count("<blockquote>") == 2


def test_one_is_kept_and_the_decision_is_taken_back(browser: Browser, door: Doors, app: Database) -> None:
    old, new = dogs(app)
    answer = browser.press(f"/work/conflicts/{new.id}", choice=f"keep:{old.id}")
    assert "Decided." in answer.text
    assert state(app, old, new) == [("active", "confirmed"), ("superseded", "disputed")]
    assert browser.press(undo_of(answer.text)).status_code == 204
    assert len(listed(door)) == 1


def test_all_hold_at_the_times_that_are_given(browser: Browser, app: Database) -> None:
    old, new = dogs(app)
    fields = {f"valid_to:{old.id}": "2026-05-01", f"valid_from:{new.id}": "2026-05-01"}
    assert "Decided." in browser.press(f"/work/conflicts/{new.id}", choice="keep_all", **fields).text
    assert str(memory_row(app, old.id).valid_to) == "2026-05-01 00:00:00+00:00"
    assert str(memory_row(app, new.id).valid_from) == "2026-05-01 00:00:00+00:00"


def test_all_are_merged_into_an_edited_text(browser: Browser, app: Database) -> None:
    old, new = dogs(app)
    words = "Ada had a dog until May."
    assert words in browser.press(f"/work/conflicts/{new.id}", choice=f"merge:{new.id}", content=words).text
    assert state(app, old, new) == [("archived", "disputed"), ("active", "confirmed")]


def test_what_was_changed_since_it_was_shown_is_refused_in_words(browser: Browser, app: Database) -> None:
    old, new = dogs(app)
    versions = {f"version:{old.id}": "1", f"version:{new.id}": "2"}
    assert "Look again" in browser.press(f"/work/conflicts/{new.id}", choice="reject", **versions).text
    assert state(app, old, new) == [("active", "disputed")] * 2
