"""Why a memory exists, from the event that began it to the words it rests on."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

from sqlalchemy import text

from api.serializers import dispatch_json, event_json, memory_json
from core.events import log
from core.memory import memories
from core.storage.db import Tx
from core.types import Json


def of(tx: Tx, memory_id: UUID) -> Json:
    """The memory, and for each of its versions the dispatch, the rule, the event and the model calls behind it."""
    row = memories.get(tx, memory_id)
    return {
        "memory": memory_json(row, memories.evidence(tx, [memory_id]).get(memory_id, [])),
        "steps": [_step(tx, version) for version in memories.history(tx, memory_id)],
    }


def _step(tx: Tx, version: memories.Version) -> Json:
    step: Json = {name: value for name, value in asdict(version).items() if name not in {"snapshot", "dispatch_id"}}
    dispatch = tx.execute(_DISPATCH, {"id": version.dispatch_id}).one_or_none()
    if dispatch is None:
        return step
    calls = tx.execute(_CALLS, {"id": dispatch.id}).all()
    return step | {
        "dispatch": dispatch_json(dispatch),
        "rule": {"name": dispatch.rule, "version": dispatch.rule_version},
        "event": event_json(log.at(tx, dispatch.event_seq)),
        "model_calls": [{k: v for k, v in c._mapping.items() if k not in {"tenant_id", "answer"}} for c in calls],
    }


_DISPATCH = text("SELECT * FROM dispatches WHERE id = :id")

_CALLS = text("SELECT * FROM model_calls WHERE dispatch_id = :id ORDER BY id")
"""Empty without a model: the offline extractor calls none."""
