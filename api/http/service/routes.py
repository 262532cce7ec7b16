"""Routes of the service: its state, counts and costs, and ids by their end."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.service import costs, health, ids, stats

router = APIRouter(routes=[route for part in (ids, health, stats, costs) for route in part.router.routes])
