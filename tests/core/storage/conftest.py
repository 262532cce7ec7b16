"""Fixtures that the tests of storage share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, create_engine

from core.config import Settings
from core.storage import db
from tests.core.storage.two_models import both

__all__ = ["both", "owner"]


@pytest.fixture
def owner(settings: Settings) -> Iterator[Connection]:
    engine = create_engine(db.owner_url(settings))
    with engine.connect() as connection:
        yield connection
    engine.dispose()
