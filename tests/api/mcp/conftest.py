"""Fixtures that the tests of the tools share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.config import Settings
from tests.api.mcp.asking import Agent
from tests.commands import served


@pytest.fixture
def agent(settings: Settings) -> Iterator[Agent]:
    with served(settings) as (url, key):
        yield Agent(url, key)
