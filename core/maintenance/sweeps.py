"""Archive faded, expired and surplus memories."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import text

from core.consolidation import echo
from core.events import publishing
from core.events.publishing import Author
from core.index.resident.cache import CHANGES_KEPT_SECONDS
from core.memory import announcements, memories, retention, writer
from core.memory.changes import Archive, Owner, Use
from core.reflection import compression
from core.storage.db import Tx
from core.types import Json

PAGE = 500
"""Rows that a sweep changes in one transaction: its locks are held briefly, and the next page follows at once."""

USERS = 20
"""Users above their limit handled in one transaction."""


LATE = timedelta(days=7)
"""A session may be read this long after it took place, and the memories recalled then must still be known."""


def archive_faded(tx: Tx, tenant_id: str, author: Author, page: int) -> int:
    """Archive the memories that have faded longest ago, at most `page`; return how many.

    No other rows are touched; rows locked by others are left to the next sweep.
    """
    rows = tx.execute(FADED, {"page": page}).all()
    archives = [_archive(row, f"Faded: unused since {retention.since(row):%Y-%m-%d}.") for row in rows]
    return writer.archive(tx, tenant_id, archives, author)


def archive_expired(tx: Tx, tenant_id: str, author: Author, page: int) -> int:
    """Archive the memories that expired longest ago, at most `page`; return how many. They are not served anyway."""
    rows = tx.execute(EXPIRED, {"page": page}).all()
    archives = [_archive(row, f"Expired at {row.expires_at:%Y-%m-%d %H:%M} UTC.") for row in rows]
    return writer.archive(tx, tenant_id, archives, author)


def archive_weakest(tx: Tx, tenant_id: str, author: Author, limit: int, page: int) -> int:
    """Archive the weakest memories of users with more than `limit` active ones, never pinned ones; return how many.

    `page` bounds the total.
    """
    excess = {row.user_id: row.excess for row in tx.execute(_OVERFLOWING, {"limit": limit, "users": USERS})}
    if not excess:
        return 0
    weighed: defaultdict[str, list[Any]] = defaultdict(list)
    now = retention.policy(tx, tenant_id).now
    for row in tx.execute(_UNPINNED, {"users": list(excess)}):
        weighed[row.user_id].append(row)
    weakest = [
        row
        for user, rows in weighed.items()
        for row in heapq.nsmallest(excess[user], rows, key=lambda row: (retention.strength(row, now), row.id))
    ]
    locked = tx.execute(_LOCK, {"ids": [row.id for row in weakest[:page]]}).all()
    reason = f"The weakest of a user with more than {limit:,} memories."
    return writer.archive(tx, tenant_id, [_archive(row, reason) for row in locked], author)


def drop_archived(tx: Tx, tenant_id: str, author: Author, days: float, page: int) -> int:
    """Delete memories archived longer ago than this, at most `page`; return how many. Only the event remains.

    Only memories represented by another one are deleted: those compressed into it, or merged with it.
    """
    rows = tx.execute(_DROPPABLE, {"days": days, "page": page}).all()
    values = {"ids": [row.id for row in rows], "refs": [str(row.id) for row in rows]}
    for removal in _REMOVALS if rows else ():
        tx.execute(removal, values)
    events = [announcements.event_about(row.id, "memory.erased", _erasure_payload(row)) for row in rows]
    publishing.publish(tx, tenant_id, author, events)
    return len(rows)


def delete_leftovers(tx: Tx, verdict_days: float, echo_seconds: float, page: int) -> int:
    """Delete old verdicts that stored nothing, records of served texts too old to be echoes, and notes of the index.

    Returns how many; a page of each.
    """
    ignored = tx.execute(_IGNORED, {"days": verdict_days, "page": page}).rowcount
    ignored += tx.execute(_NOTED, {"seconds": CHANGES_KEPT_SECONDS, "page": page}).rowcount
    return ignored + echo.forget(tx, memories.now() - timedelta(seconds=echo_seconds) - LATE, page)


def count_uses(tx: Tx, tenant_id: str, author: Author, ids: Sequence[UUID]) -> int:
    """Count a use of each memory, owner by owner; return how many counted. Missing and inactive ones are skipped."""
    by_owner: defaultdict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in tx.execute(_OWNED, {"ids": list(ids)}):
        by_owner[row.user_id or "", row.group_id or ""].append(row)
    counted = 0
    for _, rows in sorted(by_owner.items()):
        uses = [Use(row.id) for row in rows]
        counts = writer.apply(tx, tenant_id, Owner(rows[0].user_id, rows[0].group_id), uses, author)
        counted += counts.get("used", 0)
    return counted


def _archive(row: Any, reason: str) -> Archive:
    return Archive(row.id, row.version, reason)


def _erasure_payload(row: Any) -> Json:
    reason = f"Archived on {row.updated_at:%Y-%m-%d}; another memory stands for it."
    return announcements.owner_fields(row) | {"memory_ids": [str(row.id)], "reason": reason}


FADED = text("""
    SELECT id, version, last_used_at, recorded_at FROM memories
    WHERE status = 'active' AND fade_at <= now() ORDER BY fade_at LIMIT :page FOR UPDATE SKIP LOCKED
