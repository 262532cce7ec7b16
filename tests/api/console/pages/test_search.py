from __future__ import annotations

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.factories import a_memory, carry_out


def test_a_result_shows_the_parts_of_its_score(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get("/search?user_id=ada&query=cello&method=keyword").text
    assert f"/console/memories/{memory.id}" in shown
    assert "lexical" in shown
    assert "How it was searched" in shown


def test_without_an_owner_nothing_is_asked(browser: Browser) -> None:
    assert "Ask a question" in browser.get("/search?query=cello").text


def test_the_page_says_where_a_memory_stands_and_shows_the_arms(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get("/search?user_id=ada&query=cello").text
    assert "Ranking of each arm" in shown
    why = browser.press("/search/why", user_id="ada", query="cello", method="hybrid", id=str(memory.id)).text
    assert "ranks 1" in why
