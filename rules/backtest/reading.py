"""Transactions in which nothing can be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import text

from core.storage.db import Database, Tx


@contextmanager
def read_only(db: Database, tenant_id: str) -> Iterator[Tx]:
    """Open a transaction of the tenant in which the database refuses every write."""
    with db.tenant(tenant_id) as tx:
        tx.execute(_READ_ONLY)
        yield tx


_READ_ONLY = text("SET TRANSACTION READ ONLY")
