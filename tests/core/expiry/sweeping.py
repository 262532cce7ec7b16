"""Choosing how long a tenant keeps what, and sweeping, as the tests do it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from core.expiry import sweep
from core.storage.db import Database
from core.tenancy import retention
from core.tenancy.retention import Retention
from tests.samples import TENANT


def choose(app: Database, tenant: str = TENANT, **days: Any) -> None:
    with app.tenant(tenant) as tx:
        retention.put(tx, tenant, Retention(**days))


def swept(app: Database, tenant: str = TENANT) -> Counter[str]:
    """Sweep until nothing more can leave; what has left, by kind."""
    counts, place = Counter[str](), sweep.BEGINNING
    while place is not None:
        with app.tenant(tenant) as tx:
            done = sweep.step(tx, tenant, place)
        counts, place = counts + done.counts, done.after
    return counts
