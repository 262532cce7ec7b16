from __future__ import annotations

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.factories import a_memory, carry_out


def test_a_context_shows_its_sections_with_tokens_and_sources(browser: Browser, app: Database) -> None:
    memory = a_memory("Ada plays the cello.")
    carry_out(app, memory)
    shown = browser.get("/context?user_id=ada&query=cello&max_tokens=800").text
    assert "of 800 tokens" in shown
    assert "Ada plays the cello." in shown
    assert f"/console/memories/{memory.id}" in shown


def test_a_limit_that_is_too_small_is_refused_with_a_word(browser: Browser) -> None:
    assert browser.get("/context?user_id=ada&max_tokens=1").status_code == 422


def test_two_questions_show_what_a_cache_reuses(browser: Browser, app: Database) -> None:
    carry_out(app, a_memory("Ada plays the cello."), a_memory("Ada lives in Turin."))
    shown = browser.get("/context?user_id=ada&query=cello&then=where").text
    assert "tokens are reused by the next prompt" in shown
    assert "The text, with what is new marked" in shown
