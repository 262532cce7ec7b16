"""Drops memories being rebuilt from the log if content they are based on is erased."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import text

from core.memory import shadow
from core.storage.db import Tx


def stop_rebuilds(tx: Tx, tenant_id: str, values: Mapping[str, Any]) -> int:
    """Stop the rebuilds of `owners`, and delete what they have made; return how many."""
    return _drop(tx, tenant_id, tx.execute(_STOP, values).scalars().all())


def delete_rebuilds(tx: Tx, tenant_id: str, values: Mapping[str, Any]) -> int:
    """Delete the rebuilds of `user` with what they have made; return how many."""
    return _drop(tx, tenant_id, tx.execute(_DELETE, values).scalars().all())


def _drop(tx: Tx, tenant_id: str, shadow_ids: Sequence[str]) -> int:
    """Delete all rows of these shadow tenants in a transaction of the tenant; return their number."""
    for shadow_id in shadow_ids:
        tx.execute(_BIND, {"tenant": shadow_id})
        shadow.delete_rows(tx, shadow_id)
    tx.execute(_BIND, {"tenant": tenant_id})
    return len(shadow_ids)


_BIND = text("SELECT set_config('imprint.tenant', :tenant, true)")

_STOP = text("""
    UPDATE rebuilds SET status = CASE WHEN status IN ('running', 'ready') THEN 'dropped' ELSE status END,
                        difference = NULL, ended_at = coalesce(ended_at, clock_timestamp())
    WHERE user_id = ANY(:owners) AND (status IN ('running', 'ready') OR difference IS NOT NULL) RETURNING shadow_id
""")

_DELETE = text("DELETE FROM rebuilds WHERE user_id = :user RETURNING shadow_id")
