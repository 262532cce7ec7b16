"""Rows of `tenant_settings`: what a tenant has chosen, under the name of the setting."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import text

from core.storage.db import Tx
from core.storage.multiquery import BoundStatement
from core.types import Json


def read(tx: Tx, tenant_id: str, name: str, *, lock: bool = False) -> Json | None:
    """Return a setting; None: the tenant has not chosen. `lock`: nobody else changes it in the meantime."""
    statement, values = asking(tenant_id, name)
    value: Json | None = tx.execute(_SELECT_LOCKED if lock else statement, values).scalar_one_or_none()
    return value


def asking(tenant_id: str, name: str) -> BoundStatement:
    """Return the statement for the `value` of a setting, to be run together with others."""
    return _SELECT, {"tenant": tenant_id, "name": name}


def write(tx: Tx, tenant_id: str, name: str, value: Any) -> None:
    """Store a setting."""
    tx.execute(_UPSERT, {"tenant": tenant_id, "name": name, "value": json.dumps(value)})


_SELECT = text("SELECT value FROM tenant_settings WHERE tenant_id = :tenant AND name = :name")

_SELECT_LOCKED = text(f"{_SELECT} FOR UPDATE")

_UPSERT = text("""
    INSERT INTO tenant_settings (tenant_id, name, value) VALUES (:tenant, :name, cast(:value AS jsonb))
    ON CONFLICT (tenant_id, name) DO UPDATE SET value = excluded.value, updated_at = clock_timestamp()
""")
