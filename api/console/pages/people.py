"""Users and groups: their profile with the memories behind each line, sessions, and their memories as of then."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import Depends, Query, Request
from fastapi.responses import Response

from api.console import lookback, profile_view
from api.console.calls import Api, ApiCalls, together
from api.console.lookback import Lookback, Percent
from api.console.routing import Form, Opener, Rendering, at, go_to, page, refresh, router
from api.http.transfer import exports
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Reader
from api.ingress.route_bounds import Bounds, with_bounds
from core.types import Json

Text = Annotated[str, Query(max_length=400)]
Kind = Literal["user", "group"]


async def _kind(request: Request) -> Kind:
    return "group" if request.url.path.startswith("/console/groups/") else "user"


Owner = Annotated[Kind, Depends(_kind)]
"""Whether the path names a user or a group: their pages are the same."""

LISTS: Final = ("user", "group", "session")

SESSIONS: Final = 20
MEMORIES: Final = 20

AROUND: Final = 31
"""Messages shown where one of them is linked."""


@page("/people")
async def get_people(
    api: ApiCalls, pages: Rendering, kind: Literal["user", "group", "session"] = "user", q: Text = "", after: Text = ""
) -> Response:
    """List users, groups or sessions, who was active last first; what is looked for by its id, by id."""
    if kind == "session":
        listing = await api.get("/v1/sessions", user_id=q, after=after, limit=50)
    else:
        listing = await api.get(at(f"{kind}s"), prefix=q, after=after, limit=50)
    return pages.page("people.html", kind=kind, kinds=LISTS, items=listing["items"], following=listing["next"])


@page("/people/{name:path}/erasure")
@page("/groups/{name:path}/erasure")
async def get_erasure(api: ApiCalls, pages: Rendering, kind: Owner, name: str) -> Response:
    """Show what would be erased, before anyone decides."""
    plan = await api.delete(at(f"{kind}s", name), dry_run="true")
    return pages.page("owner_erasure.html", kind=kind, name=name, place=_place(kind, name), plan=plan)


@page("/people/{name:path}/erasure", method="POST")
@page("/groups/{name:path}/erasure", method="POST")
async def post_erasure(api: ApiCalls, pages: Rendering, form: Form, kind: Owner, name: str) -> Response:
    if form.get("confirm", "").strip() != name:
        return pages.notice("erase.mismatch", bad=True)
    receipt = await api.delete(at(f"{kind}s", name))
    return go_to(f"/console/receipts/{quote(receipt['receipt']['id'])}")


@page("/people/{name:path}/names")
async def get_names(api: ApiCalls, pages: Rendering, name: str, q: Text = "", after: Text = "") -> Response:
    """List the people whom a user speaks of, under all their names."""
    listing, decided = await together(
        api.get("/v1/entities", user_id=name, q=q, after=after, limit=100),
        api.get("/v1/entities/decisions", user_id=name),
    )
    return pages.page(
        "names.html",
        name=name,
        place=_place("user", name),
        items=listing["items"],
        following=listing["next"],
        decided=decided["items"],
    )


@page("/people/{name:path}/names/about")
async def get_about(api: ApiCalls, pages: Rendering, name: str, of: Text = "", after: Text = "") -> Response:
    """Show all that is remembered of somebody, by whatever name it was said."""
    about = await api.get("/v1/entities/about", user_id=name, name=of, after=after)
    return pages.page(
        "about.html",
        name=name,
        place=_place("user", name),
        entity=about["entity"],
        memories=about["items"],
        following=about["next"],
    )


@page("/people/{name:path}/names/merge", method="POST")
async def post_merge(api: ApiCalls, form: Form, name: str) -> Response:
    names = [part.strip() for part in form.get("names", "").split(",") if part.strip()]
    await api.post("/v1/entities/merge", {"user_id": name, "names": names})
    return refresh()


@page("/people/{name:path}/names/separate", method="POST")
async def post_separate(api: ApiCalls, form: Form, name: str) -> Response:
    body = {"user_id": name, "name": form.get("of", ""), "others": [form.get("other", "")]}
    await api.post("/v1/entities/separate", body)
    return refresh()


@page("/people/{name:path}/names/show", method="POST")
async def post_show(api: ApiCalls, form: Form, name: str) -> Response:
    body = {"user_id": name, "name": form.get("of", ""), "shown_name": form.get("shown", "")}
    await api.post("/v1/entities/show", body)
    return refresh()


@page("/people/{name:path}/names/undo", method="POST")
async def post_undo(api: ApiCalls, form: Form, name: str) -> Response:
    await api.delete("/v1/entities/decisions", user_id=name, name=form.get("of", ""), other=form.get("other", ""))
    return refresh()


@router.get("/export")
@with_bounds(Bounds())
def get_export(deps: ReaderDeps, caller: Reader, user_id: Text = "", group_id: Text = "") -> Response:
    """Send the archive of a user or a group, which the API's route streams."""
    if group_id:
        return exports.get_group_export(deps, caller, group_id)
    return exports.get_export(deps, caller, user_id)


