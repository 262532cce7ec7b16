"""A chart: drawn over a table that says the same."""

from __future__ import annotations

import pytest

from bench.stand import Stand
from tests.browser.pages import Watched

pytestmark = [pytest.mark.browser]

RULE = "consolidate_on_session_end"


def test_what_a_rule_decided_is_drawn_and_stands_in_a_table(watched: Watched, stand: Stand) -> None:
    watched.open(f"/rules/{RULE}")
    page = watched.page
    canvas = page.locator(".plot canvas")
    canvas.wait_for()
    drawn = "(canvas) => canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
    assert canvas.evaluate(drawn)
    page.locator(".plot summary").click()
    told = page.locator(".plot td[data-value]").evaluate_all("(all) => all.map((one) => Number(one.dataset.value))")
    assert len(told) == 28 * 3
    assert sum(told[::3]) == stand.call("GET", f"/v1/rules/{RULE}/stats")["fired"] > 0
    assert watched.barriers() == []


def test_a_chart_follows_the_theme(watched: Watched) -> None:
    watched.open(f"/rules/{RULE}")
    canvas = watched.page.locator(".plot canvas")
    canvas.wait_for()
    light = watched.page.locator(".plot .u-marker").nth(1).evaluate("(one) => getComputedStyle(one).backgroundColor")
    watched.page.locator("[data-theme-switch]").click()
    canvas.wait_for()
    dark = watched.page.locator(".plot .u-marker").nth(1).evaluate("(one) => getComputedStyle(one).backgroundColor")
    assert light != dark
