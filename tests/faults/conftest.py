"""Fixtures of the suites that kill processes of a stack of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine

from bench.stand import Stand


@pytest.fixture(scope="module")
def rows(stand: Stand) -> Iterator[Engine]:
    """The tables themselves: what is exact must not be read through lists that end somewhere."""
    engine = create_engine(stand.admin_url.replace("postgresql:", "postgresql+psycopg:"), pool_pre_ping=True)
    yield engine
    engine.dispose()