""")
"""Due memories, by the index on that time: no others are read."""

EXPIRED = text("""
    SELECT id, version, expires_at AT TIME ZONE 'UTC' AS expires_at FROM memories
    WHERE status = 'active' AND expires_at <= now() ORDER BY memories.expires_at LIMIT :page FOR UPDATE SKIP LOCKED
""")

_OVERFLOWING = text("""
    SELECT user_id, count(*) - :limit AS excess FROM memories WHERE status = 'active' AND user_id IS NOT NULL
    GROUP BY user_id HAVING count(*) > :limit AND NOT bool_and(pinned) ORDER BY user_id LIMIT :users
""")
"""Counted over an index of only the active memories' users."""

_UNPINNED = text("""
    SELECT id, user_id, last_used_at, recorded_at, fade_height, fade_floor, fade_half_life FROM memories
    WHERE user_id = ANY(:users) AND status = 'active' AND NOT pinned
""")

_LOCK = text("""
    SELECT id, version FROM memories WHERE id = ANY(:ids) AND status = 'active' AND NOT pinned
    FOR UPDATE SKIP LOCKED
""")

_OWNED = text("SELECT id, user_id, group_id FROM memories WHERE id = ANY(:ids) AND status = 'active' ORDER BY id")

_DROPPABLE = text(f"""
    SELECT m.id, m.user_id, m.updated_at FROM memories m
    WHERE m.status = 'archived' AND NOT m.pinned AND m.updated_at <= now() - make_interval(secs => :days * 86400)
      AND {compression.REPRESENTED}
    ORDER BY m.updated_at LIMIT :page FOR UPDATE OF m SKIP LOCKED
""")

_REMOVALS = tuple(
    text(f"DELETE FROM {removal}")
    for removal in (
        "search_index WHERE type = 'memory' AND session_id = '' AND ref = ANY(:refs)",
        "relations WHERE from_id = ANY(:ids) OR to_id = ANY(:ids)",
        "evidence WHERE memory_id = ANY(:ids)",
        "verdicts WHERE memory_id = ANY(:ids) OR other_id = ANY(:ids)",
        "memory_versions WHERE memory_id = ANY(:ids)",
        "memories WHERE id = ANY(:ids)",
    )
)

_IGNORED = text("""
    DELETE FROM verdicts WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM verdicts WHERE kind = 'ignore' AND at <= now() - make_interval(secs => :days * 86400)
        LIMIT :page FOR UPDATE SKIP LOCKED))
""")

_NOTED = text("""
    DELETE FROM search_changes WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM search_changes WHERE recorded_at <= now() - make_interval(secs => :seconds)
        LIMIT :page FOR UPDATE SKIP LOCKED))
""")
