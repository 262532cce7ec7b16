"""Rules: pausing in the list, a backtest before saving, shadow beside live, going back; a trace, and costs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import psycopg
import pytest

from bench.stand import Stand
from core.types import Json
from tests.browser.pages import DESK, PHONE, Chromium, Look, Watched
from tests.samples import event

pytestmark = [pytest.mark.browser]

NOTE = {"action_type": "notify", "channel": "log", "template": "Order {{payload.n}}"}
SECONDS = 20


@pytest.fixture
def rule(stand: Stand) -> Iterator[Json]:
    """A rule that tells of large orders, under a name of its own: versions of a deleted rule stay."""
    made = {
        "name": f"tell_{time.time_ns()}",
        "event_type": "order.placed",
        "conditions": {"field": "payload.n", "op": ">", "value": 5},
        "actions": [NOTE],
    }
    stand.call("POST", "/v1/rules", made)
    yield made
    for one in stand.call("GET", f"/v1/rules?q={made['name']}")["items"]:
        stand.call("DELETE", f"/v1/rules/{one['name']}")


def publish(stand: Stand, prefix: str, *numbers: int) -> None:
    orders = [event("order.placed", {"n": n, "user_id": "noor"}, id=f"{prefix}:{n}") for n in numbers]
    stand.settle(stand.call("POST", "/v1/events", orders)["settle_token"])


def put(watched: Watched, text: Json) -> None:
    """Replace the text in the editor."""
    watched.page.locator(".cm-content").click()
    watched.page.keyboard.press("Control+a")
    watched.page.keyboard.insert_text(json.dumps(text, indent=2))
    watched.page.locator("#report", has_text="Valid.").wait_for()


def test_a_rule_is_paused_and_resumed_in_the_list_with_one_press(watched: Watched, stand: Stand, rule: Json) -> None:
    watched.open(f"/rules?q={rule['name']}")
    row = watched.page.locator("tr", has_text=rule["name"])
    assert "fired" in str(row.locator("svg").get_attribute("aria-label"))
    row.get_by_role("button", name="Pause").click()
    row.get_by_role("button", name="Resume").wait_for()
    assert stand.call("GET", f"/v1/rules/{rule['name']}")["rule"]["enabled"] is False
    assert watched.barriers() == []
    row.get_by_role("button", name="Resume").focus()
    watched.page.keyboard.press("Enter")
    row.get_by_role("button", name="Pause").wait_for()
    assert stand.call("GET", f"/v1/rules/{rule['name']}")["rule"]["enabled"] is True


def test_the_list_is_filtered_by_an_address(watched: Watched, stand: Stand, rule: Json) -> None:
    watched.open("/rules")
    watched.page.get_by_label("Name contains").fill(rule["name"])
    watched.page.get_by_label("State").select_option("live")
    watched.page.get_by_role("button", name="Filter").click()
    watched.page.wait_for_url(f"**/rules?q={rule['name']}&state=live")
    assert watched.page.locator("tbody tr").count() == 1


def test_an_edit_is_backtested_run_in_shadow_compared_and_put_in_force(
    watched: Watched, stand: Stand, rule: Json
) -> None:
    page, draft = watched.page, rule | {"conditions": {"field": "payload.n", "op": ">", "value": 3}}
    publish(stand, "past", 1, 4, 9)
    watched.open(f"/rules/{rule['name']}")
    put(watched, draft)
    page.get_by_role("button", name="Backtest").click()
    page.locator("#backtest canvas").wait_for()
    assert page.locator("#backtest .columns a[href$='past%3A4']").count() == 1
    assert watched.barriers() == []

    with page.expect_navigation():
        page.get_by_role("button", name="Run in shadow").click()
    assert page.url.endswith(f"{rule['name']}.shadow")
    time.sleep(3)  # Routers know both versions, and decisions count from two seconds after the later one.
    publish(stand, "live", 2, 4, 8)
    watched.open(f"/rules/{rule['name']}")
    beside = page.locator("#beside")
    beside.locator(".tiles").wait_for()
    assert beside.locator(".tiles b").all_inner_texts() == ["1", "0", "1", "0"]
    assert beside.locator("tbody a[href$='live%3A4']").is_visible()
    beside.get_by_label("Time").select_option("1d")
    page.locator("#beside .htmx-request").wait_for(state="detached")
    assert [*watched.barriers(), *watched.overflow()] == []

    watched.open(f"/rules/{rule['name']}.shadow")
    page.on("dialog", lambda dialog: dialog.accept())
    with page.expect_navigation():
        page.get_by_role("button", name="Put in force").click()
    page.locator("h1", has_text="v2").wait_for()
    assert stand.call("GET", f"/v1/rules/{rule['name']}")["rule"]["conditions"]["value"] == 3

    page.get_by_role("button", name="Roll back to this").click()
    page.locator("#rollback-1 del").first.wait_for()
    assert watched.barriers() == []
    with page.expect_navigation():
        page.get_by_role("button", name="Roll back", exact=True).click()
    page.locator("h1", has_text="v3").wait_for()
    assert stand.call("GET", f"/v1/rules/{rule['name']}")["rule"]["conditions"]["value"] == 5


def test_a_trace_leads_to_a_test_with_an_edited_value(watched: Watched, stand: Stand, rule: Json) -> None:
    page = watched.page
    card = page.locator(".lanes article", has_text=rule["name"])
    end = time.monotonic() + SECONDS
    while not card.count() and time.monotonic() < end:  # Until the router knows the rule.
        place = f"trace{time.monotonic_ns()}"
        publish(stand, place, 2)
        watched.open(f"/events/{place}%3A2")
    assert card.locator(".badge").first.inner_text() == "no match"
    assert card.locator(".leaf.no .actual").inner_text() == "2"
    card.get_by_role("link", name="Test this rule with an edited value").click()
    page.wait_for_url("**#test")
    watched.settle()
    sample = page.locator("#sample")
    sample.fill(sample.input_value().replace('"n": 2', '"n": 7'))
    page.get_by_role("button", name="Test with these values").click()
    page.locator("#tested .badge.fired").wait_for()
    assert watched.barriers() == []


@pytest.fixture
def spent(stand: Stand) -> Iterator[None]:
    """Model calls of three days: the offline extractor of the demo has made none."""
    fill = """
        INSERT INTO model_calls (tenant_id, dispatch_id, model, prompt, input_tokens, output_tokens, cost, outcome, at)
        SELECT d.tenant_id, d.id, 'small', 'p.v1', 900, 100, 0.01, 'ok', now() - make_interval(days => n)
        FROM (SELECT * FROM dispatches WHERE rule IS NOT NULL ORDER BY id LIMIT 5) d, generate_series(0, 2) n
    """
    with psycopg.connect(stand.admin_url) as connection:
        connection.execute(fill)
    yield
    with psycopg.connect(stand.admin_url) as connection:
        connection.execute("DELETE FROM model_calls")


@pytest.mark.usefixtures("spent")
@pytest.mark.parametrize("look", [DESK, PHONE], ids=lambda look: look.name)
def test_costs_are_drawn_over_a_table(chromium: Chromium, stand: Stand, look: Look) -> None:
    with chromium.logged_in(stand.key, look) as watched:
        watched.open("/costs?by=rule&span=7d")
        watched.page.locator(".plot canvas").wait_for()
        told = watched.page.locator(".plot td[data-value]").evaluate_all(
            "(all) => all.map((one) => Number(one.dataset.value))"
        )
        assert round(sum(told), 2) == 0.15
        assert [*watched.barriers(), *watched.overflow(), *watched.faults] == []
        watched.page.locator("tbody a[href^='/console/rules/']").first.click()
        watched.page.wait_for_url("**/console/rules/*")