@page("/people/{name:path}/memories")
@page("/groups/{name:path}/memories")
async def get_memories(
    request: Request,
    api: ApiCalls,
    pages: Rendering,
    kind: Owner,
    name: str,
    true_then: Percent = 100,
    known_then: Percent = 100,
) -> Response:
    """Show the memories again, as of the moments that the sliders name."""
    whose = {f"{kind}_id": name}
    oldest = await _oldest(api, whose)
    looked = lookback.between(oldest["items"], true_then, known_then, datetime.now(UTC))
    memories = await _as_of(api, whose, looked)
    answer = pages.page("owner_memories.html", memories=memories, looked=looked)
    answer.headers["HX-Replace-Url"] = f"{quote(request.url.path.removesuffix('/memories'))}{looked.query}"
    return answer


@page("/people/{name:path}")
@page("/groups/{name:path}")
async def get_owner(
    api: ApiCalls, pages: Rendering, kind: Owner, name: str, true_then: Percent = 100, known_then: Percent = 100
) -> Response:
    """Show a user or a group; the two percentages are moments between the first memory and now, to look back."""
    whose, path = {f"{kind}_id": name}, at(f"{kind}s", name)
    activity, profile, sessions, oldest, members = await together(
        api.find(f"{path}/activity"),
        api.find(f"{path}/profile"),
        api.get("/v1/sessions", limit=SESSIONS, **whose),
        _oldest(api, whose),
        _members(api, kind, path),
    )
    looked = lookback.between(oldest["items"], true_then, known_then, datetime.now(UTC))
    return pages.page(
        "owner.html",
        kind=kind,
        name=name,
        place=_place(kind, name),
        whose=f"{kind}_id={quote(name, safe='')}",
        activity=activity,
        profile=profile,
        sections=profile_view.sections_of(profile["attributes"]) if profile else [],
        sessions=sessions,
        members=members["items"] if members else [],
        looked=looked,
        memories=await _as_of(api, whose, looked),
    )


def _place(kind: Kind, name: str) -> str:
    return f"/console/{'people' if kind == 'user' else 'groups'}/{quote(name, safe='')}"


async def _members(api: Api, kind: Kind, path: str) -> Json | None:
    return await api.find(f"{path}/members") if kind == "group" else None


async def _oldest(api: Api, whose: Json) -> Json:
    listing: Json = await api.get("/v1/memories", order="oldest", include_archived="true", limit=1, **whose)
    return listing


async def _as_of(api: Api, whose: Json, looked: Lookback) -> list[Json]:
    listing = await api.get("/v1/memories", as_of=looked.as_of, known_at=looked.known_at, limit=MEMORIES, **whose)
    memories: list[Json] = listing["items"]
    return memories


@page("/sessions/{session_id:path}")
async def get_session(
    api: ApiCalls,
    pages: Rendering,
    opener: Opener,
    session_id: str,
    after: Text = "",
    around: Text = "",
    raw: bool = False,
) -> Response:
    """Show a conversation from a place on, or around a message; `raw`: as it was sent, which the API records."""
    session, messages = await together(
        api.get("/v1/session", session_id=session_id),
        api.get(
            "/v1/session/messages",
            session_id=session_id,
            after=after,
            around=around,
            raw="true" if raw else None,
            limit=AROUND if around else 100,
        ),
    )
    items = messages["items"]
    return pages.page(
        "session.html",
        session=session,
        messages=items,
        following=messages["next"],
        begins_later=bool(items) and items[0]["position"] > 1,
        around=around,
        raw=raw,
        may_reveal=opener.may("raw"),
    )


@page("/receipts/{receipt_id}/file")
async def get_receipt_file(api: ApiCalls, receipt_id: str) -> Response:
    """Send a receipt as a file, with the public key that verifies it."""
    receipt, key = await together(api.get(at("receipts", receipt_id)), api.get("/v1/receipts/key"))
    content = json.dumps({**receipt, "public_key": key["public_key"]}, indent=2, ensure_ascii=False)
    headers = {"Content-Disposition": f'attachment; filename="receipt-{receipt["receipt"]["id"]}.json"'}
    return Response(content, media_type="application/json", headers=headers)
