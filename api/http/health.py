"""Return whether this process is alive, and whether the whole is at work: for those who watch it, without a key."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError

from api.ingress import error_responses
from api.ingress.dependencies import Door
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, bounded
from core.errors import Misconfigured
from core.maintenance import heartbeat
from core.memory import receipts

router = APIRouter(tags=["service"], route_class=Route)

PUBLIC = Bounds(public=True)

READY_SECONDS = 1.0
"""How long the answer holds that all is at work: however many ask, the database is asked once a second."""


@router.get("/healthz")
@bounded(PUBLIC)
async def healthz() -> dict[str, str]:
    """This process is alive. Async, so that it answers while every thread is at work."""
    return {"status": "alive"}


@router.get("/readyz")
@bounded(PUBLIC)
async def readyz(request: Request) -> Response:
    """200 once events are accepted *and* worked: the database answers, and router, clock and workers are at work."""
    at: Door = request.app.state.door
    async with at.readiness.asking:
        if at.readiness.missing or time.monotonic() - at.readiness.looked_at > READY_SECONDS:
            at.readiness.missing = await run_in_threadpool(_missing, at)
            at.readiness.looked_at = time.monotonic()
    if at.readiness.missing:
        return error_responses.problem(503, "Not ready", f"Not at work: {', '.join(at.readiness.missing)}.")
    return JSONResponse({"status": "ready"})


def _missing(at: Door) -> list[str]:
    """Name what is not at work; receipts, too, where they cannot be signed, for then nothing can be erased."""
    try:
        receipts.signer(at.settings)
    except Misconfigured as error:
        return [f"receipts ({error.detail})"]
    try:
        with at.db.queue() as tx:
            return heartbeat.missing(tx)
    except DBAPIError:
        return ["postgres"]
