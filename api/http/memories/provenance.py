"""The origin of a memory as JSON: each version with its event, rule, dispatch and model calls, and the evidence.

Where messages or dispatches have left by the tenant's retention, `expired` says so.
"""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from api import authors
from api.http.memories.answers import ModelCall
from api.serializers import dispatch_json, event_json, memory_json
from core.browsing import origins
from core.browsing.origins import Origin
from core.memory import memories
from core.memory.memories import MemoryVersion
from core.storage.db import Tx
from core.types import Json


def of(tx: Tx, memory_id: UUID) -> Json:
    """Return a memory and the steps that led to it. NotFound: the tenant has none with this id."""
    row = memories.get(tx, memory_id)
    shown = memory_json(row, memories.evidence(tx, [memory_id]).get(memory_id, []))
    left = memories.expired_evidence(tx, memory_id)
    for source in shown["sources"]:
        source["expired"] = (source["session_id"], source["message_id"]) in left
    steps = [_step_json(version, origin) for version, origin in origins.of(tx, memory_id)]
    named = authors.with_key_names(tx, [step["author"] for step in steps])
    return {"memory": shown, "steps": [step | {"author": author} for step, author in zip(steps, named, strict=True)]}


def _step_json(version: MemoryVersion, origin: Origin | None) -> Json:
    step: Json = {name: value for name, value in asdict(version).items() if name not in {"snapshot", "dispatch_id"}}
    if origin is None:
        return step | ({"expired": True} if version.dispatch_id else {})
    dispatch = origin.dispatch
    return step | {
        "dispatch": dispatch_json(dispatch),
        "rule": {"name": dispatch.rule, "version": dispatch.rule_version},
        "event": event_json(origin.event),
        "model_calls": [{name: call[name] for name in ModelCall.model_fields} for call in origin.model_calls],
    }
