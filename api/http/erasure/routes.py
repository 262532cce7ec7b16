"""Routes of erasing and forgetting."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.erasure import erasure, forgettings

router = APIRouter(routes=[route for part in (erasure, forgettings) for route in part.router.routes])
