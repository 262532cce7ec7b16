"""Routes of a tenant: its settings, prompts and keys."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.tenant import keys, prompts, settings

router = APIRouter(routes=[route for part in (prompts, settings, keys) for route in part.router.routes])
