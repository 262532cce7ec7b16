"""Fixtures that the tests of erasure share."""

from __future__ import annotations

import pytest

from core.storage.db import Database
from tests.core.changing import Bench
from tests.core.erasing import a_word


@pytest.fixture
def unique() -> str:
    return a_word()


@pytest.fixture
def bench(app: Database) -> Bench:
    return Bench(app)
