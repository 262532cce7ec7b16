from __future__ import annotations

from datetime import timedelta
from unittest import mock

from api.console.pages import costs
from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.core.inference.calls import NOW, call, dispatch


def test_without_calls_the_page_says_so(browser: Browser) -> None:
    assert "No model was called." in browser.get("/costs").text


def test_costs_are_a_chart_and_a_table_with_links(browser: Browser, app: Database) -> None:
    call(app, dispatch(app, "memory_extractor", "on_end", "ada"), cost=1.5)
    call(app, cost=0.5)
    shown = browser.get("/costs?by=rule").text
    assert 'href="/console/rules/on_end"' in shown
    assert "no rule" in shown
    assert "2.0000" in shown
    assert 'data-series="c0"' in shown
    assert 'aria-label="75 %"' in shown
    assert 'href="/console/people/ada"' in browser.get("/costs?by=user").text


def test_calls_without_a_price_are_shown_in_tokens(browser: Browser, app: Database) -> None:
    call(app, cost=0)
    shown = browser.get("/costs?by=model&span=7d").text
    assert "Tokens by day" in shown
    assert 'data-value="110"' in shown


def test_of_too_many_calls_the_newest_are_counted_and_the_page_says_since_when(browser: Browser, app: Database) -> None:
    for hours in range(4):
        call(app, at=NOW - timedelta(hours=hours), cost=1.0)
    assert "Only the newest" not in browser.get("/costs?by=model").text
    with mock.patch.object(costs, "COUNTED", {"model": 2}):
        shown = browser.get("/costs?by=model").text
    assert "Only the newest 2 calls are counted, those since" in shown
    assert "3.0000" in shown
