"""Adding memories: messages become events, statements to keep as they are become memories."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import ValidationError
from uuid_utils import uuid7

from api.compat import annotated
from api.compat.annotated import Annotation
from api.compat.requests import AddRequest
from api.compat.scopes import EntityScope
from api.compat.shapes import OWN_SESSION
from api.http.log import events
from api.http.memories import writing
from api.http.memories.requests import StatementBatch, StatementRequest
from api.ingress import dependencies, messages
from api.ingress.dependencies import Dependencies
from api.ingress.error_responses import detail_of
from api.ingress.messages import Numbered
from core.errors import Problem
from core.events import parsing
from core.events.message_shapes import DESCRIBED, ClientMessage
from core.events.parsing import Checked
from core.tenancy.tenants import Caller
from core.types import Json

SOURCE: Final = "mem0"
"""Source of the events."""

NO_STATEMENT: Final = "says nothing that could be kept: instructions of the system, or no words"
"""Why a message is left out of memories that are kept as they are; mem0 does the same."""

EVENTS: Final[Mapping[str, str]] = {"merge": "UPDATE", "replace": "UPDATE", "confirm": "NONE", "ignore": "NONE"}
"""Verdicts by their names in mem0; every other one is an ADD."""


def add(deps: Dependencies, caller: Caller, request: AddRequest) -> Json:
    """Publish the messages, or keep each of them as a memory. Forbidden: the key may not write memories."""
    annotated.require_free(request.metadata or {})
    if request.infer:
        return _publish(deps, caller, request)
    dependencies.require_scope(caller, "write")
    return _write(deps, caller, request)


def _publish(deps: Dependencies, caller: Caller, request: AddRequest) -> Json:
    """Accept the messages; without a `run_id` their session ends with them, so that nothing waits for more."""
    scope, annotation = request.scope, _annotation(request)
    who = {"session_id": scope.run_id or f"{OWN_SESSION}{uuid7()}", "user_id": scope.owner}
    at = annotated.moment_of(request.timestamp)
    shared = {"source": SOURCE} | ({"time": at.isoformat()} if at else {})
    taken, faults = messages.read(request.messages, "user")
    added = [
        {**shared, "event_type": "message.added", "payload": {**who, **_payload(message, scope, annotation)}}
        for _, message in taken
    ]
    checked = _checked(deps, added)
    for problem in checked.problems:
        position, pointer = _position(problem, taken)
        faults.setdefault(position, Problem(pointer, problem.detail))
    messages.require_some(checked.events, faults)
    end = [] if scope.run_id else parsing.check([{**shared, "event_type": "session.ended", "payload": who}])
    done = events.accept(deps, caller, [*checked.events, *end])
    return {
        "message": "The messages are stored; what they say is remembered in the background.",
        "status": "PENDING",
        "event_id": deps.settle_tokens.of(caller.tenant_id, done.last_seq),
        "messages": messages.outcomes(len(request.messages), {n: _reason(fault) for n, fault in faults.items()}),
    }


def _checked(deps: Dependencies, documents: Sequence[Json]) -> Checked:
    settings, body = deps.settings, json.dumps(documents).encode()
    return parsing.parse_each(body, {}, batch=settings.batch_events, event_bytes=settings.event_bytes)


def _payload(message: ClientMessage, scope: EntityScope, annotation: Annotation) -> Json:
    described: Json = {DESCRIBED: list(message.parts)} if message.parts else {}
    given = {
        "speaker": message.speaker,
        "agent_id": scope.agent_id,
        "tool_calls": list(message.tool_calls),
        "tool_call_id": message.tool_call_id,
        "tool_name": message.tool_name,
        "metadata": {**described, **annotation.in_metadata},
    }
    return {"role": message.role, "content": message.text, **{name: value for name, value in given.items() if value}}


def _write(deps: Dependencies, caller: Caller, request: AddRequest) -> Json:
    """Keep each message that says something as a memory; the judge may find that one is known."""
    taken, faults = messages.read(request.messages, "user")
    left_out = dict.fromkeys((n for n, _ in taken), NO_STATEMENT)
    stated: list[StatementRequest] = []
    for n, message in taken:
        if message.is_blank or message.role == "system":
            continue
        try:
            stated.append(_statement(request, message))
            left_out.pop(n, None)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            faults[n] = Problem(f"/{first['loc'][-1]}", detail_of(first))
    messages.require_some([*stated, *(left_out.keys() - faults)], faults)
    kept = writing.post_memories(deps, caller, StatementBatch(memories=stated))["items"] if stated else []
    left_out |= {n: _reason(fault) for n, fault in faults.items()}
    return {
        "results": [_result(outcome, statement.content) for outcome, statement in zip(kept, stated, strict=True)],
        "messages": messages.outcomes(len(request.messages), left_out),
    }


def _statement(request: AddRequest, message: ClientMessage) -> StatementRequest:
    """Return a message as a statement to keep. What an assistant or a tool says in the first person is not the user's.

    ValidationError.
    """
    scope = request.scope
    speaker = None if message.role == "user" else message.speaker or message.tool_name or scope.agent_id or message.role
    return StatementRequest(
        user_id=scope.owner,
        content=message.text,
        subject=speaker,
        structured=_annotation(request).in_structured,
        occurred_at=annotated.moment_of(request.timestamp),
        expires_at=annotated.end_of(request.expiration_date),
    )


def _reason(fault: Problem) -> str:
    return f"{fault.pointer}: {fault.detail}" if fault.pointer else fault.detail


def _result(kept: Json, content: str) -> Json:
    memory = kept["memory"]
    text = content if memory is None else memory["content"]
    return {
        "id": None if memory is None else str(memory["id"]),
        "memory": text,
        "event": EVENTS.get(kept["verdict"], "ADD"),
        "data": {"memory": text},
    }


def _annotation(request: AddRequest) -> Annotation:
    scope, at = request.scope, annotated.moment_of(request.timestamp)
    annotated.end_of(request.expiration_date)
    return Annotation(
        request.metadata or {},
        scope.agent_id,
        scope.app_id,
        scope.run_id,
        request.custom_categories,
        request.expiration_date,
        at.isoformat() if at else None,
        request.immutable,
    )


def _position(problem: Problem, taken: Sequence[Numbered]) -> tuple[int, str]:
    """Return which message a fault of the events is in, and where: /0/payload/content is /content of the first."""
    _, index, *path = problem.pointer.split("/")
    return taken[int(index)][0], "".join(f"/{step}" for step in path if step != "payload")
