"""The HTTP application, wired once."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError

from api.http import (
    backtest,
    context,
    costs,
    decisions,
    dispatches,
    documents,
    door,
    endpoints,
    erasure,
    events,
    memories,
    profiles,
    rebuilds,
    rules,
    search,
    sessions,
    stats,
    summaries,
    tenant,
    units,
    writing,
)
from api.http.door import Door
from api.http.gathered import GatheredEmbedder
from api.http.recalls import Recalls
from api.mcp import door as mcp
from core import db, heartbeat, places, recent, retrievers, schema
from core.bell import Bell
from core.config import Settings
from core.db import Database
from core.embed import CachedEmbedder, Embedder
from core.embedders import embedder, identity, require_model
from core.letting_go import Sweeper

ROUTERS: Final[tuple[APIRouter, ...]] = (
    events.router,
    search.router,
    context.router,
    documents.router,
    backtest.router,
    rules.router,
    decisions.router,
    writing.router,
    memories.router,
    units.router,
    summaries.router,
    sessions.router,
    profiles.router,
    dispatches.router,
    endpoints.router,
    erasure.router,
    rebuilds.router,
    stats.router,
    costs.router,
    tenant.router,
    mcp.router,
)
"""In this order: what has a name of its own comes before what takes any id in its place."""


def create(settings: Settings, broker_url: str, vectors: Embedder | None = None) -> FastAPI:
    """The application on these settings; a test may bring its own embedder. Misconfigured: it could not work."""
    opened = _open(settings, broker_url, vectors)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if settings.embedding == "local":  # The first question should not wait for the model to be read.
            threading.Thread(target=opened.embedder.embed, args=(["Imprint"],), name="warm-up", daemon=True).start()
        sweeper = Sweeper()
        async with app.state.mcp.run():
            yield
        sweeper.close()
        opened.recalls.close()
        opened.recent.close()
        opened.bell.close()
        opened.db.close()

    app = FastAPI(
        title="Imprint",
        description="Long-term memory for AI agents: events in, rules decide, workers remember.",
        version="0.1.0",
        lifespan=lifespan,
        redoc_url=None,
    )
    app.state.door = opened
    app.state.mcp = mcp.opened(app.version)
    door.install(app)
    for router in ROUTERS:
        app.include_router(router)
    app.add_api_route("/healthz", healthz, tags=["service"])
    app.add_api_route("/readyz", readyz, tags=["service"])
    return app


def healthz() -> dict[str, str]:
    """This process is alive."""
    return {"status": "alive"}


def readyz(request: Request) -> Response:
    """200 once events are accepted *and* worked: the database answers, and router, clock and workers are at work."""
    at: Door = request.app.state.door
    try:
        with at.db.queue() as tx:
            missing = heartbeat.missing(tx)
    except DBAPIError:
        missing = ["postgres"]
    if missing:
        return door.problem(503, "Not ready", f"Not at work: {', '.join(missing)}.")
    return JSONResponse({"status": "ready"})


def _open(settings: Settings, broker_url: str, vectors: Embedder | None) -> Door:
    database: Database = places.opened(settings, settings.database_pool)
    try:
        db.require_bound(database)
        schema.require_current(database, identity(settings))
        require_model(settings)
    except BaseException:
        database.close()
        raise
    model = vectors or embedder(settings)
    # A remote one answers many at once by itself.
    model = GatheredEmbedder(model) if settings.embedding == "local" else model
    cached = CachedEmbedder(model, settings.embedding_cache)
    bell = Bell(broker_url)
    found, recalls, kept = retrievers.opened(settings), Recalls(database, bell), recent.usual(settings)
    return Door(settings, database, cached, bell, recalls, kept, {}, {}, retrievers=found)
