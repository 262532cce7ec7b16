"""The ways to begin: what is pasted, dropped or copied arrives, and can be seen to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.stand import Stand
from tests.browser.pages import Watched

pytestmark = [pytest.mark.browser]

DROP = """
([selector, name, text]) => {
  const carried = new DataTransfer();
  carried.items.add(new File([text], name));
  const place = document.querySelector(selector);
  for (const kind of ['dragover', 'drop']) {
    place.dispatchEvent(new DragEvent(kind, {bubbles: true, cancelable: true, dataTransfer: carried}));
  }
}
"""


def test_a_pasted_conversation_is_shown_then_imported_and_its_memories_appear(watched: Watched) -> None:
    page = watched.page
    watched.open("/add")
    page.locator("#add-user").fill("kim")
    page.locator("#add-text").fill("Kim: I live in Porto.\nassistant: Noted.\nKim: I am allergic to shellfish.")
    page.get_by_role("button", name="See what is in it").click()
    page.locator(".preview .talk li").nth(2).wait_for()
    assert watched.barriers() == []
    page.get_by_role("button", name="Remember this").click()
    page.wait_for_url("**/console?added=pasted-*")
    page.locator("#added a", has_text="shellfish").first.wait_for(timeout=60_000)
    assert [*watched.overflow(), *watched.barriers()] == []


def test_a_file_that_is_dropped_on_the_text_is_read_into_it(watched: Watched) -> None:
    watched.open("/add")
    talk = json.dumps([{"role": "user", "content": "I play the cello.", "session_id": "dropped"}])
    watched.page.evaluate(DROP, ["#add-text", "talk.json", talk])
    watched.page.wait_for_function("document.querySelector('#add-text').value.includes('cello')")
    watched.page.get_by_role("button", name="See what is in it").click()
    watched.page.locator(".preview", has_text="messages").wait_for()


def test_a_file_is_dropped_looked_at_and_imported(watched: Watched, stand: Stand) -> None:
    page = watched.page
    watched.open("/imports")
    page.locator("#file-user").fill("lena")
    line = json.dumps({"role": "user", "content": "I play the cello.", "session_id": "lena-1"})
    page.evaluate(DROP, [".drop", "lena.ndjson", line])
    assert page.locator(".drop [data-name]").inner_text() == "lena.ndjson"
    page.get_by_role("button", name="Look only").click()
    page.locator("[data-answer]", has_text="What is in it").wait_for()
    page.locator(".upload").get_by_role("button", name="Import", exact=True).click()
    page.locator("[data-answer]", has_text="Imported").wait_for()
    assert stand.call("GET", "/v1/sessions/lena-1/messages")["items"][0]["content"] == "I play the cello."
    assert watched.barriers() == []


def test_a_file_that_cannot_be_read_is_refused_with_a_word(watched: Watched, tmp_path: Path) -> None:
    watched.open("/imports")
    watched.page.locator("#file-user").fill("lena")
    broken = tmp_path / "broken.json"
    broken.write_text('{"role": ')
    watched.page.locator("#file").set_input_files(broken)
    watched.page.get_by_role("button", name="Look only").click()
    watched.page.locator("[data-answer], #notices", has_text="is not JSON at character 9").first.wait_for()
    watched.faults.clear()


def test_the_line_for_a_shell_names_this_server_and_is_copied(watched: Watched, stand: Stand) -> None:
    watched.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    watched.open("/add")
    watched.page.get_by_role("button", name="Copy").click()
    watched.page.get_by_role("button", name="Copied").wait_for()
    copied = watched.page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"curl {stand.url}/v1/events")
    assert "YOUR_API_KEY" in copied


def test_health_shows_processes_queues_and_tables_and_says_so_again(watched: Watched) -> None:
    watched.open("/health")
    text = watched.page.locator("main").inner_text()
    for word in ("Everything is at work", "worker-cpu", "forget_nightly", "PostgreSQL", "search_index"):
        assert word in text
    with watched.page.expect_response("**/health/figures"):
        pass
    assert [*watched.overflow(), *watched.barriers()] == []
