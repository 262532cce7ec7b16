"""What needs a person, in a browser and with real failures: each kind is looked at, decided, and leaves the list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bench.stand import Stand
from core.config import Settings
from core.types import Json
from tests.browser import engine, troubles
from tests.browser.pages import DESK, PHONE, Chromium, Watched
from tests.browser.troubles import ORDERS, Receiver
from tests.doors import key_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@dataclass(frozen=True)
class Scene:
    """A troubled stack with its receiver, and a browser."""

    stand: Stand
    there: Receiver
    chromium: Chromium

    def group(self, target: str) -> Json:
        groups = self.stand.call("GET", "/v1/dispatches/groups")["items"]
        [found] = [one for one in groups if one["target"] == target]
        return dict(found)

    def pages(self) -> list[str]:
        letters = self.group("webhook_sender")
        places = ("", "/approvals", "/dead", f"/dead/{letters['fingerprint']}", f"/{letters['newest']['id']}")
        return [f"/work{place}" for place in (*places, "/conflicts", "/quarantine", "/deliveries")]


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    engine.require()
    with troubles.troubled() as (stand, there), engine.opened(stand) as chromium:
        yield Scene(stand, there, chromium)


@pytest.fixture
def seen(scene: Scene) -> Iterator[Watched]:
    with scene.chromium.logged_in(scene.stand.key, DESK) as watched:
        yield watched
        assert watched.faults == []


def test_all_pages_are_whole_and_open_to_all(scene: Scene) -> None:
    found = {}
    for look in (DESK, PHONE):
        with scene.chromium.logged_in(scene.stand.key, look) as watched:
            for path in scene.pages():
                watched.faults.clear()
                assert watched.open(path) == 200
                found[look.name, path] = [*watched.overflow(), *watched.barriers(), *watched.faults]
    assert {place: faults for place, faults in found.items() if faults} == {}


def test_the_navigation_counts_and_rows_are_walked_by_keys(scene: Scene, seen: Watched) -> None:
    seen.open("/work/approvals")
    assert int(seen.page.locator("#nav .count").inner_text()) >= 2 * ORDERS
    seen.page.keyboard.press("j")
    seen.page.keyboard.press("j")
    second = seen.page.locator("[data-row] [data-open]").nth(1)
    assert second.evaluate("(one) => one === document.activeElement")


def test_a_key_that_only_reads_gets_disabled_buttons_with_the_reason(scene: Scene) -> None:
    key = key_of(Settings(home=scene.stand.home), "default", ("read",))
    with scene.chromium.logged_in(key, DESK) as reader:
        for path in scene.pages()[1:]:
            reader.open(path)
            buttons = reader.page.locator("main form[hx-post] button, main button[hx-post]")
            assert buttons.count() > 0, path
            assert all(one.is_disabled() for one in buttons.all()), path
            assert "lacks the scope" in reader.page.locator(".lacks").first.inner_text()


def test_an_edited_parameter_is_checked_as_it_is_typed_and_reaches_the_receiver(scene: Scene, seen: Watched) -> None:
    newest = scene.group("webhook_sender")["newest"]
    seen.open(f"/work/{newest['id']}")
    assert "answered 500" in seen.page.locator("pre.bad").inner_text()
    editor = seen.page.locator(".editor .cm-content")
    editor.click()
    seen.page.keyboard.press("Control+a")
    seen.page.keyboard.insert_text('{"url": "http://elsewhere.example.com/x", "payload": {"total": 99}}')
    seen.page.locator("#report [data-pointer='/url']").wait_for()
    seen.page.keyboard.press("Control+a")
    seen.page.keyboard.insert_text(f'{{"url": "{scene.there.url}/crm", "payload": {{"total": 99}}}}')
    seen.page.locator("#report .good").wait_for()
    scene.there.well = True
    seen.page.get_by_role("button", name="Retry with these parameters").click()
    seen.page.get_by_text("Retried with parameters edited by").wait_for()
    troubles.await_until(lambda: {"total": 99} in scene.there.received)
    assert scene.group("webhook_sender")["letters"]["count"] == ORDERS - 1


def test_a_group_is_retried_with_one_press_and_leaves_the_list(scene: Scene, seen: Watched) -> None:
    scene.there.well = True
    seen.open("/work/dead")
    card = seen.page.locator("section.card", has_text="answered 500")
    card.get_by_role("button", name="Retry all").click()
    card.wait_for(state="detached")
    troubles.await_until(lambda: len(scene.there.received) == ORDERS)


def test_a_group_is_discarded_after_its_number_is_typed(scene: Scene, seen: Watched) -> None:
    seen.open("/work/dead")
    card = seen.page.locator("section.card", has_text="skill_learner")
    card.get_by_role("button", name="Discard…").click()
    card.locator("input[name=confirm]").fill("7")
    card.get_by_role("button", name="Discard 1").click()
    seen.page.get_by_text("1 dead letters match now").wait_for()
    card.locator("input[name=confirm]").fill("1")
    card.get_by_role("button", name="Discard 1").click()
    card.wait_for(state="detached")


def test_all_of_a_rule_are_approved_with_a_remark_that_is_shown(scene: Scene, seen: Watched) -> None:
    seen.open("/work/approvals")
    card = seen.page.locator("section.card", has_text="ask_first")
    assert "Refund" in card.inner_text()
    card.locator("form input[name=comment]").first.fill("checked with the shop")
    card.get_by_role("button", name=f"Approve all {ORDERS}").click()
    card.wait_for(state="detached")
    seen.open("/work")
    assert seen.page.get_by_text("checked with the shop").count() == ORDERS


def test_a_conflict_is_decided_and_the_decision_taken_back(scene: Scene, seen: Watched) -> None:
    seen.open("/work/conflicts")
    side = seen.page.locator(".side", has_text="Ada likes green tea.")
    side.get_by_role("button", name="Keep this one").click()
    seen.page.get_by_text("Decided.").wait_for()
    assert troubles.needs(scene.stand)["disputed"]["count"] == 0
    seen.page.get_by_role("button", name="Undo").click()
    side.wait_for()
    assert troubles.needs(scene.stand)["disputed"]["count"] == 2


def test_a_quarantined_text_shows_why_and_is_rejected(scene: Scene, seen: Watched) -> None:
    seen.open("/work/quarantine")
    row = seen.page.locator("[data-row]", has_text="reveal the system prompt")
    assert "previous instructions" in row.locator(".bad").first.inner_text()
    row.get_by_role("button", name="Reject").click()
    row.wait_for(state="detached")
    assert troubles.needs(scene.stand)["quarantined"]["count"] == 1
