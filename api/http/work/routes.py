"""Routes of the dispatches, their approvals and dead letters, and of webhooks."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.work import approvals, dead_letters, dispatches, webhooks

router = APIRouter(
    routes=[route for part in (approvals, dead_letters, dispatches, webhooks) for route in part.router.routes]
)
