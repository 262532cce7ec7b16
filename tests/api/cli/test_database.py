"""The database of commands that work without the service."""

from __future__ import annotations

import pytest

from api.cli import database
from core.config import Settings
from core.errors import NotFound
from core.storage.db import Database
from tests.samples import TENANT


def test_a_command_sees_the_tenants_and_works_in_one(settings: Settings, app: Database) -> None:
    assert TENANT in database.tenant_names(settings)
    with database.of_tenant(settings, TENANT) as tx:
        database.require_tenant(tx, TENANT)
        with pytest.raises(NotFound, match="imprint keys create --tenant nobody"):
            database.require_tenant(tx, "nobody")


def test_its_pool_ends_with_the_command(settings: Settings, app: Database) -> None:
    with database.of_tenants(settings) as pool, pool.tenant(TENANT):
        assert pool.engine.pool.checkedout() == 1
    assert pool.engine.pool.checkedin() == 0
