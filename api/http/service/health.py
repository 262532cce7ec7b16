"""The state of a tenant now, and of the processes; for the operator also database, tables, broker and disk."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict
from typing import Final

from fastapi import APIRouter

from api.http.service.answers import Health
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies, Reader, WholeDeps
from api.ingress.large_json import Route
from core.events.doorbell import BROKER_ERRORS
from core.inference import embedding_model
from core.inference.local_models.catalog import MODELS
from core.maintenance import glance, health, heartbeat
from core.maintenance.glance import Glance
from core.tenancy.tenants import DEFAULT
from core.types import Json
from rules.flow import due

router = APIRouter(prefix="/v1", tags=["service"], route_class=Route)

PING: Final = "ping"

LOCAL: Final = frozenset({embedding_model.HASH, *MODELS})
"""Embedders that compute in this process."""


@router.get("/now", operation_id="getNow")
def get_now(deps: WholeDeps, caller: Reader) -> Glance:
    """Show lag, work under way, freshness, processes, and what needs a person.

    Counts end at 1,000 (`more`), so that the answer takes as long on any installation. `GET /v1/stats` counts all.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        return glance.of(tx)


@router.get("/health", operation_id="getHealth", responses=answers(Health))
def get_health(deps: WholeDeps, caller: Reader) -> Json:
    """Show the processes, and the tenant's own queues and schedules.

    `installation` is for whoever operates it, which is an `admin` key of the tenant `default`; null for all others:
    its figures are those of all tenants together. None of them is found by scanning a table.
    """
    with deps.db.tenant(caller.tenant_id) as tx:
        report: Json = {
            "processes": [asdict(process) for process in health.processes(tx)],
            "queues": [asdict(queue) for queue in health.queues(tx)],
            "schedules": [asdict(schedule) for schedule in due.of_tenant(tx)],
        }
    return report | {"installation": _installation(deps) if caller.operates else None}


def _installation(deps: Dependencies) -> Json:
    with deps.db.tenant(DEFAULT) as tx:
        report = {
            "workers": [asdict(worker) for worker in health.workers(tx)],
            "backlog": heartbeat.gauges(tx),
            "database": asdict(health.database(tx)),
            "tables": [asdict(table) for table in health.tables(tx)],
        }
    return report | {"broker": _broker(deps), "embedder": _embedder(deps), "disk": _disk(deps)}


def _broker(deps: Dependencies) -> Json:
    """Connect anew: what a kept connection says may be old."""
    try:
        return {"kind": deps.bell.kind, "seconds": round(deps.bell.ping(), 4), "error": None}
    except BROKER_ERRORS as error:
        return {"kind": deps.bell.kind, "seconds": None, "error": type(error).__name__}


def _embedder(deps: Dependencies) -> Json:
    """Name the model, and take the time of one vector where that costs nothing: an endpoint is paid by the call."""
    name, dimension = embedding_model.identity(deps.settings)
    seconds = None
    if deps.settings.embedding in LOCAL:
        began = time.monotonic()
        deps.embedders.default.embed_queries([f"{PING} {began}"])
        seconds = round(time.monotonic() - began, 4)
    return {"kind": deps.settings.embedding, "model": name, "dimension": dimension, "seconds": seconds}


def _disk(deps: Dependencies) -> Json:
    home = deps.settings.home.absolute()
    existing_folder = next(folder for folder in (home, *home.parents) if folder.exists())
    used = shutil.disk_usage(existing_folder)
    return {"path": str(home), "free_bytes": used.free, "total_bytes": used.total}
