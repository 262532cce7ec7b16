"""`imprint approvals`: what waits for somebody's word, and the word itself."""

from __future__ import annotations

from typing import Any

import pytest

from core.storage.db import Database
from core.tenancy.destinations import Outlets
from core.types import Json
from rules.registry import store
from rules.registry.limits import Allowed
from tests.commands import Imprint
from tests.factories import a_memory, carry_out
from tests.rules.samples import a_document
from tests.samples import TENANT, accept, event
from tests.works import Works

NOTIFY: Json = {"action_type": "notify", "channel": "log", "template": "Total: {{payload.total}}"}


def hold(app: Database, works: Works, action: Json = NOTIFY) -> None:
    """One dispatch that waits for approval."""
    document = a_document(name="careful", event_type="order.placed", action_mode="approve", actions=[action])
    with app.tenant(TENANT) as tx:
        store.save(tx, TENANT, document, author="test", allowed=Allowed(Outlets(["a.example"], [], ["q"])))
    accept(app, event(payload={"total": 12}))
    works.settle()


def waiting(imprint: Imprint) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = imprint("approvals", "list", "--json").json["items"]
    return found


def test_what_waits_is_shown_with_what_it_would_do_and_until_when(
    imprint: Imprint, app: Database, works: Works
) -> None:
    hold(app, works)
    (one,) = waiting(imprint)
    shown = imprint("approvals", "list")
    assert shown.code == 0
    for words in (one["id"][-8:], "careful", "notify log: Total: 12"):
        assert words in shown.out
    whole = imprint("approvals", "show", one["id"][-8:]).out
    for words in (one["id"], f"order.placed {one['event_id']}", "notify log: Total: 12", "may decide"):
        assert words in whole
    assert imprint("approvals", "list", "--rule", "other").out == ""


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ({"action_type": "run_agent", "target": "memory_extractor"}, "run memory_extractor"),
        ({"action_type": "emit", "event_type": "order.checked", "payload": {"n": 1}}, 'emit order.checked {"n": 1}'),
        ({"action_type": "webhook", "url": "https://a.example/x"}, "post to https://a.example/x"),
        ({"action_type": "celery", "task": "t.a", "queue": "q", "kwargs": {"n": 1}}, 'send t.a to q {"n": 1}'),
    ],
)
def test_every_kind_of_action_is_told_in_a_few_words(
    imprint: Imprint, app: Database, works: Works, action: Json, words: str
) -> None:
    hold(app, works, action)
    assert words in imprint("approvals", "list").out


def test_nothing_waits(imprint: Imprint) -> None:
    said = imprint("approvals", "list")
    assert (said.code, said.out, "Nothing waits" in said.err) == (0, "", True)
    assert waiting(imprint) == []


def test_what_an_event_says_is_no_markup(imprint: Imprint, app: Database, works: Works) -> None:
    hold(app, works, NOTIFY | {"template": "[red]{{payload.total}}[/blue]"})
    assert "[red]12[/blue]" in imprint("approvals", "list").out


def test_yes_and_no_are_kept_with_their_comment(imprint: Imprint, app: Database, works: Works) -> None:
    for word, verdict, status in (("approve", "approved", "pending"), ("reject", "rejected", "cancelled")):
        hold(app, works)
        (one,) = waiting(imprint)
        said = imprint("approvals", word, one["id"][-8:], "--comment", "as agreed")
        assert (said.code, said.err) == (0, f"{one['id'][-8:]} is {verdict}.\n")
        assert waiting(imprint) == []
        after = imprint("dead", "show", one["id"], "--json").json
        assert (after["status"], after["approval"]["verdict"], after["approval"]["comment"]) == (
            status,
            verdict,
            "as agreed",
        )


def test_who_comes_too_late_is_told_who_decided(imprint: Imprint, app: Database, works: Works) -> None:
    hold(app, works)
    (one,) = waiting(imprint)
    assert imprint("approvals", "approve", one["id"]).code == 0
    assert imprint("approvals", "approve", one["id"]).code == 0
    said = imprint("approvals", "reject", one["id"])
    assert said.code == 1
    assert "approved by key:" in said.err


def test_a_correction_is_shown_with_both_wordings(imprint: Imprint, app: Database, works: Works) -> None:
    tea = a_memory("Ada likes tea.")
    carry_out(app, tea)
    payload = {"user_id": "ada", "memory_id": str(tea.id), "verdict": "correct", "content": "Ada likes coffee."}
    accept(app, event("feedback.given", payload))
    works.settle()
    (item,) = waiting(imprint)
    for command in (["list"], ["show", item["id"]]):
        words = " ".join(imprint("approvals", *command).out.split())
        assert "Ada likes tea. → Ada likes coffee." in words
        assert str(tea.id)[-8:] in words
