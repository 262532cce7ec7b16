"""Routes of searches, contexts, and the knowledge base."""

from __future__ import annotations

from fastapi import APIRouter

from api.http.search import answering, context, documents, search, why

PARTS = (search, why, answering, context, documents)

router = APIRouter(routes=[route for part in PARTS for route in part.router.routes])
