"""Counts the open dispatches by what the router, the sweep and the workers would do with each now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import text

from core.events import log
from core.storage.multiquery import BoundStatement
from workers.dispatch import sweep
from workers.dispatch.model import MOST_OVERRUNS, LedgerPolicy

STATUSES: Final = ("pending", "running", "retrying", "dead")
"""Statuses that are counted for the whole installation."""


@dataclass(frozen=True, slots=True)
class Backlog:
    """Open dispatches of the whole installation, and dead letters.

    `claimable`: by queue, those that a worker would begin now if it were free. `leased`: those with a valid lease.
    `retrying`: those whose next attempt is not due yet. `statuses`: all by status.
    """

    claimable: Counter[str] = field(default_factory=Counter)
    leased: int = 0
    retrying: int = 0
    statuses: Counter[str] = field(default_factory=Counter)


def asking(policy: LedgerPolicy) -> Sequence[BoundStatement]:
    """Return the statements whose rows `of` reads."""
    return (_OPEN, {"attempts": policy.attempts, "overruns": MOST_OVERRUNS}), _DEAD


def of(opened: Iterable[Any], dead: Iterable[Any]) -> Backlog:
    """Return the backlog by the rows of the statements."""
    claimable, statuses, leased, retrying = Counter[str](), Counter[str](), 0, 0
    for row in opened:
        statuses[row.status] += row.dispatches
        claimable[row.queue] += row.claimable
        leased += row.dispatches - row.due if row.status == "running" else 0
        retrying += row.dispatches - row.due if row.status == "retrying" else 0
    statuses["dead"] = sum(row.dispatches for row in dead)
    return Backlog(claimable, leased, retrying, statuses)


_DUE: Final = "coalesce(wake_at <= (SELECT now FROM moment), false)"

_PUT_BACK: Final = "(turn = 'sent' AND sends = 0 AND error IS NOT NULL)"
"""SQL: admission control has refused it (`ledger._PUT_BACK`): it keeps its place and is no longer with the broker."""

_CLAIMABLE: Final = f"""
    CASE WHEN {_DUE} THEN NOT {sweep.LAST_ATTEMPT} AND NOT coalesce({sweep.LAST_OVERRUN}, false)
         WHEN status = 'pending' THEN turn = 'ready' OR (turn = 'sent' AND NOT {_PUT_BACK})
         ELSE false END
"""
"""SQL: what is due is what the sweep makes ready, without what it gives up (`sweep._OWED`); what is ready is what an
offer takes (`offer_turns`); what was sent is what a worker claims (`claim_dispatch`). A pending one without a turn
waits for another of its key or lane."""

_OPEN: Final = text(f"""
    WITH moment AS MATERIALIZED (SELECT clock_timestamp() AS now)
    SELECT queue, status, count(*) AS dispatches, count(*) FILTER (WHERE {_CLAIMABLE}) AS claimable,
           count(*) FILTER (WHERE {_DUE}) AS due
    FROM dispatches WHERE {log.OPEN_DISPATCH} GROUP BY queue, status
""")

_DEAD: Final[BoundStatement] = text("SELECT count(*) AS dispatches FROM dispatches WHERE status = 'dead'"), {}
