"""Fair sharing of the queues: limits how many dispatches of a tenant are with the broker or running at a time.

Workers take tasks from the broker in the order of arrival. So that no tenant's backlog delays another's work, only a
few dispatches of each tenant and queue are sent; the rest stay rows (`turn = 'ready'`) until one that was sent has
ended. The number is the tenant's limit `running`, and never all processes of the queue: one of them is reserved for a
tenant that has nothing running. While several tenants have work, one core is reserved, too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from uuid import UUID

from sqlalchemy import text

from core.agents import NORMAL, PRIORITIES
from core.maintenance.heartbeat import STALE_SECONDS
from core.settings.limits import TenantLimits
from core.storage.db import Database, Tx, run_together
from core.storage.multiquery import BoundStatement
from workers.dispatch.relay import DispatchRef

Key = tuple[str, str]
"""A tenant and a queue."""

Readied = tuple[str, str, UUID]
"""The same with a dispatch that was made ready there: no bound may be above it."""

MOST_OLDER: Final = 256
"""Ids of sent dispatches that are kept below a bound; above that many they hold it down."""

ACTIVE_SECONDS: Final = 60
"""Time after its last event for which a tenant counts as having work."""


@dataclass(frozen=True, slots=True)
class FairShare:
    """Settings of fair sharing. Times in seconds.

    `resend`: first interval after which a sent dispatch that no worker began is sent again; `longest`: the largest
    interval. `lease`: length of a lease. `running`: limit of a tenant that has none of its own. `raises`: share of the
    offers after which the bounds are raised.
    """

    resend: float
    longest: float = 600
    lease: float = 30
    running: int = TenantLimits().running
    raises: float = 1 / 256


@dataclass(frozen=True, slots=True)
class NextClaim:
    """Claim of a worker with the offer that ends its transaction: a dispatch of its queue to one of these targets.

    `most`: how many of that queue are offered, so that others that end at this moment find a next one, too. `lease`:
    token of the attempt. `limits`: seconds of an attempt by target, as JSON.
    """

    queue: str
    most: int
    targets: Sequence[str]
    lease: UUID
    limits: str


class Offered(NamedTuple):
    """Dispatches to send, and the rows of the one that was claimed, if any was."""

    owed: list[DispatchRef]
    claimed: Sequence[Any]


class ActiveTenants:
    """Tenants that had events recently; one thread adds them, another counts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._last: dict[str, float] = {}

    def hear(self, tenants: Iterable[str]) -> None:
        now = self._clock()
        active = {name: at for name, at in self._last.items() if at > now - ACTIVE_SECONDS}
        self._last = active | dict.fromkeys(tenants, now)

    def count(self) -> int:
        oldest = self._clock() - ACTIVE_SECONDS
        return sum(at > oldest for at in self._last.values())


def offer(tx: Tx, shares: FairShare, keys: Iterable[Key | Readied], *, ends: bool = False) -> list[DispatchRef]:
    """Mark dispatches of these tenants and queues as sent, as many as may be; return them. `ends`: commit, too.

    Whoever has made dispatches ready names them. It must be the last statement of its transaction: the turns of these
    keys stay locked until that ends, so that the next to count sees what this one has sent or ended. Any statement
    after it risks a deadlock.
    """
    statements = _offering(shares, keys, None)
    rows, *_ = run_together(tx, *statements, last=ends) if statements else ([],)
    return _sent(rows)


def offer_again(
    db: Database, tx: Tx, tenant_id: str, shares: FairShare, keys: Iterable[Key | Readied], claim: NextClaim | None
) -> Offered:
    """Do the same in a further transaction of a connection whose own was committed, and claim one of them.

    Its turns are locked for a moment only, and not until the disk has what was committed; nor does it wait for the disk
    itself: what is offered or claimed and then lost with the server is ready again, and its new lease unknown. None of
    those that share a key or a lane is claimed: that may have to wait for others, which wait for the turns.
    """
    rows, claimed, *_ = db.ask_again(tx, tenant_id, *_offering(shares, keys, claim), UNHURRIED)
    return Offered(_sent(rows), claimed)


