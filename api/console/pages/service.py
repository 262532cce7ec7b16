"""The installation as its tenant sees it: costs, webhooks, documents, models, limits."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Form, Rendering, at, page

COUNTED: Final = 5_000
"""Newest model calls that costs are summed up of."""

Text = Annotated[str, Query(max_length=300)]


@page("/service")
async def get_service(
    request: Request, api: ApiCalls, pages: Rendering, by: Literal["rule", "agent", "user", "model"] = "rule"
) -> Response:
    costs, endpoints, limits, embedding, webhooks, deliveries = await together(
        api.get("/v1/costs", by=by, limit=50, most=COUNTED),
        api.get("/v1/endpoints"),
        api.get("/v1/tenant/limits"),
        api.get("/v1/tenant/embedding"),
        api.get("/v1/tenant/webhooks"),
        api.get("/v1/endpoints/deliveries", limit=20),
    )
    return pages.page(
        request,
        "service.html",
        costs=costs,
        by=by,
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


@page("/documents")
async def get_documents(
    request: Request, api: ApiCalls, pages: Rendering, user_id: Text = "", after: Text = ""
) -> Response:
    found = await api.get("/v1/documents", user_id=user_id, after=after, limit=50)
    return pages.page(request, "documents.html", documents=found["items"], following=found["next"])
