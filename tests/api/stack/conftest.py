"""Servers that the tests of the stack share; `test_up.py` has a data directory of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.stack.broker import Broker
from api.stack.postgres import Postgres


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory whose path is longer than a unix socket's may be."""
    folder = tmp_path_factory.mktemp("stack") / ("a-long-name-" * 10)
    folder.mkdir()
    made = Postgres(folder, durable=False)  # making a data directory that is synced takes its time on a busy disk
    made.start()
    made.stop()
    return folder


@pytest.fixture
def postgres(home: Path) -> Iterator[Postgres]:
    server = Postgres(home)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def broker(home: Path) -> Iterator[Broker]:
    server = Broker(home)
    server.start()
    yield server
    server.stop()
