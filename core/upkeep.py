"""The sweeps: what has faded, what has expired and what is too much is archived, a page a transaction, by the index."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core import changes, fading
from core.changes import Archive, Author, Owner, Use
from core.db import Tx

USERS = 20
"""Users above their limit whose memories are weighed in one transaction."""


def faded(tx: Tx, tenant_id: str, author: Author, page: int) -> int:
    """Archive the memories that have faded longest ago, `page` at most; how many.

    Touches nothing but those; what someone else changes at the moment is left for the next sweep.
    """
    rows = tx.execute(FADED, {"page": page}).all()
    return changes.archive(tx, tenant_id, [_archived(row, f"Faded: unused since {_day(row)}.") for row in rows], author)


def expired(tx: Tx, tenant_id: str, author: Author, page: int) -> int:
    """Archive the memories whose time was up longest ago, `page` at most; how many. They are not served anyway."""
    rows = tx.execute(EXPIRED, {"page": page}).all()
    reasons = {row.id: f"Expired at {row.expires_at:%Y-%m-%d %H:%M} UTC." for row in rows}
    return changes.archive(tx, tenant_id, [_archived(row, reasons[row.id]) for row in rows], author)


def overflowing(tx: Tx, tenant_id: str, author: Author, limit: int, page: int) -> int:
    """Archive the weakest memories of users who have more than `limit` active ones, never a pinned one; how many.

    `page` bounds how many in all.
    """
    excess = {row.user_id: row.excess for row in tx.execute(_OVERFLOWING, {"limit": limit, "users": USERS})}
    if not excess:
        return 0
    weighed: defaultdict[str, list[Any]] = defaultdict(list)
    now = fading.policy(tx, tenant_id).now
    for row in tx.execute(_UNPINNED, {"users": list(excess)}):
        weighed[row.user_id].append(row)
    weakest = [
        row
        for user, rows in weighed.items()
        for row in heapq.nsmallest(excess[user], rows, key=lambda row: (fading.strength(row, now), row.id))
    ]
    locked = tx.execute(_LOCK, {"ids": [row.id for row in weakest[:page]]}).all()
    reason = f"The weakest of a user with more than {limit:,} memories."
    return changes.archive(tx, tenant_id, [_archived(row, reason) for row in locked], author)


def used(tx: Tx, tenant_id: str, author: Author, ids: Sequence[UUID]) -> int:
    """Count a use of each memory, owner by owner; how many counted. What is not there or not active is passed over."""
    by_owner: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in tx.execute(_OWNED, {"ids": list(ids)}):
        by_owner[row.user_id or "", row.group_id or ""].append(row)
    counted = 0
    for _, rows in sorted(by_owner.items()):
        uses = [Use(row.id) for row in rows]
        counts = changes.apply(tx, tenant_id, Owner(rows[0].user_id, rows[0].group_id), uses, author)
        counted += counts.get("used", 0)
    return counted


def _archived(row: Any, reason: str) -> Archive:
    return Archive(row.id, row.version, reason)


def _day(row: Any) -> str:
    return f"{fading.since(row):%Y-%m-%d}"


FADED = text("""
    SELECT id, version, last_used_at, recorded_at FROM memories
    WHERE status = 'active' AND fade_at <= now() ORDER BY fade_at LIMIT :page FOR UPDATE SKIP LOCKED
""")
"""What is due, by the index over that moment alone: what is not due is not looked at."""

EXPIRED = text("""
    SELECT id, version, expires_at AT TIME ZONE 'UTC' AS expires_at FROM memories
    WHERE status = 'active' AND expires_at <= now() ORDER BY memories.expires_at LIMIT :page FOR UPDATE SKIP LOCKED
""")

_OVERFLOWING = text("""
    SELECT user_id, count(*) - :limit AS excess FROM memories WHERE status = 'active' AND user_id IS NOT NULL
    GROUP BY user_id HAVING count(*) > :limit AND NOT bool_and(pinned) ORDER BY user_id LIMIT :users
""")
"""Counted over an index that holds nothing but the active memories' users."""

_UNPINNED = text("""
    SELECT id, user_id, last_used_at, recorded_at, fade_height, fade_floor, fade_half_life FROM memories
    WHERE user_id = ANY(:users) AND status = 'active' AND NOT pinned
""")

_LOCK = text("""
    SELECT id, version FROM memories WHERE id = ANY(:ids) AND status = 'active' AND NOT pinned
    FOR UPDATE SKIP LOCKED
""")

_OWNED = text("SELECT id, user_id, group_id FROM memories WHERE id = ANY(:ids) AND status = 'active' ORDER BY id")
