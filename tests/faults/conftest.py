"""Fixtures of the suites that kill processes of a stack of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine

from bench.stand import Stand
from core.config import Settings
from tests.faults.model import Model, serving


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with serving() as served:
        yield served


@pytest.fixture(scope="module")
def rows(stand: Stand) -> Iterator[Engine]:
    """The tables themselves: what is exact must not be read through lists that end somewhere."""
    engine = create_engine(stand.admin_url.replace("postgresql:", "postgresql+psycopg:"), pool_pre_ping=True)
    yield engine
    engine.dispose()


@pytest.fixture
def environment(settings: Settings, root: Path) -> dict[str, str]:
    """What a clock of its own is started with."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("IMPRINT_", "PROMETHEUS_"))}
    assert settings.database_url is not None
    assert settings.broker_url is not None
    return own | {
        "PYTHONPATH": str(root),
        "IMPRINT_HOME": str(settings.home),
        "IMPRINT_DATABASE_URL": settings.database_url.get_secret_value(),
        "IMPRINT_BROKER_URL": settings.broker_url.get_secret_value(),
        "IMPRINT_EMBEDDING": "hash",
        "IMPRINT_METRICS_PORT": "0",
        "IMPRINT_RULES_POLL_SECONDS": "0.05",
    }
