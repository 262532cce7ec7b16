"""Adding memories: messages become events, statements to keep as they are become memories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from pydantic import ValidationError
from uuid_utils import uuid7

from api.compat import annotated
from api.compat.annotated import Annotation
from api.compat.requests import AddRequest, ChatMessage
from api.compat.scopes import EntityScope
from api.compat.shapes import OWN_SESSION
from api.http import events, memory_writes
from api.http.memory_requests import StatementBatch, StatementRequest
from api.ingress import dependencies
from api.ingress.dependencies import Dependencies
from core.errors import Invalid, Problem
from core.events import parsing
from core.tenancy.tenants import Caller
from core.types import Json

SOURCE: Final = "mem0"
"""Source of the events."""

EVENTS: Final[Mapping[str, str]] = {"merge": "UPDATE", "replace": "UPDATE", "confirm": "NONE", "ignore": "NONE"}
"""Verdicts by their names in mem0; every other one is an ADD."""


def add(deps: Dependencies, caller: Caller, asked: AddRequest) -> Json:
    """Publish the messages, or keep each of them as a memory. Forbidden: the key may not write memories."""
    annotated.require_free(asked.metadata or {})
    if asked.infer:
        return _publish(deps, caller, asked)
    dependencies.require_scope(caller, "write")
    return _write(deps, caller, asked)


def _publish(deps: Dependencies, caller: Caller, asked: AddRequest) -> Json:
    """Accept the messages; without a `run_id` their session ends with them, so that nothing waits for more."""
    scope, annotation = asked.scope, _annotation(asked)
    session = scope.run_id or f"{OWN_SESSION}{uuid7()}"
    who = {"session_id": session, "user_id": scope.owner}
    documents = [
        {"event_type": "message.added", "payload": {**who, **_payload(message, scope, annotation)}}
        for message in asked.messages
    ]
    if scope.run_id is None:
        documents.append({"event_type": "session.ended", "payload": who})
    at = annotated.moment_of(asked.timestamp)
    shared = {"source": SOURCE} | ({"time": at.isoformat()} if at else {})
    body = json.dumps([shared | document for document in documents]).encode()
    settings = deps.settings
    try:
        batch = parsing.parse(body, {}, batch=settings.batch_events, event_bytes=settings.event_bytes)
    except Invalid as error:
        raise Invalid([Problem(_pointer(one.pointer), one.detail) for one in error.problems]) from None
    done = events.accept(deps, caller, batch)
    return {
        "message": "The messages are stored; what they say is remembered in the background.",
        "status": "PENDING",
        "event_id": deps.settle_tokens.of(caller.tenant_id, done.last_seq),
    }


def _payload(message: ChatMessage, scope: EntityScope, annotation: Annotation) -> Json:
    given = {"speaker": message.name, "agent_id": scope.agent_id, "metadata": annotation.in_metadata}
    return {"role": message.role, "content": message.text, **{name: value for name, value in given.items() if value}}


def _write(deps: Dependencies, caller: Caller, asked: AddRequest) -> Json:
    """Keep each message as a memory; the judge may find that one is known."""
    owner, annotation = asked.scope.owner, _annotation(asked)
    statements = []
    for n, message in enumerate(asked.messages):
        try:
            stated = StatementRequest(
                user_id=owner,
                content=message.text,
                structured=annotation.in_structured,
                occurred_at=annotated.moment_of(asked.timestamp),
                expires_at=annotated.end_of(asked.expiration_date),
            )
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid([Problem(f"/messages/{n}/{first['loc'][-1]}", first["msg"])]) from None
        statements.append(stated)
    kept = memory_writes.post_memories(deps, caller, StatementBatch(memories=statements))["items"]
    return {"results": [_result(one, message.text) for one, message in zip(kept, asked.messages, strict=True)]}


def _result(kept: Json, words: str) -> Json:
    memory = kept["memory"]
    told = words if memory is None else memory["content"]
    return {
        "id": None if memory is None else str(memory["id"]),
        "memory": told,
        "event": EVENTS.get(kept["verdict"], "ADD"),
        "data": {"memory": told},
    }


def _annotation(asked: AddRequest) -> Annotation:
    scope, at = asked.scope, annotated.moment_of(asked.timestamp)
    annotated.end_of(asked.expiration_date)
    return Annotation(
        asked.metadata or {},
        scope.agent_id,
        scope.app_id,
        scope.run_id,
        asked.custom_categories,
        asked.expiration_date,
        at.isoformat() if at else None,
        asked.immutable,
    )


def _pointer(pointer: str) -> str:
    """Return where a fault of an event is in the request: /0/payload/content is /messages/0/content."""
    return f"/messages{pointer.replace('/payload', '', 1)}" if pointer else pointer
