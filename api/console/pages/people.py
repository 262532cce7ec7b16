"""Users: the profile with the memories behind each line, sessions and conversations."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Form, Opener, Rendering, at, page, router
from api.http import exports
from api.ingress.audience import ReaderDeps
from api.ingress.dependencies import Reader
from api.ingress.route_bounds import Bounds, with_bounds
from core.types import Json

NOW: Final = 100
"""Percentage of the sliders that means now."""

AROUND: Final = 31
"""Messages shown where one of them is linked."""

Text = Annotated[str, Query(max_length=300)]
Percent = Annotated[int, Query(ge=0, le=NOW)]


@page("/people")
async def get_people(request: Request, api: ApiCalls, pages: Rendering, after: Text = "") -> Response:
    """List the sessions of all users, the newest first: who spoke last stands on top."""
    found = await api.get("/v1/sessions", after=after, limit=50)
    return pages.page(request, "people.html", sessions=found["items"], following=found["next"])


@page("/people/{user_id:path}/erasure")
async def get_erasure(request: Request, api: ApiCalls, pages: Rendering, user_id: str) -> Response:
    """Show what would be erased, before anyone decides."""
    plan = await api.delete(at("users", user_id), dry_run="true")
    return pages.page(request, "user_erasure.html", user_id=user_id, plan=plan)


@page("/people/{user_id:path}/erasure", method="POST")
async def post_erasure(request: Request, api: ApiCalls, pages: Rendering, form: Form, user_id: str) -> Response:
    if form.get("confirm", "").strip() != user_id:
        return pages.notice(request, "erase.mismatch", bad=True)
    receipt = await api.delete(at("users", user_id))
    return Response(status_code=204, headers={"HX-Redirect": f"/console/receipts/{quote(receipt['receipt']['id'])}"})


@router.get("/export")
@with_bounds(Bounds())
def get_export(deps: ReaderDeps, caller: Reader, user_id: Text) -> Response:
    """Send the archive of a user, which the API's route streams."""
    return exports.get_export(deps, caller, user_id)


@page("/people/{user_id:path}")
async def get_person(
    request: Request, api: ApiCalls, pages: Rendering, user_id: str, true_then: Percent = 100, known_then: Percent = 100
) -> Response:
    """Show a user; the two percentages are moments between the first memory and now, in which to look back."""
    profile, sessions, oldest = await together(
        api.find(f"{at('users', user_id)}/profile"),
        api.get("/v1/sessions", user_id=user_id, limit=20),
        api.get("/v1/memories", user_id=user_id, order="oldest", include_archived="true", limit=1),
    )
    now = datetime.now(UTC)
    first = _first_moment(oldest["items"], now)
    as_of, known_at = _moment(true_then, first.valid, now), _moment(known_then, first.known, now)
    memories = await api.get("/v1/memories", user_id=user_id, as_of=as_of, known_at=known_at, limit=20)
    return pages.page(
        request,
        "person.html",
        user_id=user_id,
        profile=profile,
        sessions=sessions["items"],
        memories=memories["items"],
        true_then=true_then,
        known_then=known_then,
        as_of=as_of,
        known_at=known_at,
    )


@dataclass(frozen=True, slots=True)
class _First:
    """Earliest times of a user's memories: of validity, and of recording."""

    valid: datetime
    known: datetime


def _first_moment(oldest: list[Json], now: datetime) -> _First:
    if not oldest:
        return _First(now, now)
    known = datetime.fromisoformat(oldest[0]["recorded_at"])
    said = oldest[0]["valid_from"] or oldest[0]["occurred_at"]
    return _First(min(datetime.fromisoformat(said), now) if said else known, known)


def _moment(percent: int, first: datetime, now: datetime) -> str | None:
    """Return the moment at a share of the time since the first memory; None: now."""
    return None if percent == NOW else (first + (now - first) * percent / NOW).isoformat()


@page("/sessions/{session_id:path}")
async def get_session(
    request: Request,
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
    found = messages["items"]
    return pages.page(
        request,
        "session.html",
        session=session,
        messages=found,
        following=messages["next"],
        begins_later=bool(found) and found[0]["position"] > 1,
        around=around,
        raw=raw,
        may_reveal=opener.may("raw"),
    )
