"""Rebuilds of users' memories: requesting, reading and dropping them. Workers run them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.errors import Conflict
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.settings.limits import LimitReached
from core.storage.db import Tx, required_row
from core.tenancy import tenants
from core.types import Json

RETRY_SECONDS: Final = 30
"""Retry-After at the limit of concurrent rebuilds: one takes seconds to minutes."""


def request(tx: Tx, tenant_id: str, user_id: str, params: Json, author: Author, *, limit: int) -> Any:
    """Store a rebuild, announce it to the workers, and return its row. LimitReached: `limit` of them are running.

    A rebuild that hangs is ended by dropping it.
    """
    tx.execute(_LOCK, {"tenant": tenant_id})
    if tx.execute(_COUNT_RUNNING).scalar_one() >= limit:
        raise LimitReached("rebuilds", limit, RETRY_SECONDS)
    rebuild_id = uuid7()
    values = {
        "tenant": tenant_id,
        "id": rebuild_id,
        "user": user_id,
        "shadow": f"{tenants.RESERVED}{rebuild_id.hex}",
        "params": json.dumps(params, ensure_ascii=False),
        "author": json.dumps(author.as_json()),
    }
    tx.execute(_INSERT, values)
    payload = {"user_id": user_id, "rebuild_id": str(rebuild_id)}
    log.announce(tx, tenant_id, [Announcement(str(rebuild_id), "rebuild.requested", datetime.now(UTC), payload)])
    return get(tx, rebuild_id)


def get(tx: Tx, rebuild_id: UUID) -> Any:
    """Return the row of one rebuild, or raise NotFound."""
    return required_row(tx, _GET, {"id": rebuild_id}, f"There is no rebuild {rebuild_id} in this tenant.")


def find(tx: Tx, user_id: str | None, *, after: UUID | None = None, limit: int = 50) -> Sequence[Any]:
    """Return rebuilds, newest first; `after`: the last id of the page before."""
    return tx.execute(_LIST, {"user": user_id, "after": after, "limit": limit}).all()


def drop(tx: Tx, rebuild_id: UUID) -> Any:
    """Mark a rebuild as dropped, and return its row; its shadow remains to be deleted. Conflict: it was applied."""
    row = get(tx, rebuild_id)
    if tx.execute(_DROP, {"id": rebuild_id}).rowcount == 0:
        raise Conflict(f"The rebuild was applied. POST /v1/memories/decisions/{rebuild_id}/undo undoes it.")
    return row


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('rebuilds of ' || :tenant, 0))")

_COUNT_RUNNING = text("SELECT count(*) FROM rebuilds WHERE status = 'running'")

_INSERT = text("""
    INSERT INTO rebuilds (tenant_id, id, user_id, shadow_id, status, params, author)
    VALUES (:tenant, :id, :user, :shadow, 'running', cast(:params AS jsonb), cast(:author AS jsonb))
""")

_GET = text("SELECT * FROM rebuilds WHERE id = :id")

_LIST = text("""
    SELECT * FROM rebuilds
    WHERE (cast(:user AS text) IS NULL OR user_id = :user) AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")

_DROP = text("""
    UPDATE rebuilds SET status = 'dropped', difference = NULL, ended_at = clock_timestamp()
    WHERE id = :id AND status <> 'applied'
""")
