"""A real browser at a stack of its own that knows the conversation of the demo; skipped where there is no browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.stand import Stand
from tests.browser import engine
from tests.browser.pages import DESK, Chromium, Watched


@pytest.fixture(scope="session")
def stand() -> Iterator[Stand]:
    engine.require()
    with engine.demo() as running:
        yield running


@pytest.fixture(scope="module")
def chromium(stand: Stand) -> Iterator[Chromium]:
    """Chromium until the end of the module: while it runs, no other test of this process can run an event loop."""
    with engine.opened(stand) as chromium:
        yield chromium


@pytest.fixture
def watched(chromium: Chromium, stand: Stand) -> Iterator[Watched]:
    """A window at a desk with the login of an administrator, on which nothing may go wrong."""
    with chromium.logged_in(stand.key, DESK) as watched:
        yield watched
        assert watched.faults == []
