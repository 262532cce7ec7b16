"""The palette and the keys: everything can be reached without a mouse."""

from __future__ import annotations

import pytest

from tests.browser.pages import Watched

pytestmark = [pytest.mark.browser]


@pytest.fixture
def start(watched: Watched) -> Watched:
    watched.open("/people")
    return watched


def chosen(watched: Watched) -> str:
    """What a screen reader is told to be chosen: the option that the field names."""
    told: str = watched.page.evaluate(
        """() => {
          const field = document.activeElement;
          const option = document.getElementById(field.getAttribute('aria-activedescendant'));
          return option?.getAttribute('aria-selected') === 'true' ? option.innerText : '';
        }"""
    )
    return told


def test_an_area_is_reached_by_a_few_letters(start: Watched) -> None:
    page = start.page
    page.keyboard.press("Control+k")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "combobox"
    page.keyboard.type("memor")
    assert chosen(start).startswith("Memories")
    assert start.barriers() == []
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/memories")


def test_what_the_server_finds_is_chosen_with_arrows(start: Watched) -> None:
    page = start.page
    page.keyboard.press("/")
    page.keyboard.type("consolidate")
    page.locator("#palette-rule-1", has_text="consolidate_on_session_end").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert chosen(start).startswith("consolidate_on_session_end")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rules/consolidate_on_session_end")


def test_a_button_of_the_page_is_an_action_of_the_palette(start: Watched) -> None:
    start.open("/rules/consolidate_on_session_end")
    start.page.locator("main").focus()
    start.page.keyboard.press("Control+k")
    start.page.keyboard.type("review and")
    assert chosen(start) == "Review and save …"
    start.page.keyboard.press("Escape")
    assert not start.page.locator("#palette").is_visible()


def test_g_and_a_letter_go_to_an_area_but_not_from_within_a_field(start: Watched) -> None:
    start.page.keyboard.type("ge")
    start.page.wait_for_url("**/console/events")
    start.page.locator("input[name=type]").fill("")
    start.page.locator("input[name=type]").press_sequentially("gm/?")
    assert start.page.url.endswith("/console/events")
    assert start.page.locator("input[name=type]").input_value() == "gm/?"


def test_rows_are_walked_with_j_and_k_and_opened_with_enter(start: Watched) -> None:
    start.open("/events")
    links = start.page.locator("main tbody tr a").evaluate_all("(all) => all.map((one) => one.pathname)")
    for key in "jjjk":
        start.page.keyboard.press(key)
    assert start.page.evaluate("document.activeElement.pathname") == links[1]
    start.page.keyboard.press("Enter")
    start.page.wait_for_url(f"**{links[1]}")


def test_the_list_of_keys_opens_closes_and_has_no_barrier(start: Watched) -> None:
    start.page.keyboard.press("?")
    assert start.page.locator("#keys").is_visible()
    assert start.barriers() == []
    start.page.keyboard.press("Escape")
    assert not start.page.locator("#keys").is_visible()
