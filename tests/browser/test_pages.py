"""Every page, at a desk in the light and on a phone in the dark: whole, within its window, and without barriers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.stand import Stand
from tests.browser.pages import DESK, PHONE, Chromium, Look, Watched

pytestmark = [pytest.mark.browser]

PAGES = (
    "", "/events", "/events?type=memory.*", "/rules", "/rules/consolidate_on_session_end", "/memories", "/search",
    "/search?user_id=maya&query=Where+does+she+live%3F", "/people", "/people/maya", "/context", "/documents", "/work",
    "/service", "/memories/{memory}", "/events/{event}", "/sessions/{session}",
    "/rules/consolidate_on_session_end?event={event}",
)  # fmt: skip


@pytest.fixture(scope="module", params=[DESK, PHONE], ids=lambda look: look.name)
def window(request: pytest.FixtureRequest, chromium: Chromium, stand: Stand) -> Iterator[Watched]:
    look: Look = request.param
    with chromium.logged_in(stand.key, look) as watched:
        yield watched


@pytest.fixture(scope="module")
def ids(stand: Stand) -> dict[str, str]:
    event = stand.call("GET", "/v1/events?type=session.ended&limit=1")["items"][0]
    return {
        "memory": stand.call("GET", "/v1/memories?limit=1&order=uses")["items"][0]["id"],
        "event": event["id"],
        "session": event["payload"]["session_id"],
    }


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_whole_and_open_to_all(window: Watched, ids: dict[str, str], path: str) -> None:
    assert window.open(path.format(**ids)) == 200
    found = [*window.overflow(), *window.barriers(), *window.faults]
    window.faults.clear()
    assert found == []


def test_the_login_is_whole_and_open_to_all(chromium: Chromium) -> None:
    for look in (DESK, PHONE):
        with chromium.window(look) as context:
            login = Watched(context.new_page(), chromium.axe)
            assert login.open("/login") == 200
            assert [*login.overflow(), *login.barriers(), *login.faults] == []
