"""Reads the gauges that only the database knows. The clock does so for the whole installation."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import text

from core import metrics
from core.agents import QUEUES
from core.config import Settings
from core.inference import costs
from core.maintenance import heartbeat
from core.storage.db import Database
from core.storage.tables import metadata
from workers.dispatch import backlog, fair_share
from workers.dispatch.backlog import Backlog
from workers.dispatch.model import LedgerPolicy

GAUGE_SECONDS: Final = 5.0
"""Interval at which gauges are read, and obsolete rows are deleted."""

SELDOM_SECONDS: Final = 60.0
"""Interval at which sizes of tables and budgets are read, which change slowly and take longer."""


@dataclass(slots=True)
class Gauges:
    """The gauges of one clock, and what it must remember between two looks."""

    database: Database
    settings: Settings
    _seldom: float = float("-inf")
    _snapshots: dict[tuple[int, str], float] = field(default_factory=dict)
    """When each snapshot was seen first: the server tells a role the age of its own transactions only."""

    def read(self) -> None:
        """Set the gauges, and keep those of the backlog for `GET /v1/health`."""
        asked_at = datetime.now(UTC)
        ((at,),), ((events, lag),), opened, dead, ((oldest,),), ready, serving, workers, held = (
            self.database.ask_queues(
                (_NOW, {}),
                (_UNROUTED, {}),
                *backlog.asking(LedgerPolicy.of(self.settings)),
                (_OLDEST, {}),
                fair_share.READY,
                heartbeat.PROCESSES,
                heartbeat.WORKERS,
                (_SNAPSHOTS, {}),
            )
        )
        metrics.CLOCK_SKEW.set((asked_at - at).total_seconds())
        metrics.LOG_UNROUTED.set(events)
        metrics.LOG_LAG.set(lag)
        metrics.DISPATCH_OLDEST.set(oldest)
        metrics.OLDEST_SNAPSHOT.set(self._oldest_snapshot(held))
        counted = backlog.of(opened, dead)
        tenants, processes = Counter(queue for _, queue, _ in ready), dict(serving)
        _show_backlog(counted)
        for queue in QUEUES:
            metrics.TENANTS_WAITING.labels(queue).set(tenants[queue])
            metrics.WORKER_PROCESSES.labels(queue).set(processes.get(queue, 0))
        metrics.replace(metrics.CELERY_WORKER_UP, {row.node: row.alive for row in workers})
        kept = {
            "at": at.isoformat(),
            "events": events,
            "lag_seconds": round(lag, 3),
            "dispatches": {status: counted.statuses[status] for status in backlog.STATUSES},
            "oldest_seconds": round(oldest, 3),
            "tenants": {queue: tenants[queue] for queue in QUEUES},
        }
        self.database.ask_queues(heartbeat.keeping(kept))
        if time.monotonic() - self._seldom >= SELDOM_SECONDS:
            self._seldom = time.monotonic()
            self._read_seldom()

    def _read_seldom(self) -> None:
        (tables,) = self.database.ask_queues((_TABLES, {"names": [table.name for table in metadata.sorted_tables]}))
        metrics.replace(metrics.TABLE_BYTES, {row.name: row.bytes for row in tables})
        metrics.replace(metrics.TABLE_DEAD_TUPLES, {row.name: row.dead for row in tables})
        budgets = {"tokens": self.settings.llm_tokens_per_day, "cost": self.settings.llm_cost_per_day}
        if any(budgets.values()):
            ((most,),) = self.database.ask_queues(costs.MOST_OF_TENANTS)
            _show_budgets(budgets, {"tokens": most.tokens, "cost": most.cost})

    def _oldest_snapshot(self, held: Iterable[Any]) -> float:
        """Return for how long the oldest of these snapshots has been held, in seconds; 0: there is none."""
        now, rows = time.monotonic(), {(row.process, row.horizon): row.seconds for row in held}
        self._snapshots = {key: self._snapshots.get(key, now) for key in rows}
        return max((max(rows[key] or 0.0, now - seen) for key, seen in self._snapshots.items()), default=0.0)


def _show_backlog(counted: Backlog) -> None:
    for status in backlog.STATUSES:
        metrics.DISPATCHES_OPEN.labels(status).set(counted.statuses[status])
    for queue in QUEUES:
        metrics.DISPATCHES_CLAIMABLE.labels(queue).set(counted.claimable[queue])
        metrics.CELERY_QUEUE_LENGTH.labels(queue).set(counted.claimable[queue])
    metrics.DISPATCHES_LEASED.set(counted.leased)
    metrics.DISPATCHES_RETRYING.set(counted.retrying)
    metrics.DISPATCHES_DEAD.set(counted.statuses["dead"])


def _show_budgets(budgets: Mapping[str, float | None], most: Mapping[str, float]) -> None:
    """Show of each budget that is set what the tenant who has used most of it has left."""
    for unit, budget in budgets.items():
        if budget:
            metrics.BUDGET_LEFT.labels(unit).set(max(0.0, 1 - float(most[unit]) / budget))


_NOW: Final = text("SELECT clock_timestamp()")

_UNROUTED: Final = text("""
    SELECT count(*) AS events, coalesce(extract(epoch FROM now() - min(received_at)), 0)::float8 AS lag
    FROM (SELECT received_at FROM events WHERE routed_at IS NULL LIMIT 100000) AS waiting
""")

_OLDEST: Final = text("""
    SELECT coalesce(extract(epoch FROM now() - min(created_at)), 0)::float8 FROM dispatches
    WHERE status = 'pending' AND root_seq >= 0 AND lane IS NULL AND approval IS NULL AND after IS NULL
""")
"""Dispatches that waited for their lane, an approval or the action before them are left out: they are not late."""

_SNAPSHOTS: Final = text("""
    SELECT pid AS process, backend_xmin::text AS horizon,
           extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
    FROM pg_stat_activity
    WHERE backend_xmin IS NOT NULL AND (datname IS NULL OR datname = current_database()) AND pid <> pg_backend_pid()
      AND pid NOT IN (SELECT pid FROM pg_stat_progress_vacuum)
    UNION ALL
    SELECT 0, slot_name || ' ' || coalesce(xmin, catalog_xmin), NULL
    FROM pg_replication_slots WHERE coalesce(xmin, catalog_xmin) IS NOT NULL
    UNION ALL
    SELECT 0, gid, extract(epoch FROM clock_timestamp() - prepared)::float8
    FROM pg_prepared_xacts WHERE database = current_database()
""")
"""Whatever keeps vacuum from removing dead rows: also a standby that reads (it has no `datname`), and not a vacuum.

Of other roles' transactions the horizon is shown, and not the age.
"""

_TABLES: Final[Any] = text("""
    SELECT c.relname AS name, pg_total_relation_size(c.oid) AS bytes, coalesce(s.n_dead_tup, 0) AS dead
    FROM pg_class c LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = ANY(:names)
""")
"""The tables of this service alone, so that there are as many series."""
