"""Quarantined memories by the cause for which they were set apart."""

from __future__ import annotations

from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.needs import After, outcome, with_shared
from api.console.routing import FormLists, Rendering, page
from core.types import Json

LISTED: Final = 100


@page("/work/quarantine")
async def get_quarantine(api: ApiCalls, pages: Rendering, after: After = "") -> Response:
    shared, (listing,) = await with_shared(api, api.get("/v1/quarantine", limit=LISTED, after=after))
    causes: dict[str, list[Json]] = {}
    for entry in listing["items"]:
        causes.setdefault(entry["cause"], []).append(entry)
    return pages.page("quarantine.html", **shared, causes=causes, following=listing["next"])


@page("/work/quarantine", method="POST")
async def post_quarantine(api: ApiCalls, pages: Rendering, form: FormLists) -> Response:
    """Release or reject one memory, or all of a cause."""
    body: Json = {"verdict": form.get("verdict", [""])[-1], "reason": form.get("reason", [""])[-1] or None}
    body |= {"ids": form["id"]} if form.get("id") else {"cause": form.get("cause", [""])[-1]}
    return outcome(pages, await api.post("/v1/quarantine/review", body))
