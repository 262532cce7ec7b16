"""Memories: the table, one memory with its whole history, and what a person does with them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.charts import strength_chart
from api.console.pages.bulk import ACTIONS, FILTER
from api.console.routing import Form, Rendering, at, page

Text = Annotated[str, Query(max_length=300)]

CATEGORIES: Final = (
    "fact", "preference", "knowledge", "project", "pattern", "skill", "episode", "event", "instruction", "plan",
)  # fmt: skip
STATUSES: Final = ("active", "superseded", "archived")
TRUST: Final = ("candidate", "confirmed", "disputed", "rejected", "quarantined")
ORDERS: Final = ("newest", "oldest", "updated", "strength", "importance", "uses")


@page("/memories")
async def get_memories(
    request: Request,
    api: ApiCalls,
    pages: Rendering,
    user_id: Text = "",
    group_id: Text = "",
    q: Text = "",
    category: Text = "",
    status: Text = "",
    trust: Text = "",
    order: Text = "",
    after: Text = "",
) -> Response:
    found = await api.get(
        "/v1/memories",
        user_id=user_id, group_id=group_id, q=q, category=category, status=status, trust=trust, order=order,
        after=after, limit=50,
    )  # fmt: skip
    choices = {"category": CATEGORIES, "status": STATUSES, "trust": TRUST, "order": ORDERS}
    return pages.page(
        request,
        "memories.html",
        memories=found["items"],
        following=found["next"],
        choices=choices,
        actions=ACTIONS,
        filters=FILTER,
    )


@page("/memories/{memory_id}")
async def get_memory(request: Request, api: ApiCalls, pages: Rendering, memory_id: str) -> Response:
    place = at("memories", memory_id)
    memory, why, history, relations = await together(
        api.get(place), api.get(f"{place}/why"), api.get(f"{place}/history"), api.get(f"{place}/relations")
    )
    versions = _with_differences(history["items"])
    return pages.page(
        request,
        "memory.html",
        memory=memory,
        steps={step["version"]: step for step in why["steps"]},
        versions=versions,
        relations=relations["items"],
        chart=strength_chart(memory, datetime.now(UTC)),
    )


@page("/memories/{memory_id}/edit", method="POST")
async def post_edit(api: ApiCalls, form: Form, memory_id: str) -> Response:
    body: dict[str, Any] = {"version": int(form["version"]), "content": form["content"].strip()}
    await api.patch(at("memories", memory_id), body)
    return _back(memory_id)


@page("/memories/{memory_id}/pin", method="POST")
async def post_pin(api: ApiCalls, form: Form, memory_id: str) -> Response:
    await api.post(f"{at('memories', memory_id)}/pin", {"pinned": form.get("pinned") == "true"})
    return _back(memory_id)


@page("/memories/{memory_id}/undo", method="POST")
async def post_undo(api: ApiCalls, memory_id: str) -> Response:
    await api.post(f"{at('memories', memory_id)}/undo", {})
    return _back(memory_id)


@page("/memories/{memory_id}/changes/{change_id}/undo", method="POST")
async def post_undo_change(api: ApiCalls, memory_id: str, change_id: str) -> Response:
    """Take one change back, whatever memories it concerned."""
    await api.post(f"{at('memories', 'decisions', change_id)}/undo", {})
    return _back(memory_id)


@page("/memories/{memory_id}/erase", method="POST")
async def post_erase(request: Request, api: ApiCalls, pages: Rendering, form: Form, memory_id: str) -> Response:
    if form.get("confirm", "").strip() != memory_id[-8:]:
        return pages.notice(request, "memory.erase.mismatch", bad=True)
    receipt = await api.delete(at("memories", memory_id), evidence="true" if form.get("evidence") else None)
    return Response(status_code=204, headers={"HX-Redirect": f"/console/receipts/{quote(receipt['receipt']['id'])}"})


@page("/receipts/{receipt_id}")
async def get_receipt(request: Request, api: ApiCalls, pages: Rendering, receipt_id: str) -> Response:
    return pages.page(request, "receipt.html", receipt=await api.get(at("receipts", receipt_id)))


def _back(memory_id: str) -> Response:
    return Response(status_code=204, headers={"HX-Redirect": f"/console/memories/{quote(memory_id)}"})


def _with_differences(versions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the versions, newest first, each with the fields in which it differs from the one before."""
    before: dict[str, Any] = {}
    found = []
    for version in versions:
        now = {name: value for name, value in version["snapshot"].items() if name not in _BOOKKEEPING}
        changed = [
            (name, before.get(name), value) for name, value in now.items() if before and before.get(name) != value
        ]
        found.append({**version, "changed": changed})
        before = now
    return found[::-1]


_BOOKKEEPING: Final = frozenset({"id", "tenant_id", "version", "statement_key", "updated_at", "recorded_at"})
