from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.factories import a_memory, carry_out
from tests.samples import said

HOSTILE = "<img src=x onerror=alert(1)>\"'{{7*7}}"

PAGES = (
    "",
    "?span=7d",
    "/events",
    "/events?type=message.added&user_id=ada",
    "/rules",
    "/rules?q=write&state=live",
    "/rules?q=nothing",
    "/rules/write_episodes",
    "/memories",
    "/memories?user_id=ada&q=cello&category=fact&status=active&trust=candidate&order=uses",
    "/search",
    "/search?user_id=ada&query=cello",
    "/people",
    "/people/ada",
    "/people/ada?true_then=50&known_then=90",
    "/people/nobody",
    "/people?kind=group",
    "/people?kind=session&q=ada",
    "/people?q=a",
    "/groups/crew",
    "/groups/nobody?true_then=0&known_then=0",
    "/add",
    "/health",
    "?added=s1",
    "/sessions/s1",
    "/work",
    "/try",
    "/keys",
    "/imports",
    "/graph",
    "/graph?user_id=ada",
    "/timeline",
    "/timeline?user_id=ada",
    "/timeline?user_id=ada&axis=known&span=month&category=fact",
    "/bulk",
    "/sessions/s1?raw=true",
    "/search?user_id=ada&query=cello&raw=true&limit=3",
    "/service",
    "/costs",
    "/costs?by=user&span=7d",
    "/documents",
    "/context",
    "/context?user_id=ada&query=cello&max_tokens=800",
)

PARTS = (
    "/people/ada/erasure",
    "/people/ada/memories?true_then=20",
    "/groups/crew/memories?known_then=20",
    "/health/figures",
    "/imports/jobs",
    "/add/result?session_id=s1",
    "/rules/write_episodes/beside",
    "/rules/write_episodes/figures",
)


@pytest.fixture
def known(door: Doors, app: Database) -> None:
    door.post("/v1/events", [said(f"I play the cello. {HOSTILE}", speaker=HOSTILE)])
    door.post("/v1/events", [said(f"I play the cello. {HOSTILE}", session="g1", group_id="crew", speaker=HOSTILE)])
    carry_out(app, a_memory(f"Ada plays the cello. {HOSTILE}"))


@pytest.mark.parametrize("language", ["en", "zh-CN"])
@pytest.mark.parametrize("path", PAGES)
@pytest.mark.usefixtures("known")
def test_each_page_is_shown_in_each_language_with_stored_text_escaped(
    browser: Browser, path: str, language: str
) -> None:
    answer = browser.get(path, **{"accept-language": language})
    assert answer.status_code == 200, answer.text
    assert f'<html lang="{language}"' in answer.text
    assert "<img src=x" not in answer.text
    assert ">49<" not in answer.text


@pytest.mark.parametrize("path", PARTS)
@pytest.mark.usefixtures("known")
def test_each_part_of_a_page_is_a_fragment(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    assert "<html" not in answer.text
    assert "<img src=x" not in answer.text
