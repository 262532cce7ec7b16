"""Health: processes, queues, schedules, and for the operator the servers, the tables and the disk."""

from __future__ import annotations

from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, page


@page("/health")
async def get_health(api: ApiCalls, pages: Rendering) -> Response:
    health, now = await together(api.get("/v1/health"), api.get("/v1/now"))
    return pages.page("health.html", health=health, now=now)


@page("/health/figures")
async def get_figures(api: ApiCalls, pages: Rendering) -> Response:
    """Show the figures again, every few seconds."""
    health, now = await together(api.get("/v1/health"), api.get("/v1/now"))
    return pages.page("health_figures.html", health=health, now=now)
