"""Several memories at once: a preview of what would happen to each row, then the same for good."""

from __future__ import annotations

from typing import Any, Final

from fastapi import Request
from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.routing import FormLists, Rendering, page

ACTIONS: Final = ("pin", "unpin", "archive", "restore", "merge", "erase")


@page("/memories/bulk", method="POST")
async def post_bulk(request: Request, api: ApiCalls, pages: Rendering, form: FormLists) -> Response:
    """Preview an action, or carry it out when the number of rows was typed."""
    action, ids = form.get("action", [""])[-1], form.get("id", [])
    typed = form.get("confirm", [""])[-1].strip()
    if not ids:
        return pages.notice(request, "bulk.none", bad=True)
    body: dict[str, Any] = {"action": action, "ids": ids, "dry_run": True}
    if typed:
        if typed != str(len(ids)):
            return pages.notice(request, "bulk.mismatch", bad=True)
        body |= {"dry_run": False} | ({"confirm": len(ids)} if action == "erase" else {})
    result = await api.post("/v1/memories/bulk", body)
    return pages.page(request, "bulk.html", result=result, ids=ids)
