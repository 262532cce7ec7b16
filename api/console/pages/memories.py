"""Memories: the table, one memory with its whole history, and what a person does with them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from fastapi.responses import Response

from api.console import citations
from api.console.calls import Api, ApiCalls, together
from api.console.charts import strength_chart
from api.console.pages.bulk import ACTIONS, FILTER
from api.console.routing import Form, Opener, Rendering, Text, at, go_to, page
from api.console.word_diffs import Comparisons, WordingPart
from core.types import Json

CATEGORIES: Final = (
    "fact", "preference", "knowledge", "project", "pattern", "skill", "episode", "event", "instruction", "plan",
)  # fmt: skip
STATUSES: Final = ("active", "superseded", "archived")
TRUST: Final = ("candidate", "confirmed", "disputed", "rejected", "quarantined")
OF_LINEAGE: Final = frozenset({"supersedes", "derived_from"})
"""Relations that `GET /v1/memories/{id}/lineage` tells with their change."""

DAY_CHARACTERS: Final = len("2026-03-10")

TIMES: Final = ("occurred_at", "valid_from", "valid_to")
CLEARED: Final = ("attribute", "value", "valid_from", "valid_to")
EDITED: Final = ("content", "category", "attribute", "value", *TIMES)
"""Fields of the form of an edit; those that are times, and those that may be empty."""

FETCHED: Final = 200
ORDERS: Final = ("newest", "oldest", "updated", "strength", "importance", "uses")


@page("/memories")
async def get_memories(
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
    listing = await api.get(
        "/v1/memories",
        user_id=user_id, group_id=group_id, q=q, category=category, status=status, trust=trust, order=order,
        after=after, limit=50,
    )  # fmt: skip
    choices = {"category": CATEGORIES, "status": STATUSES, "trust": TRUST, "order": ORDERS}
    return pages.page(
        "memories.html",
        memories=listing["items"],
        following=listing["next"],
        choices=choices,
        actions=ACTIONS,
        filters=FILTER,
    )


@page("/memories/{memory_id}")
async def get_memory(api: ApiCalls, pages: Rendering, opener: Opener, memory_id: str) -> Response:
    path = at("memories", memory_id)
    memory, why, history, relations, lineage = await together(
        api.get(path),
        api.get(f"{path}/why"),
        api.get(f"{path}/history"),
        api.get(f"{path}/relations"),
        api.get(f"{path}/lineage"),
    )
    related = [relation for relation in relations["items"] if relation["relation"] not in OF_LINEAGE]
    return pages.page(
        "memory.html",
        memory=memory,
        evidence=await citations.read(api, memory["sources"]),
        steps={step["version"]: step for step in why["steps"]},
        versions=partial(_with_differences, history["items"]),
        lineage=lineage["items"],
        relations=related,
        others=await _contents(api, memory_id, related),
        chart=strength_chart(memory, datetime.now(UTC)),
        categories=CATEGORIES,
        may_reveal=opener.may("raw"),
    )


@page("/memories/{memory_id}/edit", method="POST")
async def post_edit(api: ApiCalls, form: Form, memory_id: str) -> Response:
    version = form.get("version", "")
    body: dict[str, Any] = {"version": int(version) if version.isdecimal() else version}
    given = {name: form[name].strip() for name in EDITED if name in form}
    body |= {name: _moment(value) if name in TIMES else value for name, value in given.items() if value}
    body |= dict.fromkeys((name for name, value in given.items() if not value and name in CLEARED), None)
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


@page("/memories/{memory_id}/doubts/{other_id}/remove", method="POST")
async def post_remove_doubt(api: ApiCalls, form: Form, memory_id: str, other_id: str) -> Response:
    """Say that both of two memories hold, of which the later one was thought to end the other."""
    later, earlier = (memory_id, other_id) if form.get("doubts") == "may_supersede" else (other_id, memory_id)
    await api.delete(f"{at('memories', later)}/relations", relation="may_supersede", to=earlier)
    return _back(memory_id)


@page("/memories/{memory_id}/erase", method="POST")
async def post_erase(api: ApiCalls, pages: Rendering, form: Form, memory_id: str) -> Response:
    if form.get("confirm", "").strip() != memory_id[-8:]:
        return pages.notice("memory.erase.mismatch", bad=True)
    receipt = await api.delete(at("memories", memory_id), evidence="true" if form.get("evidence") else None)
    return go_to(f"/console/receipts/{quote(receipt['receipt']['id'])}")


@page("/receipts/{receipt_id}")
async def get_receipt(api: ApiCalls, pages: Rendering, receipt_id: str) -> Response:
    return pages.page("receipt.html", receipt=await api.get(at("receipts", receipt_id)))


def _moment(written: str) -> str:
    """Return a time as the API takes it; a day alone is its midnight in UTC."""
    return f"{written}T00:00:00Z" if len(written) == DAY_CHARACTERS else written


def _back(memory_id: str) -> Response:
    return go_to(f"/console/memories/{quote(memory_id)}")


async def _contents(api: Api, memory_id: str, related: Sequence[Json]) -> dict[str, str]:
    """Return the words of the memories at the other ends of relations."""
    ends = {end for relation in related for end in (relation["from_id"], relation["to_id"])} - {memory_id}
    if not ends:
        return {}
    fetched = await api.post("/v1/memories/fetch", {"ids": sorted(ends)[:FETCHED]})
    return {memory["id"]: memory["content"] for memory in fetched["items"]}


def _with_differences(versions: Sequence[Json]) -> list[Json]:
    """Return the versions, newest first, each with the fields in which it differs from the one before.

    Of words also the parts that both wordings share, and those that one of them has.
    """
    comparisons, snapshots = Comparisons(), [{}, *(_content(version["snapshot"]) for version in versions)]
    return [
        {**version, "changed": _changed(before, after, comparisons)}
        for version, before, after in reversed(list(zip(versions, snapshots, snapshots[1:], strict=False)))
    ]


def _content(snapshot: Json) -> Json:
    return {name: value for name, value in snapshot.items() if name not in _BOOKKEEPING}


def _changed(before: Json, after: Json, comparisons: Comparisons) -> list[Json]:
    return [
        {
            "name": name,
            "before": before.get(name),
            "after": value,
            "parts": _parts(before.get(name), value, comparisons),
        }
        for name, value in after.items()
        if before and before.get(name) != value
    ]


def _parts(before: object, after: object, comparisons: Comparisons) -> Sequence[WordingPart] | None:
    return comparisons.words(before, after) if isinstance(before, str) and isinstance(after, str) else None


_BOOKKEEPING: Final = frozenset({"id", "tenant_id", "version", "statement_key", "updated_at", "recorded_at"})
