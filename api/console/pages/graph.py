"""The memories of a user as a graph of their relations, laid out on the server."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Query
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.graphs import laid_out
from api.console.routing import Rendering, Text, page


@page("/graph")
async def get_graph(
    api: ApiCalls, pages: Rendering, user_id: Text = "", limit: Annotated[int, Query(ge=1, le=200)] = 80
) -> Response:
    graph = (
        await api.get("/v1/memories/graph", user_id=user_id, limit=limit, include_archived="true") if user_id else None
    )
    return pages.page(
        "graph.html", graph=partial(laid_out, graph) if graph else None, more=bool(graph and graph["more"])
    )
