"""Parts that the pages about work for a person share."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any, Final

from fastapi import Query
from fastapi.responses import Response

from api.console.calls import Api, together
from api.console.render import Renderer
from api.console.routing import refresh
from core.types import Json

LISTED: Final = 50
"""Rows of a page."""

After = Annotated[str, Query(max_length=100)]


async def with_shared(api: Api, *calls: Awaitable[Any]) -> tuple[Json, list[Any]]:
    """Return what all pages of the area show (counts, and what the key of the login may do), and further answers."""
    now, own, *rest = await together(api.get("/v1/now"), api.get("/v1/keys/own"), *calls)
    scopes = set(own["scopes"])
    may = {scope: bool(scopes & {scope, "admin"}) for scope in ("write", "rules")}
    return {"needs": now["needs_person"], "may": may}, rest


def outcome(pages: Renderer, answer: Json) -> Response:
    """Read the page again if all rows of a request are done; else say what was refused and why."""
    refused = [row["detail"] for row in answer["items"] if row["outcome"] == "refused"]
    if not refused and not answer["more"]:
        return refresh()
    reasons = "; ".join(dict.fromkeys(filter(None, refused)))
    return pages.notice("work.partly", bad=True, done=answer["done"], refused=len(refused), why=reasons)
