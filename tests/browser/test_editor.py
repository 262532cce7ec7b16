"""The editor of rules: what it offers, what it explains, where it shows problems, and that the form keeps the text."""

from __future__ import annotations

import pytest

from tests.browser.pages import Watched

pytestmark = [pytest.mark.browser]

RULE = "/rules/consolidate_on_session_end"


@pytest.fixture
def editor(watched: Watched) -> Watched:
    watched.open(RULE)
    watched.page.wait_for_selector(".cm-content")
    return watched


def put(editor: Watched, text: str) -> None:
    """Replace the text; the cursor stands at the bar."""
    page = editor.page
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text.replace("|", ""))
    for _ in range(len(text) - text.index("|") - 1):
        page.keyboard.press("ArrowLeft")


def offered(editor: Watched) -> list[str]:
    editor.page.wait_for_selector(".cm-tooltip-autocomplete li")
    return editor.page.locator(".cm-tooltip-autocomplete .cm-completionLabel").all_inner_texts()


def text_of(editor: Watched) -> str:
    return editor.page.locator("textarea[name=rule]").input_value()


@pytest.mark.parametrize(
    ("text", "typed", "first", "whole"),
    [
        ('{"name": "x", |}', '"pri', "priority", '{"name": "x", "priority": }'),
        ('{"event_type": |}', '"message.ad', "message.added", '{"event_type": "message.added"}'),
        (
            '{"event_type": "message.added", "conditions": {"field": |}}', '"rol', "payload.role",
            '{"event_type": "message.added", "conditions": {"field": "payload.role"}}',
        ),
        (
            '{"actions": [{"action_type": "run_agent", "target": "|"}]}', "memory_ext", "memory_extractor",
            '{"actions": [{"action_type": "run_agent", "target": "memory_extractor"}]}',
        ),
    ],
)  # fmt: skip
def test_what_is_typed_is_completed_by_the_schema_and_the_events(
    editor: Watched, text: str, typed: str, first: str, whole: str
) -> None:
    put(editor, text)
    editor.page.keyboard.type(typed)
    editor.page.locator(".cm-tooltip-autocomplete li[aria-selected]", has_text=first).wait_for()
    editor.page.wait_for_timeout(100)  # CodeMirror takes no choice in the first moments, so that typing goes on.
    editor.page.keyboard.press("Enter")
    assert text_of(editor) == whole


def test_only_fields_of_the_kind_of_action_are_offered(editor: Watched) -> None:
    put(editor, '{"actions": [{"action_type": "emit", |}]}')
    editor.page.keyboard.press("Control+Space")
    assert offered(editor) == ["event_type", "payload"]


def test_a_problem_is_shown_where_it_stands_and_goes_when_it_is_mended(editor: Watched) -> None:
    conditions = '"conditions": {"field": "payload.n", "op": "|", "value": 1}'
    actions = '"actions": [{"action_type": "notify", "channel": "log", "template": "x"}]'
    put(editor, f'{{"name": "consolidate_on_session_end", "event_type": "a.b", {conditions}, {actions}}}')
    editor.page.keyboard.type("equals")
    marked = editor.page.locator(".cm-lintRange-error")
    editor.page.locator("#report", has_text="did you mean").wait_for()
    assert marked.inner_text() == '"equals"'
    for _ in "equals":
        editor.page.keyboard.press("Backspace")
    editor.page.keyboard.type(">=")
    marked.wait_for(state="detached")


def test_a_word_is_explained_where_the_mouse_rests(editor: Watched) -> None:
    editor.page.locator(".cm-line span", has_text="event_type").first.hover()
    assert "wildcard" in editor.page.locator(".about").inner_text()


def test_tab_leaves_the_editor_and_nobody_is_caught_in_it(editor: Watched) -> None:
    put(editor, '{"name": "x"}|')
    editor.page.keyboard.press("Tab")
    assert editor.page.evaluate("document.activeElement.className") == "main", "the button behind it"


def test_without_scripts_the_text_area_is_left(watched: Watched) -> None:
    watched.page.route("**/editor.js*", lambda route: route.abort())
    watched.page.goto(f"/console{RULE}")
    watched.page.wait_for_timeout(300)
    assert watched.page.locator("textarea[name=rule]").is_visible()
    watched.faults.clear()
