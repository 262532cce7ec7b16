"""Liveness of this process and readiness of the service, without a key."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError

from api.http.service.answers import ServiceStatus
from api.ingress import error_responses
from api.ingress.answers import answers
from api.ingress.dependencies import Dependencies
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.errors import Misconfigured
from core.maintenance import heartbeat
from core.memory import receipts

router = APIRouter(tags=["service"], route_class=Route)

PUBLIC = Bounds(public=True)

READY_SECONDS = 1.0
"""Seconds for which a positive answer is cached: the database is queried at most once a second."""


@router.get("/healthz", operation_id="getLiveness", responses=answers(ServiceStatus))
@with_bounds(PUBLIC)
async def healthz() -> dict[str, str]:
    """Report that this process is alive. Async, so that it answers while all threads are busy."""
    return {"status": "alive"}


@router.get("/readyz", operation_id="getReadiness", responses=answers(ServiceStatus, refusals=(503,)))
@with_bounds(PUBLIC)
async def readyz(request: Request) -> Response:
    """Report whether events are accepted and processed: the database, the router, a clock and workers are running."""
    deps: Dependencies = request.app.state.deps
    async with deps.readiness.asking:
        if deps.readiness.missing or time.monotonic() - deps.readiness.looked_at > READY_SECONDS:
            deps.readiness.missing = await run_in_threadpool(_missing_parts, deps)
            deps.readiness.looked_at = time.monotonic()
    if deps.readiness.missing:
        return error_responses.problem(503, "Not ready", f"Not at work: {', '.join(deps.readiness.missing)}.")
    return JSONResponse({"status": "ready"})


def _missing_parts(deps: Dependencies) -> list[str]:
    """Name the components that are not running, including receipts that cannot be signed: erasing needs them."""
    try:
        receipts.signer(deps.settings)
    except Misconfigured as error:
        return [f"receipts ({error.detail})"]
    try:
        with deps.db.queue() as tx:
            return heartbeat.missing_processes(tx)
    except DBAPIError:
        return ["postgres"]
