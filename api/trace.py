"""The trace of an event as JSON: rules considered → dispatches → changes and memories → the events that followed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from api.serializers import dispatch_json, event_json
from core.events import dispatch_queries, log
from core.memory import memories
from core.storage.db import Database, Tx
from core.types import Event, Json
from rules.engine.similarity import Meanings
from rules.registry import event_trace


def of(db: Database, tenant_id: str, event_id: str, meanings: Meanings) -> Json:
    """Return the trace of an event. NotFound: the tenant has none with this id."""
    with db.tenant(tenant_id) as tx:
        event = log.get(tx, event_id)
        consideration = event_trace.read(tx, event)
        consequences = _consequences(tx, event)
    rules = event_trace.explain(consideration, meanings)
    return {"event": event_json(event), "rules": [asdict(rule) for rule in rules], **consequences}


def _consequences(tx: Tx, event: Event) -> Json:
    dispatches = dispatch_queries.of_event(tx, event)
    changes = memories.versions_by_dispatch(tx, [d.id for d in dispatches])
    return {
        "dispatches": [dispatch_json(d) for d in dispatches],
        "changes": [_change_json(version) for version in changes],
        "followed_by": [event_json(e) for e in log.followers(tx, event)],
    }


def _change_json(version: Any) -> Json:
    return {
        "memory_id": version.memory_id,
        "version": version.version,
        "change": version.change,
        "reason": version.reason,
        "content": version.content,
        "dispatch_id": version.dispatch_id,
    }