def _offering(shares: FairShare, keys: Iterable[Key | Readied], claim: NextClaim | None) -> list[BoundStatement | None]:
    """Return the statements of an offer, executed in their order: what was offered, what was claimed, the bounds."""
    readied = _lowest(keys)
    turns = sorted(readied)
    if not turns:
        return []
    values = _room(shares, turns) | {"resend": shares.resend, "longest": shares.longest} | _claim_values(claim)
    values["lowest"] = [None if dispatch_id is None else str(dispatch_id) for dispatch_id in map(readied.get, turns)]
    raises = random.random() < shares.raises  # noqa: S311 - spreads load, guards no secret
    return [
        (_OFFER, values),
        (CLAIM, {"id": None, "lease": None, "seconds": None, "limits": None}) if claim else None,
        (_RAISE, {**_keys(turns), "priorities": _PRIORITIES}) if raises else None,
    ]


def _sent(rows: Iterable[Any]) -> list[DispatchRef]:
    sent = sorted((row for row in rows if not row.claimed), key=lambda row: row.id)
    return [DispatchRef(row.tenant_id, row.queue, row.id) for row in sent]


def _claim_values(claim: NextClaim | None) -> dict[str, object]:
    if claim is None:
        return {"claiming": None, "most": None, "targets": None, "holder": None, "limits": None}
    return {
        "claiming": claim.queue,
        "most": claim.most,
        "targets": list(claim.targets),
        "holder": claim.lease,
        "limits": claim.limits,
    }


def _lowest(keys: Iterable[Key | Readied]) -> dict[Key, UUID | None]:
    """Return each tenant and queue with the smallest id of what was made ready there; None: nothing was."""
    lowest: dict[Key, UUID | None] = {}
    for tenant_id, queue, *ids in keys:
        lowest_id = lowest.get((tenant_id, queue))
        lowest[tenant_id, queue] = min(filter(None, (lowest_id, *ids)), default=None)
    return lowest


def count_older(tx: Tx, tenant_id: str, queue: str, priority: int, dispatch_id: UUID) -> None:
    """Count one that runs without having been sent in its turn; like an offer the last statement of its transaction."""
    values = {"tenant": tenant_id, "queue": queue, "priority": priority, "id": dispatch_id}
    run_together(tx, (_LOCK, {"key": f"{tenant_id}\n{queue}"}), (_COUNT_OLDER, values))


def ready(tx: Tx) -> list[Readied]:
    """Return the tenants and queues for which something is ready to be sent, with the first such dispatch of each."""
    return [(row.tenant_id, row.queue, row.id) for row in tx.execute(*READY)]


def with_room(tx: Tx, shares: FairShare, waiting: Sequence[Readied]) -> list[Readied]:
    """Return those for whose tenant and queue more may be sent, or which no offer would find. Locks nothing."""
    values = _room(shares, [turn[:2] for turn in waiting]) | {"ids": [turn[2] for turn in waiting]}
    return [(row.tenant_id, row.queue, row.id) for row in tx.execute(_WITH_ROOM, values)]


def _keys(keys: Iterable[Key]) -> dict[str, list[str]]:
    pairs = list(keys)
    return {"tenants": [tenant_id for tenant_id, _ in pairs], "queues": [queue for _, queue in pairs]}


def _room(shares: FairShare, keys: Sequence[Key]) -> dict[str, object]:
    """Return the values of `turn_room`."""
    return {
        **_keys(keys),
        "priorities": _PRIORITIES,
        "lease": shares.lease,
        "running": shares.running,
        "stale": STALE_SECONDS,
    }


_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 1))")

_PRIORITIES: Final = sorted({NORMAL, *PRIORITIES.values()})

_WITH_ROOM: Final = text("""
    SELECT w.tenant_id, w.queue, w.id
    FROM turn_room(:tenants, :queues, :priorities, :lease, :running, :stale) AS room
    JOIN unnest(cast(:tenants AS text[]), cast(:queues AS text[]), cast(:ids AS uuid[])) AS w (tenant_id, queue, id)
      USING (tenant_id, queue)
    WHERE room.free > 0 OR EXISTS (
        SELECT FROM dispatches d JOIN turn_bounds b USING (tenant_id, queue, priority)
        WHERE d.tenant_id = w.tenant_id AND d.id = w.id AND d.id < b.from_id)
""")

