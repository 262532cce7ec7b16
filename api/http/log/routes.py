"""Routes of the log: events in, their stream, replays, and hooks of coding agents."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.log import events, hooks, replays, stream

router = APIRouter(routes=[route for part in (replays, events, stream, hooks) for route in part.router.routes])
