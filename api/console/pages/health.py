"""Health: processes, queues, schedules, alarms, and for the operator the servers, the tables and the disk."""

from __future__ import annotations

from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, page
from core.types import Json

SHOWN: Final = 100
"""Alarms of the page."""


@page("/health")
async def get_health(api: ApiCalls, pages: Rendering) -> Response:
    return pages.page("health.html", **await _figures(api))


@page("/health/figures")
async def get_figures(api: ApiCalls, pages: Rendering) -> Response:
    """Show the figures again, every few seconds."""
    return pages.page("health_figures.html", **await _figures(api))


async def _figures(api: ApiCalls) -> Json:
    """Return what both show; of the alarms the first hundred."""
    health, now, alarms = await together(api.get("/v1/health"), api.get("/v1/now"), api.get("/v1/alarms", limit=SHOWN))
    return {"health": health, "now": now, "alarms": alarms}
