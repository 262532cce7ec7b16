"""Groups of dead letters: retry, discard, and the letters of one."""

from __future__ import annotations

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.api.http.dead import failed, groups, letters
from tests.api.http.dispatching import status_of
from tests.doors import Doors
from tests.works import Works


def test_a_group_is_shown_once_with_its_number_its_cause_and_its_letters(
    browser: Browser, door: Doors, app: Database
) -> None:
    ids = letters(app, "host 10.1 failed after 3 s") + letters(app, "host 10.2 failed after 12 s")
    letters(app, "no such host")
    shown = browser.get("/work/dead").text
    assert "<b>2 ×</b>" in shown
    assert "Retry all 2" in shown
    assert "/console/rules/r" in shown
    [group] = [one for one in groups(door) if one["letters"]["count"] == 2]
    inside = browser.get(f"/work/dead/{group['fingerprint']}").text
    assert all(one in inside for one in ids)
    assert "/console/events/" in inside


def test_a_group_is_retried_with_one_press(browser: Browser, door: Doors, app: Database) -> None:
    ids = letters(app, "timeout", 3)
    [group] = groups(door)
    assert browser.press("/work/dead/retry", fingerprint=group["fingerprint"]).status_code == 204
    assert status_of(door, *ids) == ["pending"] * 3
    assert "None of these" in browser.press("/work/dead/retry", fingerprint=group["fingerprint"]).text


def test_a_group_without_an_agent_says_that_it_cannot_be_retried(browser: Browser, app: Database) -> None:
    letters(app, "The chain is too long.", target="hop_limit")
    shown = browser.get("/work/dead").text
    assert 'disabled title="There is no agent to retry' in shown


def test_a_group_is_discarded_by_typing_its_number(browser: Browser, door: Doors, app: Database, works: Works) -> None:
    ids = failed(app, works, 2)
    [group] = groups(door)
    fields = {"fingerprint": group["fingerprint"]}
    assert "Type the number" in browser.press("/work/dead/discard", **fields, confirm="all").text
    assert "1 dead letters match now" in browser.press("/work/dead/discard", **fields, confirm="7").text
    assert status_of(door, *ids) == ["dead", "held"]
    assert browser.press("/work/dead/discard", **fields, confirm="1", comment="old").status_code == 204
    assert status_of(door, *ids) == ["cancelled", "cancelled"]
