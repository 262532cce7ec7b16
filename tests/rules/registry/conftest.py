"""Fixtures that the tests of the registry share."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from rules.registry.live_rules import LiveRules
from tests.rules.registry.stored import refresh


@pytest.fixture
def book(queue: Database) -> LiveRules:
    """What a router knows, looked up at every refresh."""
    known = LiveRules(0)
    refresh(known, queue)
    return known
