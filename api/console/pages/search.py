"""Search as a debugger of recall: what each part found, and how it was put together."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Form, Rendering, page

Text = Annotated[str, Query(max_length=2_000)]

METHODS: Final = ("hybrid", "keyword", "vector")


@page("/search")
async def get_search(
    request: Request,
    api: ApiCalls,
    pages: Rendering,
    query: Text = "",
    user_id: Text = "",
    group_id: Text = "",
    method: Text = "hybrid",
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Response:
    found: dict[str, Any] | None = None
    if query.strip() and (user_id or group_id):
        asked = {"query": query, "user_id": user_id, "group_id": group_id, "method": method}
        body = {name: value for name, value in asked.items() if value} | {"limit": limit, "explain": True}
        found = await api.post("/v1/search", body)
    best = max((abs(one["score"]) for one in found["results"]), default=1.0) if found else 1.0
    return pages.page(request, "search.html", found=found, best=best or 1.0, methods=METHODS)


@page("/search/why", method="POST")
async def post_why(request: Request, api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Say why a memory is not among the results, or where it stands."""
    names = ("query", "user_id", "group_id", "method", "id")
    body = {name: form[name].strip() for name in names if form.get(name, "").strip()}
    return pages.page(request, "why_not.html", why=await api.post("/v1/search/why", body))
