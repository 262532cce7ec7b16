"""The live page: an event is there without a reload, and a flood of them does not make the page slow."""

from __future__ import annotations

import threading
import time

import pytest

from bench.stand import Stand
from tests.browser.pages import Watched
from tests.samples import event, said

pytestmark = [pytest.mark.browser]

LONG_TASKS = """
window.longest = 0;
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) window.longest = Math.max(window.longest, task.duration);
}).observe({type: 'longtask', buffered: false});
"""

RATE, SECONDS, BATCH = 1_000, 5, 100


def test_an_event_is_shown_as_it_comes_without_a_reload(watched: Watched, stand: Stand) -> None:
    watched.open("")
    watched.page.evaluate("window.kept = true")
    watched.page.wait_for_timeout(500)
    stand.call("POST", "/v1/events", [said("A marker for the live page.", session="live", user="liv", id="live:1")])
    row = watched.page.locator("#live tr", has_text="A marker for the live page.")
    row.wait_for()
    assert watched.page.evaluate("window.kept")
    row.locator("a").click()
    watched.page.wait_for_url("**/console/events/live%3A1")


@pytest.mark.slow
def test_a_thousand_events_a_second_leave_the_page_responsive(watched: Watched, stand: Stand) -> None:
    watched.open("")
    watched.page.evaluate(LONG_TASKS)
    flood = threading.Thread(target=pour, args=(stand,))
    flood.start()
    slowest = 0.0
    while flood.is_alive():
        began = time.perf_counter()
        watched.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        slowest = max(slowest, time.perf_counter() - began)
        watched.page.wait_for_timeout(50)
    flood.join()
    watched.page.locator("#live tr", has_text="flood.came").first.wait_for()
    assert watched.page.locator("#live tr").count() <= 100
    longest = watched.page.evaluate("window.longest")
    print(f"longest task {longest:.0f} ms, slowest frame {1_000 * slowest:.0f} ms")
    assert longest < 200


def pour(stand: Stand) -> None:
    """Publish events at a steady rate, or as fast as this machine takes them."""
    began = time.perf_counter()
    for number in range(0, RATE * SECONDS, BATCH):
        stand.call("POST", "/v1/events", [event("flood.came", {"n": number + one}) for one in range(BATCH)])
        time.sleep(max(0.0, began + (number + BATCH) / RATE - time.perf_counter()))
