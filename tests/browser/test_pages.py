"""Every page, at a desk and on a phone, in light and dark: whole, within its window, and without barriers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.stand import Stand
from tests.browser.pages import DESK, PHONE, Chromium, Look, Watched, all_pages

pytestmark = [pytest.mark.browser]


@pytest.mark.parametrize(
    ("look", "language"),
    [
        (DESK, "en-GB"),
        (PHONE, "en-GB"),
        pytest.param(replace(DESK, scheme="dark"), "zh-CN", marks=pytest.mark.slow),
        pytest.param(replace(PHONE, scheme="light"), "zh-CN", marks=pytest.mark.slow),
    ],
    ids=["desk, light", "phone, dark", "desk, dark, Chinese", "phone, light, Chinese"],
)
def test_every_page_is_whole_and_open_to_all(chromium: Chromium, stand: Stand, look: Look, language: str) -> None:
    found: dict[str, list[str]] = {}
    with chromium.logged_in(stand.key, look, language) as watched:
        for path in all_pages(stand):
            watched.faults.clear()
            assert watched.open(path) == 200
            found[path] = [*watched.overflow(), *watched.barriers(), *watched.faults]
    assert {path: faults for path, faults in found.items() if faults} == {}


def test_the_login_and_a_page_that_is_not_there_are_whole_too(chromium: Chromium, stand: Stand) -> None:
    for look in (DESK, PHONE):
        with chromium.window(look) as context:
            login = Watched(context.new_page(), chromium.axe)
            assert login.open("/login") == 200
            assert [*login.overflow(), *login.barriers(), *login.faults] == []
        with chromium.logged_in(stand.key, look) as watched:
            assert watched.open("/rules/nothing") == 404
            assert [*watched.overflow(), *watched.barriers()] == []


def test_pages_in_chinese_fit_and_are_open_to_all(chromium: Chromium, stand: Stand) -> None:
    with chromium.logged_in(stand.key, PHONE, "zh-CN") as watched:
        for path in ("", "/rules", "/search", "/service"):
            assert watched.open(path) == 200
            assert watched.page.locator("html").get_attribute("lang") == "zh-CN"
            assert [*watched.overflow(), *watched.barriers(), *watched.faults] == []
