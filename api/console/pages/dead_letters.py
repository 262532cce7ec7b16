"""Dead letters in groups: retry or discard one group, and the letters of a group."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.needs import LISTED, After, with_shared
from api.console.routing import Form, Rendering, page, refresh

GROUPS: Final = 100

SECONDS: Final = 20.0
"""Seconds for which one press goes on retrying; the rest is left to the next one."""


@page("/work/dead")
async def get_dead(api: ApiCalls, pages: Rendering, after: After = "") -> Response:
    shared, (listing,) = await with_shared(api, api.get("/v1/dispatches/groups", limit=GROUPS, after=after))
    groups = sorted(listing["items"], key=lambda group: group["last_at"] or "", reverse=True)
    return pages.page("dead_letters.html", **shared, groups=groups, following=listing["next"])


@page("/work/dead/retry", method="POST")
async def post_retry_group(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Retry all letters of a group that were given up before now, page by page."""
    criteria = {"fingerprint": form.get("fingerprint", ""), "to": datetime.now(UTC).isoformat()}
    began, replayed = time.monotonic(), 0
    while True:
        answer = await api.post("/v1/dispatches/replay", {"filter": criteria, "limit": 1_000})
        replayed += answer["replayed"]
        if answer["matched"] <= answer["replayed"] or not answer["replayed"]:
            break
        if time.monotonic() - began > SECONDS:
            return pages.notice("work.go_on", bad=True, done=replayed)
    return refresh() if replayed else pages.notice("work.none_retried", bad=True)


@page("/work/dead/discard", method="POST")
async def post_discard_group(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Discard the letters of a group whose number was typed."""
    confirm = form.get("confirm", "")
    if not confirm.isdecimal():
        return pages.notice("work.type_number", bad=True)
    body = {
        "filter": {"fingerprint": form.get("fingerprint", "")},
        "confirm": int(confirm[:9]),
        "comment": form.get("comment") or None,
    }
    answer = await api.post("/v1/dispatches/discard", body)
    if answer["more"]:
        return pages.notice("work.go_on", bad=True, done=answer["discarded"])
    return refresh()


@page("/work/dead/{fingerprint}")
async def get_group(api: ApiCalls, pages: Rendering, fingerprint: str, after: After = "") -> Response:
    shared, (listing,) = await with_shared(
        api, api.get("/v1/dispatches", status="dead", fingerprint=fingerprint, after=after, limit=LISTED)
    )
    return pages.page("dead_group.html", **shared, letters=listing["items"], following=listing["next"])
