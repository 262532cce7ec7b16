"""A real browser at a stack of its own that knows the conversation of the demo; skipped where there is no browser."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.cli import conversations
from bench.stand import Stand, stack
from tests.browser.pages import DESK, Chromium, Watched, axe_of

ROOT = Path(__file__).parents[2]
PACKAGES = next(iter(sorted(ROOT.glob(".venv-browser/lib/python*/site-packages"))), None)
if PACKAGES is not None:
    sys.path.append(str(PACKAGES))  # Behind our own packages: it only adds what is missing here.
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def stand() -> Iterator[Stand]:
    """A stack to which the conversation of the demo was published."""
    if sync_playwright is None or shutil.which("chromium") is None:
        pytest.skip("there is no chromium with playwright; `make browser` installs both")
    with stack(embedding="hash", tenant_limits='{"requests": 1000000}') as running:
        batches = conversations.events(conversations.shipped_conversation())
        tokens = [running.call("POST", "/v1/events", batch)["settle_token"] for batch in batches]
        while not running.call("GET", f"/v1/settle?token={tokens[-1]}&timeout=2&flush=true")["settled"]:
            pass  # What has waited was flushed; what followed from it may wait in turn.
        yield running


@pytest.fixture(scope="session")
def chromium(stand: Stand) -> Iterator[Chromium]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        yield Chromium(browser, stand, axe_of(PACKAGES))
        browser.close()


@pytest.fixture
def watched(chromium: Chromium, stand: Stand) -> Iterator[Watched]:
    """A window at a desk with the login of an administrator, on which nothing may go wrong."""
    with chromium.logged_in(stand.key, DESK) as watched:
        yield watched
        assert watched.faults == []
