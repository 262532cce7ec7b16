"""Memories and their versions in the shape of mem0. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from api.compat import annotated, scopes
from api.compat.annotated import Annotation
from api.compat.scopes import ENTITIES, EntityScope
from core.memory.memories import MemoryVersion
from core.screening import output
from core.types import Evidence, Json, Topic

OWN_SESSION: Final = "mem0:"
"""Beginning of the sessions of messages that were added without a `run_id`."""

EVENTS: Final[Mapping[str, str]] = {"add": "ADD", "archive": "DELETE"}
"""Kind of change by Imprint's; every other one is an UPDATE."""


def annotations_of(
    row: Any, evidence: Sequence[Evidence], metadata: Mapping[tuple[str, str], Json], stated: Mapping[str, Json]
) -> list[Annotation]:
    """Return the annotations of a memory, that which is shown first.

    `metadata`: of the messages that it cites, by session and id; `stated`: data of the requests, by their event.
    """
    cited = [metadata.get((source.session_id, source.message_id), {}) for source in evidence if source.session_id]
    requests = [stated[source.event_id] for source in evidence if source.event_id in stated]
    return annotated.each_of(row.structured, output.value(cited), output.value(requests))


def memory_json(row: Any, evidence: Sequence[Evidence], annotation: Annotation) -> Json:
    """Return a memory as mem0's Platform shows it."""
    entity, name = scopes.entity_of(row.user_id)
    ids = {"user_id": None, "agent_id": annotation.agent_id, "app_id": annotation.app_id}
    ids |= {"run_id": annotation.run_id or _run_of(evidence)} | {entity: name}
    return {
        "id": str(row.id),
        "memory": row.content,
        **ids,
        "session_id": ids["run_id"],
        "metadata": annotation.metadata or None,
        "categories": [] if row.topic == Topic.OTHER else [row.topic],
        "custom_categories": annotation.custom_categories,
        "structured_attributes": {"category": row.category, "subject": row.subject, "importance": row.importance},
        "immutable": annotation.immutable,
        "synthesized": row.level > 0,
        "replaced_by": None,
        "lifecycle_state": row.status,
        "expiration_date": _last_day(row, annotation),
        "created_at": annotation.timestamp or _written(row.recorded_at),
        "updated_at": _written(row.updated_at),
    }


def owner_of(memory: Json) -> str:
    """Return the user of Imprint to whom a memory in this shape belongs."""
    return EntityScope(**{name: memory[name] for name in ENTITIES}).owner


def flat_json(memory: Json) -> Json:
    """Return a memory as mem0's own server shows it; one without some of its fields stays without them."""
    kept = ("id", "memory", "user_id", "agent_id", "run_id", "metadata", "created_at", "updated_at", "expiration_date")
    scored = {"score": memory["score"]} if "score" in memory else {}
    return {
        **{name: memory[name] for name in kept if name in memory},
        "hash": None,
        "actor_id": None,
        "role": None,
        **scored,
    }


def is_expired(memory: Json, now: datetime) -> bool:
    """Return whether the last day of a memory has passed."""
    day = memory["expiration_date"]
    return day is not None and day < now.astimezone(UTC).date().isoformat()


def history_json(memory: Json, versions: Sequence[MemoryVersion]) -> list[Json]:
    """Return the versions of a memory, oldest first."""
    entries, before = [], None
    for version in versions:
        content = version.snapshot.get("content")
        event = EVENTS.get(version.change, "UPDATE")
        entries.append(
            {
                "id": str(version.change_id or UUID(int=version.version)),
                "memory_id": memory["id"],
                "input": [{"role": "user", "content": content}] if content else [],
                "old_memory": before,
                "new_memory": None if event == "DELETE" else content,
                "event": event,
                "user_id": memory["user_id"],
                "categories": memory["categories"],
                "metadata": memory["metadata"],
                "created_at": memory["created_at"],
                "updated_at": _written(version.at),
            }
        )
        before = content
    return entries


def only(memory: Json, field_names: Sequence[str] | None) -> Json:
    """Return the fields of a memory that are wanted, and its id; None: all."""
    if not field_names:
        return memory
    return {name: value for name, value in memory.items() if name in {"id", "memory", "score", *field_names}}


def _run_of(evidence: Sequence[Evidence]) -> str | None:
    named = (source.session_id for source in evidence if source.session_id)
    return next((session for session in named if not session.startswith(OWN_SESSION)), None)


def _last_day(row: Any, annotation: Annotation) -> str | None:
    if annotation.expiration_date is not None or row.expires_at is None:
        return annotation.expiration_date
    return str(row.expires_at.astimezone(UTC).date().isoformat())


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat()