_OFFER: Final = text("""
    SELECT tenant_id, queue, id, claimed
    FROM offer_turns(:tenants, :queues, :lowest, :priorities, :lease, :running, :stale, :resend, :longest,
                     :claiming, :most, :targets, :holder, :limits)
""")

UNHURRIED: Final[BoundStatement] = text("SET LOCAL synchronous_commit = off"), {}
"""Of a transaction whose loss with the server costs nothing but time."""

CLAIM: Final = text("SELECT * FROM claim_dispatch(:id, :lease, :seconds, :limits)")
"""Claims a dispatch, or reads the one that an offer of the same transaction has claimed."""

_BOUNDS: Final = """
    bounds AS MATERIALIZED (
        SELECT w.tenant_id, w.queue, p.priority, coalesce(b.older, '{}') AS older,
               coalesce(b.from_id, '00000000-0000-0000-0000-000000000000') AS from_id
        FROM unnest(cast(:tenants AS text[]), cast(:queues AS text[])) AS w (tenant_id, queue)
        CROSS JOIN unnest(cast(:priorities AS int[])) AS p (priority)
        LEFT JOIN turn_bounds b ON b.tenant_id = w.tenant_id AND b.queue = w.queue AND b.priority = p.priority
    )
"""
"""Read first: row-level security keeps an expression such as `coalesce` out of the search of an index."""

_RAISE: Final = text(f"""
    WITH {_BOUNDS}
    INSERT INTO turn_bounds AS known (tenant_id, queue, priority, from_id, older)
    SELECT b.tenant_id, b.queue, b.priority, next.id,
           coalesce((SELECT array_agg(one ORDER BY one) FROM unnest(sent.ids) AS one WHERE one < next.id), '{{}}')
    FROM bounds b,
    LATERAL (
        SELECT array_agg(id ORDER BY id) AS ids FROM (
            SELECT id FROM dispatches
            WHERE tenant_id = b.tenant_id AND queue = b.queue AND turn = 'sent' AND priority = b.priority
              AND id >= b.from_id AND status IN ('pending', 'running')
            UNION
            SELECT id FROM dispatches
            WHERE tenant_id = b.tenant_id AND id = ANY(b.older) AND turn = 'sent'
              AND CASE WHEN status IN ('pending', 'running') THEN true END
        ) AS found
    ) AS sent,
    LATERAL (
        SELECT least(coalesce(sent.ids[{MOST_OLDER + 1}], sent.ids[cardinality(sent.ids)]), (
            SELECT id FROM dispatches
            WHERE tenant_id = b.tenant_id AND queue = b.queue AND turn = 'ready' AND priority = b.priority
              AND id >= b.from_id AND status IN ('pending', 'running')
            ORDER BY id LIMIT 1)) AS id
    ) AS next
    WHERE next.id > b.from_id
    ON CONFLICT (tenant_id, queue, priority) DO UPDATE SET from_id = EXCLUDED.from_id, older = EXCLUDED.older
""")
"""To the last that was sent, but to none above the first that is ready. While a snapshot is held open, every transition
leaves an index entry that no vacuum may remove; an offer steps over those above the bound alone. The bound is moved
seldom, because each move leaves a version of its row, too."""

_COUNT_OLDER: Final = text("""
    UPDATE turn_bounds SET older = older || cast(:id AS uuid)
    WHERE tenant_id = :tenant AND queue = :queue AND priority = :priority AND from_id > :id
      AND NOT cast(:id AS uuid) = ANY(older)
""")

READY: Final[BoundStatement] = (
    text("""
    WITH RECURSIVE keys AS (
        (SELECT tenant_id, queue, id FROM dispatches WHERE status = 'pending' AND turn = 'ready'
         ORDER BY tenant_id, queue LIMIT 1)
        UNION ALL
        SELECT n.tenant_id, n.queue, n.id FROM keys, LATERAL (
            SELECT tenant_id, queue, id FROM dispatches
            WHERE status = 'pending' AND turn = 'ready' AND (tenant_id, queue) > (keys.tenant_id, keys.queue)
            ORDER BY tenant_id, queue LIMIT 1
        ) AS n
    )
    SELECT tenant_id, queue, id FROM keys
"""),
    {},
)
"""Asks for the tenants and queues for which something is ready to be sent, with the first such dispatch of each:
one index step per tenant and queue, however much each has waiting."""
