"""The context that an agent would be given now: its sections, their tokens and sources, and what was left out."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from fastapi.responses import Response

from api.console import prefix
from api.console.calls import ApiCalls
from api.console.routing import Rendering, page

Text = Annotated[str, Query(max_length=2_000)]

TOKENS: Final = 4_000


@page("/context")
async def get_context(
    api: ApiCalls,
    pages: Rendering,
    user_id: Text = "",
    group_id: Text = "",
    session_id: Text = "",
    query: Text = "",
    then: Text = "",
    max_tokens: Annotated[int, Query(ge=64, le=200_000)] = TOKENS,
) -> Response:
    context: dict[str, Any] | None = None
    before: dict[str, Any] | None = None
    if user_id or group_id:
        fields = {"user_id": user_id, "group_id": group_id, "session_id": session_id, "query": query}
        body = {name: value for name, value in fields.items() if value} | {"max_tokens": max_tokens}
        context = await api.post("/v1/context", body)
        if then:  # After the first, which leaves a selection that the second begins with again.
            before, context = context, await api.post("/v1/context", body | {"query": then})
    return pages.page(
        "context.html",
        found=context,
        max_tokens=max_tokens,
        begins=_cached(context),
        shared=prefix.shared(before["sections"], context["sections"]) if before and context else None,
        same_prefix=bool(before and context and before["prefix_hash"] == context["prefix_hash"]),
    )


def _cached(context: dict[str, Any] | None) -> int:
    """Return the tokens of the sections before the conversation, which the next prompt can begin with again."""
    if context is None:
        return 0
    before = ("recent", "since", "focus")
    return sum(section["tokens"] for section in context["sections"] if section["name"] not in before)
