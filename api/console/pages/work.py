"""Approvals, dead letters and questioned memories, which need a person; and the page of one dispatch."""

from __future__ import annotations

import re
from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, at, page

LISTED: Final = 200
ACTIONS: Final = frozenset({"approve", "reject", "retry", "cancel"})

_VARYING: Final = re.compile(
    r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\d+(?:\.\d+)?|'[^']*'|\"[^\"]*\"", re.IGNORECASE
)


@page("/work")
async def get_work(request: Request, api: ApiCalls, pages: Rendering) -> Response:
    held, dead, disputed, quarantined = await together(
        api.get("/v1/dispatches", hold="approval", status="held", limit=LISTED),
        api.get("/v1/dispatches", status="dead", limit=LISTED),
        api.get("/v1/memories", trust="disputed", limit=50),
        api.get("/v1/memories", trust="quarantined", limit=50),
    )
    return pages.page(
        request,
        "work.html",
        held=held["items"],
        dead=_by_fingerprint(dead["items"]),
        disputed=disputed["items"],
        quarantined=quarantined["items"],
    )


@page("/work/{dispatch_id}")
async def get_dispatch(request: Request, api: ApiCalls, pages: Rendering, dispatch_id: str) -> Response:
    return pages.page(request, "dispatch.html", dispatch=await api.get(at("dispatches", dispatch_id)))


@page("/work/{dispatch_id}/{action}", method="POST")
async def post_action(request: Request, api: ApiCalls, pages: Rendering, dispatch_id: str, action: str) -> Response:
    if action not in ACTIONS:
        return pages.notice(request, "work.unknown", bad=True)
    await api.post(f"{at('dispatches', dispatch_id)}/{action}")
    return Response(status_code=204, headers={"HX-Refresh": "true"})


def _by_fingerprint(dispatches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Group dead letters whose errors differ in ids, numbers and quotes alone; the largest group first."""
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for one in dispatches:
        fingerprint = _VARYING.sub("…", one["error"] or "")[:300]
        group = groups.setdefault(
            (one["target"], fingerprint), {"target": one["target"], "fingerprint": fingerprint, "items": []}
        )
        group["items"].append(one)
    return sorted(groups.values(), key=lambda group: -len(group["items"]))
