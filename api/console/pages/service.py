"""The installation as its tenant sees it: webhooks, models, limits."""

from __future__ import annotations

from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, page


@page("/service")
async def get_service(api: ApiCalls, pages: Rendering) -> Response:
    endpoints, limits, embedding, webhooks = await together(
        api.get("/v1/endpoints"),
        api.get("/v1/tenant/limits"),
        api.get("/v1/tenant/embedding"),
        api.get("/v1/tenant/webhooks"),
    )
    return pages.page(
        "service.html", endpoints=endpoints["items"], limits=limits, embedding=embedding, webhooks=webhooks
    )
