"""Counts of events, decisions, dispatches and memories of one tenant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query

from api.http.service.answers import Stats
from api.ingress.answers import answers
from api.ingress.dependencies import Reader, WholeDeps
from api.ingress.large_json import Route
from core import metrics
from core.events import expiries
from core.events.parsing import Name
from core.maintenance import activity, memory_stats
from core.types import Json

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

UserId = Annotated[Name | None, Query(description="Count only the events and memories of this user")]


@router.get("/stats", operation_id="getStats", responses=answers(Stats))
def get_stats(deps: WholeDeps, caller: Reader, user_id: UserId = None) -> Json:
    """Count events by type, decisions by rule and verdict, dispatches by status and target, and memories by category.

    `removed`: what has left by the tenant's retention, by kind, and is counted no longer. `memory` describes the state
    of the memory. Its `latency_ms` and `recall.process`, and `caches`, are measured by this process only. `caches` is
    for whoever operates the installation: its figures are those of all tenants together.
    """
    now = datetime.now(UTC)
    with deps.db.tenant(caller.tenant_id) as tx:
        done = activity.of(tx, user_id, now)
        counted = memory_stats.counts(tx, user_id, now)
        memory = memory_stats.of(tx, user_id, now, counted)
        removed = expiries.counts(tx)
    recall = {"with_memories": done.recalls, "process": deps.hits.of(caller.tenant_id)}
    return {
        "events": done.events,
        "decisions": done.decisions,
        "dispatches": done.dispatches,
        "removed": removed,
        "memories": sorted(counted.crossed, key=lambda row: (row["category"], row["status"])),
        "caches": metrics.hit_shares() if caller.operates else None,
        "memory": memory | {"recall": recall, "latency_ms": deps.hits.latency(caller.tenant_id)},
    }
