"""Fixtures that the tests of the workers share."""

from __future__ import annotations

import pytest

from core.config import Settings
from tests.outlets import open_to
from tests.workers.receiver import Other, other

__all__ = ["open_settings", "other"]


@pytest.fixture
def open_settings(settings: Settings, other: Other) -> Settings:
    """The tenant may post to the test's server."""
    return open_to(settings, other.url)
