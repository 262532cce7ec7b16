"""Fixtures that the tests of undoing share."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.core.changing import Bench


@pytest.fixture
def ada(app: Database) -> Bench:
    return Bench(app)
