"""Routes of searches, contexts, and the knowledge base."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.search import context, documents, search, why

router = APIRouter(routes=[route for part in (search, why, context, documents) for route in part.router.routes])
