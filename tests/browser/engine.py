"""Chromium with its driver, and a stack that knows the conversation of the demo."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from api.demo import conversations
from bench.stand import Stand, stack
from tests.browser.pages import Chromium

ROOT: Final = Path(__file__).parents[2]
PACKAGES: Final = next(iter(sorted(ROOT.glob(".venv-browser/lib/python*/site-packages"))), None)
if PACKAGES is not None:
    sys.path.append(str(PACKAGES))  # Behind our own packages: it only adds what is missing here.
try:
    from playwright.sync_api import sync_playwright
except ImportError:
    sync_playwright = None

FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


NEEDED: Final = "NEEDS_BROWSER"
"""Set where these tests must run: a missing browser fails them then."""


def require() -> None:
    """Skip, or fail where these tests must run, if there is no browser or nothing that drives it."""
    if sync_playwright is None or shutil.which("chromium") is None:
        give_up = pytest.fail if NEEDED in os.environ else pytest.skip
        give_up("there is no chromium with playwright; `make browser` installs both")


@contextmanager
def demo() -> Iterator[Stand]:
    """A stack of its own to which the conversation of the demo was published."""
    with stack(embedding="hash", tenant_limits='{"requests": 1000000}') as running:
        batches = conversations.events(conversations.shipped_conversation())
        tokens = [running.call("POST", "/v1/events", batch)["settle_token"] for batch in batches]
        while not running.call("GET", f"/v1/settle?token={tokens[-1]}&timeout=2&flush=true")["settled"]:
            pass  # What has waited was flushed; what followed from it may wait in turn.
        yield running


@contextmanager
def opened(stand: Stand) -> Iterator[Chromium]:
    """The browser at a stack, with axe-core as the wheel of axe-playwright-python carries it."""
    axe = next(PACKAGES.glob("axe_playwright_python/**/axe.min.js")).read_text(encoding="utf-8")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        yield Chromium(browser, stand, axe)
        browser.close()
