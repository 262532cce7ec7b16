from __future__ import annotations

from core.config import Settings
from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors, key_of
from tests.factories import a_memory, carry_out
from tests.samples import TENANT, said


def test_a_result_shows_the_parts_of_its_score(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get("/search?user_id=ada&query=cello&method=keyword").text
    assert f"/console/memories/{memory.id}" in shown
    assert "its own match" in shown
    assert "How it was searched" in shown


def test_without_an_owner_nothing_is_asked(browser: Browser) -> None:
    assert "Ask a question" in browser.get("/search?query=cello").text


def test_the_page_says_where_a_memory_stands_and_shows_the_arms(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get("/search?user_id=ada&query=cello").text
    assert "Ranking of each arm" in shown
    assert "Where the time went" in shown
    why = browser.press("/search/why", user_id="ada", query="cello", method="hybrid", id=str(memory.id)).text
    assert "ranks 1" in why


def test_a_memory_is_looked_for_by_words_of_it(browser: Browser, app: Database) -> None:
    cello, viola = a_memory("Ada plays the cello."), a_memory("Ada plays the viola.")
    carry_out(app, cello, viola)
    asked = {"user_id": "ada", "query": "What does Ada play?", "method": "hybrid", "limit": "1"}
    several = browser.press("/search/why", **asked, id="Ada plays").text
    assert str(cello.id) in several
    assert str(viola.id) in several
    one = browser.press("/search/why", **asked, id="viola").text
    assert f"/console/memories/{viola.id}" in one
    assert "part-own" in one
    assert "No memory of this user" in browser.press("/search/why", **asked, id="harp").text


def test_raw_text_is_offered_to_keys_that_may_read_it(browser: Browser, door: Doors) -> None:
    door.post("/v1/events", said("My card is 4111 1111 1111 1111."))
    masked = browser.get("/sessions/s1").text
    assert "4111" not in masked
    assert "Show as it was sent" in masked
    assert "4111" in browser.get("/sessions/s1?raw=true").text
    [record] = door.get("/v1/events?type=raw.read").json()["items"]
    assert record["payload"]["session_id"] == "s1"


def test_a_key_without_the_scope_sees_no_control_and_no_raw_text(
    stranger: Browser, door: Doors, settings: Settings
) -> None:
    door.post("/v1/events", said("My card is 4111 1111 1111 1111."))
    assert stranger.log_in(key_of(settings, TENANT, ("read",))).status_code == 303
    assert "Show as it was sent" not in stranger.get("/sessions/s1").text
    refused = stranger.get("/sessions/s1?raw=true")
    assert refused.status_code == 403
    assert "4111" not in refused.text
    assert "Show as it was sent" not in stranger.get("/search").text


def test_the_answer_stands_above_the_results_with_its_source(browser: Browser, app: Database) -> None:
    home = a_memory("Ada does live in Porto.")
    carry_out(app, home)
    assert "/console/search/answer?" in browser.get("/search?user_id=ada&query=Where+does+Ada+live%3F").text
    shown = browser.get("/search/answer?user_id=ada&query=Where+does+Ada+live%3F").text
    assert "Ada does live in Porto." in shown
    assert f"/console/memories/{home.id}" in shown
    unknown = browser.get("/search/answer?user_id=ada&query=Which+dentist%3F").text
    assert "Not known." in unknown
    assert "The nearest is" in unknown
