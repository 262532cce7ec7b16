"""Memories that deny each other, side by side, and a person's decision."""

from __future__ import annotations

from typing import Final

from fastapi.responses import Response

from api.console.calls import ApiCalls
from api.console.needs import After, with_shared
from api.console.routing import Form, Rendering, at, page, refresh
from core.types import Json

LISTED: Final = 20


@page("/work/conflicts")
async def get_conflicts(api: ApiCalls, pages: Rendering, after: After = "") -> Response:
    shared, (listing,) = await with_shared(api, api.get("/v1/conflicts", limit=LISTED, after=after))
    return pages.page("conflicts.html", **shared, conflicts=listing["items"], following=listing["next"])


@page("/work/conflicts/{memory_id}", method="POST")
async def post_resolve(api: ApiCalls, pages: Rendering, form: Form, memory_id: str) -> Response:
    """Carry out a decision, and show it in the place of the conflict, with its undo."""
    done = await api.post(f"{at('conflicts', memory_id)}/resolve", _decision(form))
    return pages.page("conflict_resolved.html", done=done)


@page("/work/undo/{change_id}", method="POST")
async def post_undo(api: ApiCalls, change_id: str) -> Response:
    await api.post(f"{at('memories', 'decisions', change_id)}/undo")
    return refresh()


def _decision(form: dict[str, str]) -> Json:
    choice, _, keep = form.get("choice", "").partition(":")
    body: Json = {"choice": choice, "reason": form.get("reason", "")}
    body["versions"] = _numbered(form, "version:")
    if keep:
        body["keep"] = keep
    if choice == "merge":
        body["content"] = form.get("content") or None
    if choice == "keep_all":
        body["periods"] = _periods(form)
    return body


def _numbered(form: dict[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in form.items() if name.startswith(prefix)}


def _periods(form: dict[str, str]) -> Json:
    """Return when each memory held; days begin at midnight UTC."""
    periods: dict[str, Json] = {}
    for name in ("valid_from", "valid_to"):
        for memory_id, day in _numbered(form, f"{name}:").items():
            if day:
                periods.setdefault(memory_id, {})[name] = f"{day}T00:00:00Z"
    return periods
