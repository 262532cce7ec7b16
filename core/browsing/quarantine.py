"""Quarantined memories with the reason for which each was set apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.storage.db import Tx

SEARCHED: Final = 1_000
"""Quarantined memories among which those of one cause are looked for."""


def find(tx: Tx, *, cause: str | None = None, after: UUID | None = None, limit: int = 50) -> Sequence[Any]:
    """Return quarantined memories, newest first, each with its `cause`; of one cause, among the newest `SEARCHED`."""
    values = {"cause": cause, "after": after, "limit": limit, "searched": SEARCHED if cause else limit}
    return tx.execute(_FIND, values).all()


_FIND = text("""
    SELECT * FROM (
        SELECT m.*, coalesce((
            SELECT v.reason FROM memory_versions v
            WHERE v.tenant_id = m.tenant_id AND v.memory_id = m.id AND v.version > coalesce((
                SELECT max(u.version) FROM memory_versions u
                WHERE u.tenant_id = m.tenant_id AND u.memory_id = m.id AND u.snapshot ->> 'trust' <> 'quarantined'), 0)
            ORDER BY v.version LIMIT 1), '') AS cause
        FROM (SELECT * FROM memories WHERE status = 'active' AND trust = 'quarantined'
                AND (cast(:after AS uuid) IS NULL OR id < :after)
              ORDER BY id DESC LIMIT :searched) AS m
    ) AS q
    WHERE cast(:cause AS text) IS NULL OR cause = :cause
    ORDER BY id DESC LIMIT :limit
""")
"""The cause is the reason of the version since which it has been set apart: it may have been released before."""
