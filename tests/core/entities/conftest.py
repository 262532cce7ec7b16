"""Fixtures that the tests of entities share."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.core.changing import Bench


@pytest.fixture
def bench(app: Database) -> Bench:
    return Bench(app)
