"""Failing addresses are listed, the latest first, until they are enabled."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from core.errors import NotFound
from core.storage.db import Database
from core.tenancy import endpoints
from tests.doors import OTHER
from tests.samples import TENANT

FAILING = text("""
    INSERT INTO endpoints (tenant_id, address, failing_since, failures, error)
    VALUES (:tenant, :address, cast(:since AS timestamptz), 3, 'timeout')
""")


@pytest.fixture
def failing(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        for address, since in (("a", "2026-11-20T12:00Z"), ("c", "2026-11-21T12:00Z"), ("b", "2026-11-21T12:00Z")):
            tx.execute(FAILING, {"tenant": TENANT, "address": address, "since": since})


@pytest.mark.usefixtures("failing")
def test_the_latest_to_begin_failing_is_first(app: Database) -> None:
    with app.tenant(TENANT) as tx:
        found = endpoints.failing_endpoints(tx)
    assert [(one["address"], one["failures"], one["error"]) for one in found] == [
        ("b", 3, "timeout"),
        ("c", 3, "timeout"),
        ("a", 3, "timeout"),
    ]


@pytest.mark.usefixtures("failing")
def test_one_that_is_enabled_is_no_longer_failing_and_another_tenant_enables_nothing(app: Database) -> None:
    with app.tenant(OTHER) as tx:
        assert endpoints.failing_endpoints(tx) == []
        with pytest.raises(NotFound, match="No address 'a' has been failing"):
            endpoints.enable(tx, "a")
    with app.tenant(TENANT) as tx:
        endpoints.enable(tx, "a")
        assert [one["address"] for one in endpoints.failing_endpoints(tx)] == ["b", "c"]
        with pytest.raises(NotFound):
            endpoints.enable(tx, "a")
