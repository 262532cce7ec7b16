"""Wiring of each process. Production values come from the settings; a test passes its own."""

from __future__ import annotations

from typing import Final

from core import agents
from core.config import Settings
from core.extraction import configured_extractor, extractor_setting, windows
from core.index import reembedding
from core.inference import configured_client, quota
from core.inference.embedders import Embedder
from core.inference.installed_embedders import InstalledEmbedders
from core.storage import db
from rules.engine.similarity import MeaningsByModel
from rules.registry.live_rules import LiveRules
from workers.agents import table
from workers.dispatch.admission import ModelAdmission
from workers.dispatch.model import Ledger, LedgerPolicy
from workers.routing.action_dispatches import ActionLimits
from workers.routing.router import Router
from workers.tools import Tools

ROUTE_BATCH: Final = 500
"""Events that a router claims in one transaction: if it dies, another one decides on no more than these again."""


def ledger(settings: Settings, vectors: Embedder | None = None) -> Ledger:
    """Wire a worker process: the tenant-bound role, the agents with their tools, the policy, the model."""
    app = reembedding.open_database(settings, settings.database_pool)
    embedders = InstalledEmbedders(settings, vectors)
    tools = Tools(app, embedders.default, settings, embedders, action_limits(settings))
    model = configured_client.load(settings, app)
    configured_extractor.load_extractor(settings, model)  # A wrong setting stops the process, and not each dispatch.
    return Ledger(
        db=app,
        agents=table.bind(tools),
        queues=table.queues(settings),
        policy=LedgerPolicy.of(settings),
        admission_control=admission_control(settings),
        seconds=table.seconds(settings),
        model=model,
    )


def admission_control(settings: Settings) -> ModelAdmission | None:
    """Return admission control for agents that ask a model; None: no model is configured."""
    if settings.llm_base_url is None:
        return None
    chosen = extractor_setting.resolve(settings, has_model=True)
    reads = chosen != extractor_setting.BY_RULES
    return ModelAdmission(
        provider=quota.provider(settings),
        asking=table.ADMITTED if reads else table.ADMITTED - agents.EXTRACTORS,
        reading=agents.EXTRACTORS,
        most=min(settings.extract_messages, windows.USUAL.fresh),
        tokens_per_day=settings.llm_tokens_per_day,
        cost_per_day=settings.llm_cost_per_day,
        begins_without=agents.EXTRACTORS if chosen == extractor_setting.BOTH else frozenset(),
    )


def action_limits(settings: Settings) -> ActionLimits:
    """Return the limits of actions: room for a whole event, and as much again for the rest of the action."""
    return ActionLimits(table.queues(settings), agents.EXCLUSIVE, settings.approval_seconds, 2 * settings.event_bytes)


def router(settings: Settings) -> Router:
    """Wire a router process: the queue role, which sees no memory, and the rules."""
    embedders = InstalledEmbedders(settings)
    queue = db.connect(db.router_url(settings), settings.database_pool)
    return Router(
        db=queue,
        book=LiveRules(settings.rules_poll_seconds),
        shop=action_limits(settings),
        meanings=MeaningsByModel(embedders.of),
        batch=ROUTE_BATCH,
        max_hops=settings.max_hops,
        shares=LedgerPolicy.of(settings).shares,
    )
