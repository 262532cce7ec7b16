"""Fair sharing of the queues: limits how many dispatches of a tenant are with the broker or running at a time.

Workers take tasks from the broker in the order of arrival. So that no tenant's backlog delays another's work, only a
few dispatches of each tenant and queue are sent; the rest stay rows (`turn = 'ready'`) until one that was sent has
ended. The number is the tenant's limit `running`, and never all processes of the queue: one of them is reserved for a
tenant that has nothing running. While several tenants have work, one core is reserved, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import text

from core.maintenance.heartbeat import STALE_SECONDS
from core.settings.limits import TenantLimits
from core.storage.db import Tx, run_together
from core.storage.multiquery import BoundStatement
from workers.dispatch.relay import DispatchRef

Key = tuple[str, str]
"""A tenant and a queue."""

ACTIVE_SECONDS: Final = 60
"""Time after its last event for which a tenant counts as having work."""


@dataclass(frozen=True, slots=True)
class FairShare:
    """Settings of fair sharing. Times in seconds.

    `resend`: first interval after which a sent dispatch that no worker began is sent again; `longest`: the largest
    interval. `lease`: length of a lease. `running`: limit of a tenant that has none of its own.
    """

    resend: float
    longest: float = 600
    lease: float = 30
    running: int = TenantLimits().running


class ActiveTenants:
    """Tenants that had events recently; one thread adds them, another counts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[str, float] = {}

    def hear(self, tenants: Iterable[str]) -> None:
        now = self._clock()
        known = {name: at for name, at in self._last.items() if at > now - ACTIVE_SECONDS}
        self._last = known | dict.fromkeys(tenants, now)

    def count(self) -> int:
        oldest = self._clock() - ACTIVE_SECONDS
        return sum(at > oldest for at in self._last.values())


def offer(tx: Tx, shares: FairShare, keys: Iterable[Key], *, ends: bool = False) -> list[DispatchRef]:
    """Mark dispatches of these tenants and queues as sent, as many as may be; return them. `ends`: commit, too.

    It must be the last statement of its transaction: the turns of these keys stay locked until that ends, so that the
    next to count sees what this one has sent or ended. Any statement after it risks a deadlock.
    """
    wanted = sorted(set(keys))
    if not wanted:
        return []
    lock = {"keys": ["\n".join(key) for key in wanted]}
    values = _room(shares, wanted) | {"resend": shares.resend, "longest": shares.longest}
    # One round trip, but executed one after the other: the second reads after the lock is held.
    _, rows = run_together(tx, (_LOCK, lock), (_OFFER, values), last=ends)
    return [DispatchRef(row.tenant_id, row.queue, row.id) for row in sorted(rows, key=lambda row: row.id)]


def ready(tx: Tx) -> list[Key]:
    """Return the tenants and queues for which something is ready to be sent."""
    return [(row.tenant_id, row.queue) for row in tx.execute(*READY)]


def keys_with_room(tx: Tx, shares: FairShare, keys: Sequence[Key]) -> list[Key]:
    """Return the keys for which more may be sent. Locks nothing."""
    return [(row.tenant_id, row.queue) for row in tx.execute(_WITH_ROOM, _room(shares, keys))]


def _room(shares: FairShare, keys: Sequence[Key]) -> dict[str, object]:
    """Return the values of `_ROOM`."""
    return {
        "tenants": [tenant_id for tenant_id, _ in keys],
        "queues": [queue for _, queue in keys],
        "lease": shares.lease,
        "running": shares.running,
        "stale": STALE_SECONDS,
    }


_LOCK: Final = text("""
    SELECT pg_advisory_xact_lock(place) FROM (
        SELECT DISTINCT hashtextextended(key, 1) AS place FROM unnest(cast(:keys AS text[])) AS key ORDER BY place
    ) AS places
""")
"""In one order, so that two transactions that need the same locks cannot deadlock."""

_ROOM: Final = """
    SELECT w.tenant_id, w.queue, least(
        coalesce((s.value #>> '{granted,running}')::int, :running),
        (s.value #>> '{chosen,running}')::int,
        (SELECT greatest(1, CASE WHEN max(h.tenants) > 1 THEN least(sum(h.processes), sum(h.cores))
                                 ELSE sum(h.processes) END - 1)
         FROM heartbeats h
         WHERE (h.queue = w.queue OR h.queue IS NULL) AND h.at > clock_timestamp() - make_interval(secs => :stale)
         HAVING count(h.processes) > 0)
    ) - (
        SELECT count(*) FROM dispatches u
        WHERE u.tenant_id = w.tenant_id AND u.queue = w.queue AND u.turn = 'sent'
          AND (u.status = 'pending'
               OR (u.status = 'running' AND u.wake_at > clock_timestamp() + make_interval(secs => :lease / 2.0)))
    ) AS free
    FROM unnest(cast(:tenants AS text[]), cast(:queues AS text[])) AS w (tenant_id, queue)
    LEFT JOIN tenant_settings s ON s.tenant_id = w.tenant_id AND s.name = 'limits'
"""
"""Number of further dispatches that may be sent. A running dispatch whose lease is no longer renewed has lost its
process: the tenant must not wait for it until the lease ends. `least` ignores nulls: no limit chosen, no worker known.
"""

_WITH_ROOM: Final = text(f"SELECT tenant_id, queue FROM ({_ROOM}) AS room WHERE free > 0")

_OFFER: Final = text(f"""
    WITH room AS MATERIALIZED ({_ROOM}), chosen AS (
        SELECT d.tenant_id, d.id FROM room, LATERAL (
            SELECT tenant_id, id FROM dispatches
            WHERE tenant_id = room.tenant_id AND queue = room.queue AND status = 'pending' AND turn = 'ready'
            ORDER BY priority, id LIMIT greatest(0, room.free) FOR UPDATE SKIP LOCKED
        ) AS d
    )
    UPDATE dispatches d SET
        turn = 'sent',
        -- Doubled each time: a long queue must not be filled with repeats.
        wake_at = clock_timestamp()
                  + make_interval(secs => least(:resend * power(2, least(greatest(d.sends - 1, 0), 10)), :longest))
    FROM chosen WHERE d.tenant_id = chosen.tenant_id AND d.id = chosen.id
    RETURNING d.tenant_id, d.queue, d.id
""")

READY: Final[BoundStatement] = (
    text("""
    WITH RECURSIVE keys AS (
        (SELECT tenant_id, queue FROM dispatches WHERE status = 'pending' AND turn = 'ready'
         ORDER BY tenant_id, queue LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.queue FROM keys, LATERAL (
            SELECT tenant_id, queue FROM dispatches
            WHERE status = 'pending' AND turn = 'ready' AND (tenant_id, queue) > (keys.tenant_id, keys.queue)
            ORDER BY tenant_id, queue LIMIT 1
        ) AS n
    )
    SELECT tenant_id, queue FROM keys
"""),
    {},
)
"""Asks for the tenants and queues for which something is ready to be sent."""

"""One index step per tenant and queue, however much each has waiting."""
