"""The tenant of a measurement: gone with it, whatever happens."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from api.cli.commands.host import bench_tenant
from core.config import Settings
from core.storage.db import Database
from tests.api.cli.tenants import tenants_of


def test_what_fails_midway_leaves_nothing(settings: Settings) -> None:
    before = tenants_of(settings)

    def interrupted() -> None:
        with bench_tenant.opened(settings):
            assert len(tenants_of(settings)) == len(before) + 1
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert tenants_of(settings) == before


def test_what_a_killed_measurement_left_is_erased_by_the_next_one(settings: Settings, app: Database) -> None:
    left, running = f"{bench_tenant.PREFIX}left", f"{bench_tenant.PREFIX}running"
    for name, age in ((left, "2 h"), (running, "1 min")):
        with app.tenant(name) as tx:
            tx.execute(
                text("INSERT INTO tenants (id, created_at) VALUES (:name, now() - cast(:age AS interval))"),
                {"name": name, "age": age},
            )
    with bench_tenant.opened(settings):
        assert left not in tenants_of(settings)
        assert running in tenants_of(settings)
