"""Imports: what was brought along, how far it is, and bringing more."""

from __future__ import annotations

from typing import Any

from fastapi import Depends
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import Form, Rendering, Text, at, page, refresh, router
from api.http.transfer import imports
from api.ingress.dependencies import Body, any_key
from api.ingress.route_bounds import Bounds, with_bounds

UPLOADED = Bounds(body=lambda _settings: imports.LARGEST, counted="pages")


@page("/imports")
async def get_imports(api: ApiCalls, pages: Rendering, after: Text = "") -> Response:
    listing = await api.get("/v1/imports", after=after, limit=50)
    return pages.page("imports.html", jobs=listing["items"], following=listing["next"])


@page("/imports/jobs")
async def get_jobs(api: ApiCalls, pages: Rendering, after: Text = "") -> Response:
    """Show the imports again, as long as one is under way."""
    listing = await api.get("/v1/imports", after=after, limit=50)
    return pages.page("import_jobs.html", jobs=listing["items"])


@page("/imports/cancel", method="POST")
async def post_cancel(api: ApiCalls, form: Form) -> Response:
    await api.delete(at("imports", form.get("id", "")))
    return refresh()


@router.post("/imports", dependencies=[Depends(any_key)])
@with_bounds(UPLOADED)
async def post_import(api: ApiCalls, pages: Rendering, raw: Body, user_id: Text, dry_run: bool = True) -> Response:
    """Report what a file holds, or import it."""
    query: dict[str, Any] = {"user_id": user_id, "dry_run": str(dry_run).lower()}
    report = await api.send("/v1/import", raw, **query)
    return pages.page("import_report.html", found=report, dry_run=dry_run)
