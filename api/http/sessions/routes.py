"""Routes of the sessions, and of the users and groups that they belong to."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.sessions import by_query, owners, profiles, sessions, summaries, units

router = APIRouter(
    routes=[route for part in (units, summaries, sessions, by_query, profiles, owners) for route in part.router.routes]
)
