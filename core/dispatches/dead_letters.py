"""Dead letters in groups: those of one agent whose errors differ in ids, numbers and quotes alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core import metrics
from core.dispatches import dispatches
from core.dispatches import retries as dispatch_retries
from core.dispatches.control import SignedRemark
from core.dispatches.retries import RetryFilter
from core.errors import Conflict
from core.storage.db import Tx
from core.types import DispatchStatus

MOST: Final = 1_000
"""Dead letters of one group that are counted, and discarded by one request."""

RULES: Final = 20
"""Rules of a group that are named."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """Number of dead letters that match, at most the limit, whether there are others, and those discarded."""

    matched: int
    more: bool
    ids: Sequence[UUID]


def groups(tx: Tx, *, after: str | None = None, limit: int = 50) -> Sequence[Any]:
    """Return groups in the order of their fingerprints, each with its newest letter (`_mapping` has its columns)."""
    return tx.execute(_GROUPS, {"after": after or "", "limit": limit, "most": MOST, "rules": RULES}).all()


def discard(
    tx: Tx, criteria: RetryFilter, remark: SignedRemark, *, limit: int, confirm: int | None, dry_run: bool
) -> Discarded:
    """Cancel the dead letters that match, oldest first and at most `limit`, with the actions that waited for them.

    Conflict: `confirm` is not the number of letters that this request would discard.
    """
    matching = list(tx.execute(_MATCHING, asdict(criteria) | {"limit": limit + 1}).scalars())
    ids, more = matching[:limit], len(matching) > limit
    if dry_run:
        return Discarded(len(ids), more, ids)
    if confirm != len(ids):
        raise Conflict(f"{len(ids)} dead letters match now, and `confirm` says {confirm}. Look at them again.")
    reason = f": {remark.comment}" if remark.comment else "."
    values = {"ids": ids, "why": f"Discarded by {remark.author.name}{reason} It had failed: "}
    rows = tx.execute(_DISCARD, values).all()
    for row in rows:
        metrics.DISPATCHES.labels(row.target, row.queue, DispatchStatus.CANCELLED).inc()
        dispatches.cancel_followers(tx, row)
    done = {row.id for row in rows}
    return Discarded(len(ids), more, [dispatch_id for dispatch_id in ids if dispatch_id in done])


_GROUPS = text(f"""
    WITH RECURSIVE names AS (
        (SELECT fingerprint FROM dispatches
         WHERE status = 'dead' AND fingerprint > :after ORDER BY fingerprint LIMIT 1)
        UNION ALL
        SELECT n.fingerprint FROM names, LATERAL (
            SELECT fingerprint FROM dispatches
            WHERE status = 'dead' AND fingerprint > names.fingerprint ORDER BY fingerprint LIMIT 1
        ) AS n
    ), page AS MATERIALIZED (SELECT fingerprint FROM names LIMIT :limit)
    SELECT d.*, e.id AS event_id, e.event_type, counted.n AS letters, counted.rules, oldest.at AS first_at,
           ({dispatch_retries.RETRYABLE}) AS retryable
    FROM page
    CROSS JOIN LATERAL (
        SELECT * FROM dispatches l WHERE l.status = 'dead' AND l.fingerprint = page.fingerprint
        ORDER BY l.ended_at DESC, l.id DESC LIMIT 1) AS d
    CROSS JOIN LATERAL (
        SELECT l.ended_at AS at FROM dispatches l WHERE l.status = 'dead' AND l.fingerprint = page.fingerprint
        ORDER BY l.ended_at, l.id LIMIT 1) AS oldest
    CROSS JOIN LATERAL (
        SELECT count(*) AS n, (array_agg(DISTINCT rule) FILTER (WHERE rule IS NOT NULL))[1 : :rules] AS rules
        FROM (SELECT l.rule FROM dispatches l WHERE l.status = 'dead' AND l.fingerprint = page.fingerprint
              ORDER BY l.ended_at LIMIT :most) AS first_ones) AS counted
    LEFT JOIN events e ON e.tenant_id = d.tenant_id AND e.seq = d.event_seq
    ORDER BY page.fingerprint
""")
"""Goes from one fingerprint to the next in the index: a group costs the same, however many letters it has."""

_MATCHING = text(f"""
    SELECT d.id FROM dispatches d WHERE d.status = 'dead' AND {dispatch_retries.FITTING}
    ORDER BY d.id LIMIT :limit
""")

_DISCARD = text("""
    UPDATE dispatches SET status = 'cancelled', error = :why || coalesce(error, ''), wake_at = NULL
    WHERE id = ANY(:ids) AND status = 'dead'
    RETURNING *
""")
