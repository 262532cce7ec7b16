"""Users: the profile with the memories behind each line, sessions and conversations."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import Response

from api.console.calls import ApiCalls, together
from api.console.routing import Rendering, at, page

Text = Annotated[str, Query(max_length=300)]


@page("/people")
async def get_people(request: Request, api: ApiCalls, pages: Rendering, after: Text = "") -> Response:
    """List the sessions of all users, the newest first: who spoke last stands on top."""
    found = await api.get("/v1/sessions", after=after, limit=50)
    return pages.page(request, "people.html", sessions=found["items"], following=found["next"])


@page("/people/{user_id}")
async def get_person(request: Request, api: ApiCalls, pages: Rendering, user_id: str) -> Response:
    profile, sessions, memories = await together(
        api.find(f"{at('users', user_id)}/profile"),
        api.get("/v1/sessions", user_id=user_id, limit=20),
        api.get("/v1/memories", user_id=user_id, limit=10),
    )
    return pages.page(
        request, "person.html", user_id=user_id, profile=profile, sessions=sessions["items"], memories=memories["items"]
    )


@page("/sessions/{session_id:path}")
async def get_session(request: Request, api: ApiCalls, pages: Rendering, session_id: str, after: Text = "") -> Response:
    session, messages = await together(
        api.get("/v1/session", session_id=session_id),
        api.get("/v1/session/messages", session_id=session_id, after=after, limit=100),
    )
    return pages.page(request, "session.html", session=session, messages=messages["items"], following=messages["next"])
