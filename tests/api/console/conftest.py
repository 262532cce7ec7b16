"""A browser at the console, and a user about whom something is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.api.console.browser import Browser
from tests.doors import Doors
from tests.samples import TENANT


@pytest.fixture
def stranger(door: Doors) -> Iterator[Browser]:
    """A browser without a login."""
    yield Browser(door.client)
    door.client.cookies.clear()


@pytest.fixture
def browser(stranger: Browser, door: Doors) -> Browser:
    """A browser with the login of an administrator."""
    assert stranger.log_in(door.keys[TENANT]).status_code == 303
    return stranger
