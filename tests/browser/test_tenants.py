"""Two tenants side by side, and a key that may only read: what is not theirs is neither shown nor done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from bench.stand import Stand
from core.config import Settings
from tests.browser.pages import AREAS, DESK, Chromium, Watched
from tests.doors import key_of
from tests.samples import said

pytestmark = [pytest.mark.browser, pytest.mark.slow]

HARMLESS = ("/validate", "/backtest", "/test", "/try", "/logout")
"""Ends of requests that change nothing, and that a key may send which only reads."""

BUTTONS = """
() => [...document.querySelectorAll('main [hx-post], main [hx-delete], main [hx-put], main [hx-patch]')].map((one) => {
  const form = one.closest('form') ?? one;
  const fields = form.tagName === 'FORM' ? Object.fromEntries(new FormData(form)) : {};
  return [one.getAttribute('hx-post') ?? one.getAttribute('hx-delete') ?? '', fields];
})
"""

SEND = """
async ([path, fields]) => {
  const {'X-CSRF-Token': token} = JSON.parse(document.body.getAttribute('hx-headers:inherited'));
  const answer = await fetch(path, {
    method: 'POST', body: new URLSearchParams(fields), headers: {'X-CSRF-Token': token, 'HX-Request': 'true'}});
  return [answer.status, await answer.text()];
}
"""


@dataclass(frozen=True)
class Tenant:
    """A tenant with a planted word in each of its things."""

    key: str
    marker: str
    memory: str
    seen: Watched


@pytest.fixture(scope="module")
def sides(chromium: Chromium, stand: Stand) -> Iterator[Mapping[str, Tenant]]:
    with ExitStack() as opened:
        found = {}
        for name in ("acme", "globex"):
            key, marker = key_of(Settings(home=stand.home), name), f"marker{name}"
            memory = plant(stand, key, marker)
            found[name] = Tenant(key, marker, memory, opened.enter_context(chromium.logged_in(key, DESK)))
        yield found


def plant(stand: Stand, key: str, marker: str) -> str:
    """Leave the word in an event, a session, a memory, a rule and a document; the ids are the same for everybody."""
    with httpx.Client(base_url=stand.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as http:

        def call(method: str, path: str, body: Any) -> Any:
            answer = http.request(method, path, json=body)
            assert answer.is_success, answer.text
            return answer.json()

        call("POST", "/v1/events", [said(f"I read {marker}.", session="shared", user="ada", id="shared-event")])
        rule = {"name": "shared_rule", "event_type": "a.b", "description": marker, "actions": [NOTIFY]}
        call("POST", "/v1/rules", rule)
        stated = call("POST", "/v1/memories", {"user_id": "ada", "content": f"Ada reads {marker} every week."})
        return str(stated["memory"]["id"] if "memory" in stated else stated["id"])


NOTIFY = {"action_type": "notify", "channel": "log", "template": "x"}


def test_neither_tenant_sees_a_word_of_the_other(sides: Mapping[str, Tenant]) -> None:
    paths = (
        *AREAS, "/people/ada", "/sessions/shared", "/events/shared-event", "/rules/shared_rule",
        "/memories?user_id=ada", "/search?user_id=ada&query=marker", "/palette?q=marker", "/palette?q=shared",
        "/context?user_id=ada",
    )  # fmt: skip
    for mine, theirs in (("acme", "globex"), ("globex", "acme")):
        own, other, seen = sides[mine], sides[theirs], 0
        for path in paths:
            own.seen.open(path)
            text = own.seen.page.content()
            assert other.marker not in text, path
            seen += own.marker in text
        assert seen >= 5


def test_the_address_of_anothers_memory_leads_nowhere(sides: Mapping[str, Tenant]) -> None:
    acme, globex = sides["acme"], sides["globex"]
    assert acme.seen.open(f"/memories/{acme.memory}") == 200
    acme.seen.faults.clear()
    assert globex.seen.open(f"/memories/{acme.memory}") == 404
    assert acme.marker not in globex.seen.page.content()
    assert globex.seen.page.evaluate(SEND, [f"/console/memories/{acme.memory}/pin", {"pinned": "true"}])[0] == 200
    assert "There is no" in globex.seen.page.evaluate(SEND, [f"/console/memories/{acme.memory}/undo", {}])[1]


def test_no_button_of_any_page_does_anything_for_a_key_that_only_reads(
    chromium: Chromium, stand: Stand, sides: Mapping[str, Tenant]
) -> None:
    acme = sides["acme"]
    places = [*AREAS, f"/memories/{acme.memory}", "/people/ada", "/rules/shared_rule", "/documents"]
    headers = {"Authorization": f"Bearer {acme.key}"}
    asked = ("/v1/rules", "/v1/memories", f"/v1/memories/{acme.memory}/history", "/v1/dispatches", "/v1/documents")
    with (
        chromium.logged_in(key_of(Settings(home=stand.home), "acme", ("read",)), DESK) as reader,
        httpx.Client(base_url=stand.url, headers=headers) as http,
    ):
        before = [http.get(path).json() for path in asked]
        tried = {}
        for place in places:
            reader.open(place)
            for path, fields in reader.page.evaluate(BUTTONS):
                if path.endswith("/bulk"):
                    fields |= {"action": "archive", "id": acme.memory, "confirm": "1"}
                elif "confirm" in fields:
                    fields["confirm"] = acme.memory[-8:] if "/memories/" in path else "ada"
                tried[path] = reader.page.evaluate(SEND, [path, fields])
        assert [http.get(path).json() for path in asked] == before
    assert len(tried) >= 15
    for path, (status, text) in tried.items():
        assert status < 500, path
        if not path.endswith(HARMLESS):
            assert "lacks the scope" in text, (path, text)
