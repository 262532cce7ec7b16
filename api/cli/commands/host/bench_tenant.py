"""A tenant that exists for the duration of a measurement."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import text

from api.cli import database
from core.config import Settings
from core.memory import shadow
from core.storage.db import Database
from core.tenancy import tenants

PREFIX: Final = f"{tenants.RESERVED}bench-"
"""The database lets only tenants of rebuilds be removed; nobody else can have such a name."""

LEFT_SECONDS: Final = 3600
"""Age of a tenant that a killed measurement has left behind: none takes that long."""


@contextmanager
def opened(settings: Settings) -> Iterator[str]:
    """Yield the key of a new tenant without rules; erase it with all its rows at the end."""
    with database.of_tenants(settings) as pool:
        _drop_left(settings, pool)
        name = f"{PREFIX}{secrets.token_hex(8)}"
        try:
            with pool.tenant(name) as tx:
                tx.execute(text("INSERT INTO tenants (id) VALUES (:name)"), {"name": name})
                key = tenants.create_key(tx, name, ["admin"], "imprint bench")[1]
            yield key
        finally:
            shadow.drop(pool, name)


def _drop_left(settings: Settings, pool: Database) -> None:
    """Erase what killed measurements have left."""
    with database.of_all(settings) as tx:
        left = tx.execute(_LEFT, {"prefix": PREFIX, "seconds": LEFT_SECONDS}).scalars().all()
    for name in left:
        shadow.drop(pool, name)


_LEFT = text("""
    SELECT id FROM tenants WHERE starts_with(id, :prefix) AND created_at < now() - make_interval(secs => :seconds)
""")
