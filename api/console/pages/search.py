"""Search as a debugger of recall: what each part found, and how it was put together."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import Query
from fastapi.responses import Response

from api.console import scores
from api.console.calls import Api, ApiCalls
from api.console.routing import Form, Opener, Rendering, page
from core.events import identifiers
from core.types import Json

Text = Annotated[str, Query(max_length=2_000)]

METHODS: Final = ("hybrid", "keyword", "vector")

ASKED: Final = ("query", "user_id", "group_id", "method")

SIMILAR: Final = 8
"""Memories that are offered where a text fits several."""

FETCHED: Final = 200

QUESTION: Final = 1_000
"""Characters of a query that are asked as a question."""


@page("/search")
async def get_search(
    api: ApiCalls,
    pages: Rendering,
    opener: Opener,
    query: Text = "",
    user_id: Text = "",
    group_id: Text = "",
    method: Text = "hybrid",
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
    raw: bool = False,
) -> Response:
    answer: dict[str, Any] | None = None
    contents: dict[str, str] = {}
    if query.strip() and (user_id or group_id):
        fields = {"query": query, "user_id": user_id, "group_id": group_id, "method": method}
        body = {name: value for name, value in fields.items() if value} | {"limit": limit, "explain": True}
        answer = await api.post("/v1/search", body | ({"raw": True} if raw else {}))
        contents = await _words(api, answer)
    best = max((result["score"] for result in answer["results"]), default=1.0) if answer else 1.0
    return pages.page(
        "search.html",
        found=answer,
        sums=[scores.of_result(result, best) for result in answer["results"]] if answer else [],
        words=contents,
        methods=METHODS,
        asked=ASKED,
        limit=limit,
        raw=raw,
        may_reveal=opener.may("raw"),
    )


@page("/search/answer")
async def get_answer(
    api: ApiCalls, pages: Rendering, query: Text = "", user_id: Text = "", group_id: Text = ""
) -> Response:
    """Answer the question of a search; a statement alone, as a look at a page is not to cost a model's call."""
    owner = {name: value for name, value in {"user_id": user_id, "group_id": group_id}.items() if value}
    given = await api.post("/v1/answer", {**owner, "question": query[:QUESTION], "by": "statement"})
    return pages.page("search_answer.html", given=given)


@page("/search/why", method="POST")
async def post_why(api: ApiCalls, pages: Rendering, form: Form) -> Response:
    """Say why a memory is not among the results, or where it stands; it is named by its id or by words of it."""
    given = {name: form[name].strip() for name in (*ASKED, "in_session") if form.get(name, "").strip()}
    named = form.get("id", "").strip()
    if "in_session" not in given and not identifiers.is_uuid(named):
        similar = await _of_text(api, given, named)
        if len(similar) != 1:
            return pages.page("why_which.html", similar=similar, given=given)
        named = similar[0]["id"]
    limit = {"limit": int(form["limit"])} if form.get("limit", "").isdecimal() else {}
    why = await api.post("/v1/search/why", {**given, **limit, "id": named})
    best = max((hit["score"] for hit in (why["found"], why["last"]) if hit), default=1.0)
    return pages.page(
        "why_not.html",
        why=why,
        named=named,
        given=given,
        sums={name: scores.of_hit(why[name], best) for name in ("found", "last")},
        places=_places(why, named, given.get("in_session")),
    )


async def _words(api: Api, answer: Json) -> dict[str, str]:
    contents = {result["id"]: result["content"] for result in answer["results"] if result["type"] == "memory"}
    hits = [hit for hits in answer["explain"]["arms"].values() for hit in hits if hit["type"] == "memory"]
    missing = sorted({hit["id"] for hit in hits} - contents.keys())[:FETCHED]
    if missing:
        more = await api.post("/v1/memories/fetch", {"ids": missing})
        contents |= {memory["id"]: memory["content"] for memory in more["items"]}
    return contents


async def _of_text(api: Api, given: Json, text: str) -> list[Json]:
    """Return the memories of the user, or group, that contain a text."""
    owner = {name: given.get(name) for name in ("user_id", "group_id")}
    listing = await api.get("/v1/memories", **owner, q=text[:200], include_archived="true", limit=SIMILAR)
    items: list[Json] = listing["items"]
    exact = [memory for memory in items if memory["content"] == text]
    return exact or items


def _places(why: Json, named: str, session: str | None) -> list[tuple[str, int | None, int]]:
    """Return for each arm the rank of what is looked for in its list (None: not among the best), and their number."""
    return [
        (
            name,
            next((hit["rank"] for hit in hits if (hit["id"], hit["session_id"]) == (named, session)), None),
            len(hits),
        )
        for name, hits in why["arms"].items()
    ]
