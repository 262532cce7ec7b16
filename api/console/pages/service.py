"""The installation as its tenant sees it: webhooks, models, limits."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Form, Rendering, at, page


@page("/service")
async def get_service(request: Request, api: ApiCalls, pages: Rendering) -> Response:
    endpoints, limits, embedding, webhooks, deliveries = await together(
        api.get("/v1/endpoints"),
        api.get("/v1/tenant/limits"),
        api.get("/v1/tenant/embedding"),
        api.get("/v1/tenant/webhooks"),
        api.get("/v1/endpoints/deliveries", limit=20),
    )
    return pages.page(
        request,
        "service.html",
        endpoints=endpoints["items"],
        limits=limits,
        embedding=embedding,
        webhooks=webhooks,
        deliveries=deliveries["items"],
    )


@page("/service/redeliver", method="POST")
async def post_redeliver(api: ApiCalls, form: Form) -> Response:
    await api.post(f"{at('endpoints', 'deliveries', form.get('id', ''))}/redeliver")
    return Response(status_code=204, headers={"HX-Refresh": "true"})
