"""Choice of a tenant which of the statements that extraction finds are kept."""

from __future__ import annotations

import json
from typing import Final

from sqlalchemy import text

from core.storage.db import Tx
from core.types import Json

SETTING: Final = "extraction"
"""Name of the row in `tenant_settings`."""


def least_importance(tx: Tx, tenant_id: str) -> float:
    """Return the importance below which extracted statements are not kept; 0: all are."""
    found = tx.execute(_SELECT, {"tenant": tenant_id, "name": SETTING}).scalar_one_or_none() or {}
    return float(found.get("min_importance", 0))


def view(tx: Tx, tenant_id: str) -> Json:
    """Return the setting as `GET /v1/tenant/extraction` shows it."""
    return {"min_importance": least_importance(tx, tenant_id)}


def put(tx: Tx, tenant_id: str, min_importance: float) -> None:
    """Set the importance below which extracted statements are not kept."""
    value = json.dumps({"min_importance": min_importance})
    tx.execute(_UPSERT, {"tenant": tenant_id, "name": SETTING, "value": value})


_SELECT = text("SELECT value FROM tenant_settings WHERE tenant_id = :tenant AND name = :name")

_UPSERT = text("""
    INSERT INTO tenant_settings (tenant_id, name, value) VALUES (:tenant, :name, cast(:value AS jsonb))
    ON CONFLICT (tenant_id, name) DO UPDATE SET value = excluded.value, updated_at = clock_timestamp()
""")
