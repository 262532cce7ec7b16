"""Agents that no rule calls: a job from an event of the log, carried out as the ledger would."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from sqlalchemy import text

from core.config import Settings
from core.events import log
from core.events.log import Cause
from core.events.publishing import Author
from core.inference.client import ChatClient
from core.inference.embedders import HashEmbedder
from core.storage.db import Database
from core.types import Event, Json
from tests.outcomes import carried_out
from tests.samples import TENANT, accept
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools

Agent = Callable[[Tools, Job], Outcome]


def tools_of(settings: Settings, app: Database) -> Tools:
    return Tools(app, HashEmbedder(), settings)


def job(event: Event, target: str = "agent", params: Json | None = None, model: ChatClient | None = None) -> Job:
    dispatch = uuid4()
    author = Author(target, Cause(event, dispatch), "a_rule", 1)
    return Job(TENANT, dispatch, target, "run_agent", params or {}, event, author, 1, uuid4(), model=model)


def published(app: Database, document: Json) -> Event:
    """Put an event on the log, and read it back."""
    accepted = accept(app, document)
    with app.tenant(TENANT) as tx:
        return log.get(tx, accepted.ids[0][0])


def ran(
    tools: Tools, agent: Agent, document: Json, params: Json | None = None, model: ChatClient | None = None
) -> Json:
    """Publish an event, let the agent react to it, and return its result."""
    reacting = job(published(tools.db, document), agent.__name__, params, model)
    return carried_out(tools.db, agent(tools, reacting), reacting)


def stored(app: Database, where: str = "true") -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(tx.execute(text(f"SELECT * FROM memories WHERE {where} ORDER BY id")))
