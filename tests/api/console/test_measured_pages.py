"""The bench of the console measures every page, so that none gets slow unseen."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from starlette.routing import Match, Route

import api.console.app  # noqa: F401 - declares the routes of all pages
from api.console.routing import router
from bench import console_pages
from bench.console_pages import Shown
from tests.browser.pages import all_pages

NO_PAGES: Final = {
    "/console/static/{name:path}",
    "/console/language/{tag}",
    "/console/live",
    "/console/export",
}
"""Files, a redirection, a stream without an end, and an archive as long as a user's memory."""


class OneOfEach:
    """Answers every list with the same thing."""

    def call(self, method: str, path: str, body: object = None) -> Any:
        return {"items": [{"id": "one", "payload": {"session_id": "one"}}]}


def test_every_page_of_the_console_is_measured() -> None:
    assert {route.path for route in pages_of_routes()} - NO_PAGES - {kind for kind, _ in measured()} == set()


def test_every_page_that_the_browser_tests_open_is_measured_with_its_filters() -> None:
    stand: Any = OneOfEach()
    assert {kind_of(path) for path in all_pages(stand)} - measured() == set()


def measured() -> set[tuple[str, frozenset[str]]]:
    shown = Shown(**dict.fromkeys((one.name for one in fields(Shown)), "one"))
    return {kind_of(path) for path in console_pages.paths(shown).values()}


def kind_of(path: str) -> tuple[str, frozenset[str]]:
    """Return the route of a page, and the names of its parameters."""
    parts = urlsplit(f"/console{path}")
    scope = {"type": "http", "method": "GET", "path": parts.path}
    route = next(one for one in pages_of_routes() if one.matches(scope)[0] is Match.FULL)
    return route.path, frozenset(name for name, _ in parse_qsl(parts.query))


def pages_of_routes() -> list[Route]:
    return [one for one in router.routes if isinstance(one, Route) and "GET" in (one.methods or ())]
