"""The HTTP application, wired once."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.telemetry import TelemetryConfig
from pydantic import BaseModel

from api.compat import flat, platform
from api.console import app as console
from api.console import routing as console_routes
from api.http import routes as http_routes
from api.http.log import events
from api.http.search import context, search
from api.http.search.request import SearchRequest
from api.http.service import probes
from api.ingress import admission, api_reference
from api.ingress.api_reference import ApiReference
from api.ingress.content_type import JsonByDefault
from api.ingress.dependencies import Dependencies
from api.ingress.direct import DirectCalls, Endpoint
from api.ingress.following import Followers
from api.ingress.foreign_keys import ForeignKeys
from api.ingress.log_positions import LogPositions
from api.ingress.openapi import DocumentedApi
from api.ingress.route_bounds import RouteTable
from api.ingress.settling import SettleWatcher
from api.ingress.shared_counts import ProcessCounts
from api.ingress.traced_requests import TracedRequests
from api.mcp import server as mcp
from core import tracing
from core.config import Settings
from core.context import retrievers
from core.events import settle_tokens
from core.events.doorbell import Doorbell
from core.events.occurrences import Occurrences
from core.index import reembedding
from core.inference import configured_client
from core.inference.batching_embedder import BatchingEmbedder
from core.inference.configured_embedder import require_model
from core.inference.embedders import Embedder
from core.inference.embedding_model import identity
from core.inference.installed_embedders import InstalledEmbedders
from core.inference.local_models.catalog import MODELS
from core.maintenance.cache_sweeper import CacheSweeper
from core.search.recall_log import Recalls
from core.sessions import recent_messages
from core.storage import db, replica, schema_version
from core.storage.db import Database

ROUTERS: Final[tuple[APIRouter, ...]] = (
    *http_routes.ROUTERS,
    mcp.router,
    console_routes.router,
    platform.router,
    flat.router,
    probes.router,
    api_reference.router,
)
"""Tried in this order, as are the routes of each."""

ROUTES: Final = [route for router in ROUTERS for route in router.routes]
"""Routes, declared and looked up before processes are forked, which share them. Including a router would build each of
its routes a second time."""

DIRECT: Final[Mapping[Endpoint, type[BaseModel] | None]] = {
    search.post_search: SearchRequest,
    context.post_context: context.ContextRequest,
    events.post_events: None,
}
"""Endpoints that are called directly, with the model of their body: those that an agent waits for in each turn."""

NO_TELEMETRY: Final[TelemetryConfig] = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}
"""Spans and logs of the framework, which a variable of the environment would turn on, name paths, queries and what
was wrong with a value; `api.ingress.traced_requests` does not."""

TABLE: Final = RouteTable(iter_route_contexts(ROUTES))


def create(
    settings: Settings, broker_url: str, vectors: Embedder | None = None, counts: ProcessCounts | None = None
) -> FastAPI:
    """Create the application from the settings. Misconfigured: it cannot work.

    `vectors`: an embedder instead of the configured one. `counts`: where several processes count requests together.
    """
    opened = _open(settings, broker_url, vectors)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        if (
            settings.embedding in MODELS and settings.embedding_at_start
        ):  # The first question should not wait for the model to be read.
            threading.Thread(
                target=opened.embedder.embed_queries, args=(["Imprint"],), name="warm-up", daemon=True
            ).start()
        sweeper = CacheSweeper()
        try:
            async with app.state.mcp.run():
                yield
        finally:
            await opened.followers.close()
            await opened.settling.close()
            if opened.replica is not None:
                opened.replica.close()  # It looks at the primary, and so comes before its pool.
            for part in (sweeper, opened.occurrences, opened.recalls, opened.recent, opened.bell, opened.db):
                part.close()
            tracing.stop()  # Here, because the server ends the process by a signal.

    app = DocumentedApi(
        title="Imprint",
        description="Long-term memory for AI agents: events in, rules decide, workers remember.",
        version="0.1.0",
        lifespan=lifespan,
        # `api.ingress.api_reference` serves both, without scripts of others.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        telemetry=NO_TELEMETRY,
        redirect_slashes=False,  # A redirect is built from the Host header, which the caller writes.
        routes=list(ROUTES),
    )
    app.state.deps = opened
    app.state.manual = ApiReference()
    app.state.mcp = mcp.ProtocolHandler(app.version)
    app.add_middleware(JsonByDefault)
    app.add_middleware(DirectCalls, deps=opened, table=DIRECT)
    if opened.replica is not None:
        app.add_middleware(LogPositions)
    admission.install(app, opened, TABLE, counts)
    app.add_middleware(ForeignKeys)
    if tracing.is_on():
        app.add_middleware(TracedRequests)
    console.install(app, settings)
    return app


def _open(settings: Settings, broker_url: str, vectors: Embedder | None) -> Dependencies:
    opened = reembedding.open_database(settings, settings.database_pool)
    database: Database = replace(opened, statement_seconds=settings.http_statement_seconds)
    try:
        db.require_bound(database)
        schema_version.require_current(database, identity(settings))
        require_model(settings)
    finally:
        database.close()  # It opens again with the first request: where what follows fails, nobody would close it.
    # A remote one answers many at once by itself.
    embedders = InstalledEmbedders(settings, vectors, wrap=BatchingEmbedder)
    bell = Doorbell(broker_url)
    found, recalls, kept = retrievers.open_all(settings), Recalls(database, bell), recent_messages.on_broker(settings)
    settling, tokens = SettleWatcher(database, bell), settle_tokens.load(settings)
    followers = Followers(database, broker_url)
    if (copy := replica.of(settings, database)) is not None:
        copy.start()
    return Dependencies(
        settings,
        database,
        embedders,
        bell,
        recalls,
        kept,
        tokens,
        {},
        {},
        settling,
        followers,
        Occurrences(database, bell),
        retrievers=found,
        model=configured_client.load(settings, database),
        replica=copy,
    )
