"""Everything a process works with, wired once. Production values are the settings; a test passes its own."""

from __future__ import annotations

from typing import Final

from core.config import Settings
from core.extraction import configured_extractor, windows
from core.index import reembedding
from core.inference import quota
from core.inference.client import Client
from core.inference.configured_embedder import embedder
from core.inference.embedders import CachedEmbedder, Embedder
from core.inference.quota import Meter
from core.storage import db
from core.storage.db import Database
from rules.engine.similarity import Meanings
from rules.registry.live_rules import Book
from workers.agents import table
from workers.dispatch.admission import Gate
from workers.dispatch.model import Ledger, Policy
from workers.routing.action_dispatches import Workshop
from workers.routing.router import Router
from workers.tools import Tools

RETRY_MAX_SECONDS: Final = 600.0
"""Longest pause between two attempts; with the defaults (2 s first, 8 attempts) the pauses stay below it."""

ROUTE_BATCH: Final = 500
"""Events that a router claims in one transaction: if it dies, another one decides on no more than these again."""


def policy(settings: Settings) -> Policy:
    """The ledger's policy as it is set."""
    return Policy(
        lease=settings.lease_seconds,
        resend=settings.resend_seconds,
        retry_base=settings.retry_base_seconds,
        retry_max=RETRY_MAX_SECONDS,
        attempts=settings.attempts,
        running=settings.tenant_limits.running,
    )


def ledger(settings: Settings, vectors: Embedder | None = None) -> Ledger:
    """What a worker process needs: the tenant-bound role, the agents with their tools, the policy."""
    app = reembedding.opened(settings, settings.database_pool)
    cached = CachedEmbedder(vectors or embedder(settings))
    tools = Tools(app, cached, _model(settings, app), settings)
    configured_extractor.chosen(settings, tools.model)  # Misconfigured is said at once, and not by each dispatch.
    return Ledger(
        app, table.bound(tools), table.queues(settings), policy(settings), gate(settings), table.seconds(settings)
    )


def gate(settings: Settings) -> Gate | None:
    """What those who ask the model must pass; None: there is no model."""
    if settings.llm_base_url is None:
        return None
    reads = settings.extractor != "offline"
    return Gate(
        provider=quota.provider(settings),
        asking=table.MODEL_USERS if reads else table.MODEL_USERS - table.EXTRACTORS,
        reading=table.EXTRACTORS,
        most=min(settings.extract_messages, windows.USUAL.at_once),
        window=windows.USUAL.messages,
        stride=windows.USUAL.stride,
        tokens_per_day=settings.llm_tokens_per_day,
        cost_per_day=settings.llm_cost_per_day,
    )


def router(settings: Settings) -> Router:
    """What a router or clock process needs: the queue role and the rules; it sees no memory."""
    queue = db.connect(db.router_url(settings), settings.database_pool)
    return Router(
        db=queue,
        book=Book(settings.rules_poll_seconds),
        # Room for a whole event, and as much again around it.
        shop=Workshop(table.queues(settings), table.ALONE, settings.approval_seconds, 2 * settings.event_bytes),
        meanings=Meanings(embedder(settings)),
        batch=ROUTE_BATCH,
        max_hops=settings.max_hops,
        shares=policy(settings).shares,
    )


def _model(settings: Settings, app: Database) -> Client | None:
    if settings.llm_base_url is None:
        return None
    key = settings.llm_api_key.get_secret_value()
    meter = Meter(app, quota.provider(settings))
    return Client(str(settings.llm_base_url), key, settings.llm_model, settings.llm_timeout_seconds, meter)
