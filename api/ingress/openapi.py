"""The OpenAPI document: what FastAPI makes of the routes, completed.

FastAPI describes a refusal in its own form, gives no description to most parameters, and merges a declared answer into
that of the annotation. Here every operation gets the refusals of the service, its key, and described parameters.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts
from pydantic.json_schema import models_json_schema
from starlette.routing import BaseRoute

from api.ingress.answers import COMPONENTS, REFUSALS, Problem
from api.ingress.route_bounds import scope_of
from api.ingress.schemas import EXAMPLES, SCHEMAS
from core.types import Json

REF: Final = "#/components/schemas/"
PUBLIC: Final = "no key"
EVERYWHERE: Final = (401, 403, 408, 413, 422, 429, 431, 503)
"""Refusals of every operation that needs a key: admission control and the database have them."""

RETRY_AFTER: Final = {"description": "Seconds to wait before sending again", "schema": {"type": "integer"}}

HEADERS: Final[Mapping[int, tuple[str, Json]]] = {
    401: ("WWW-Authenticate", {"schema": {"type": "string"}}),
    429: ("Retry-After", RETRY_AFTER),
    503: ("Retry-After", RETRY_AFTER),
}
"""Header of a refusal."""

KEY: Final = {"type": "http", "scheme": "bearer", "description": "A key of the tenant: `imprint keys create`"}

PARAMETERS: Final = {
    "after": "`next` of the previous page",
    "app_id": "Only memories of this app",
    "agent_id": "Only memories of this agent",
    "attribute": "Only memories of this slot",
    "category": "Only memories of this category",
    "change_id": "Id of the change",
    "delete_linked": "Also erase the memories that it superseded",
    "depth": "Steps from the memory",
    "dispatch_id": "Id of the dispatch",
    "document_id": "Id of the document",
    "entity_id": "Id of the entity",
    "entity_type": "`user`, `agent`, `app` or `run`",
    "event_id": "Id of the event",
    "flush": "End open debounces at once; needs the scope `publish`",
    "forgetting_id": "Id of the request to forget",
    "group_id": "Only what belongs to this group",
    "hold": "Only dispatches held back by this, such as `approval`",
    "import_id": "Id of the import",
    "include_archived": "Also archived memories",
    "job_id": "Id of the job",
    "key": "Key in the working memory",
    "key_id": "Id of the key",
    "kind": "Only those of this kind",
    "limit": "Number of items of a page",
    "memory_id": "Id of the memory",
    "message_id": "Id of the message",
    "min_importance": "Least importance",
    "name": "Name of the rule",
    "order": "Order of the list",
    "number": "Number of the part, from 0",
    "page": "Number of the page, from 1",
    "page_size": "Number of items of a page",
    "pinned": "Only pinned memories, or only others",
    "rebuild_id": "Id of the rebuild",
    "receipt_id": "Id of the receipt",
    "replay_id": "Id of the replay",
    "relation": "Kind of the relation",
    "rule": "Only dispatches of this rule",
    "run_id": "Only memories of this run",
    "session_id": "Id of the session",
    "status": "Only those of this status",
    "subject": "Only memories about this person or thing",
    "tag": "Only memories with this tag",
    "target": "Only dispatches of this agent",
    "timeout": "Seconds to wait at most",
    "title": "Title of a document that is sent as text",
    "to": "Id of the other memory",
    "token": "`settle_token` of an answer to `POST /v1/events`",
    "top_k": "Number of memories at most",
    "topic": "Only memories of this topic",
    "undone": "Only undone changes, or only those in force",
    "unit_id": "Id of the unit",
    "uri": "Source of a document",
    "user_id": "Only what belongs to this user",
}
"""Meaning of a parameter by its name, where its route does not say it."""


class DocumentedApi(FastAPI):
    """An application whose OpenAPI document is completed."""

    _document: Json | None = None
    _building: Final = threading.Lock()

    def openapi(self) -> Json:
        """Return the document; it is built once, and nobody is shown it before it is complete."""
        with self._building:
            if self._document is None:
                summarise(self.routes)
                document = super().openapi()
                _complete(document, set(_public(self)))
                self._document = document
            return self._document


def summarise(routes: Iterable[BaseRoute]) -> None:
    """Give each route the first sentence of its endpoint's docstring as its summary, unless it has one."""
    for route in routes:
        if isinstance(route, APIRoute) and route.summary is None:
            route.summary = _first_sentence(route.endpoint)


def _first_sentence(endpoint: Any) -> str | None:
    line = " ".join((endpoint.__doc__ or "").strip().partition("\n\n")[0].split())
    return line.partition(". ")[0].rstrip(".") or None


def _public(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Yield path and method of the operations that need no key."""
    for route in iter_route_contexts(app.routes):
        if scope_of(route) == PUBLIC:
            yield from ((route.path or "", method.lower()) for method in route.methods or ())


def _complete(document: Json, public: set[tuple[str, str]]) -> None:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            is_public = (path, method) in public
            _complete_operation(operation, () if is_public else EVERYWHERE, missing="{" in path)
            if is_public:
                operation["security"] = []
    components = document.setdefault("components", {})
    _, problem = models_json_schema([(Problem, "serialization")], ref_template=REF + "{model}")
    schemas = components.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas |= SCHEMAS | problem["$defs"]
    components["schemas"] = dict(sorted(schemas.items()))
    components["responses"] = {name: _refusal(status, meaning) for status, (name, meaning) in REFUSALS.items()}
    components["securitySchemes"] = {"key": KEY}
    document["security"] = [{"key": []}]


def _complete_operation(operation: Json, refusals: Iterable[int], *, missing: bool) -> None:
    answers: Json = operation["responses"]
    for status in (*refusals, *((404,) if missing else ())):
        answers[str(status)] = {"$ref": COMPONENTS + REFUSALS[status][0]}
    for status, answer in answers.items():
        if "$ref" in answer:
            answers[status] = {"$ref": answer["$ref"]}
        for content in answer.get("content", {}).values():
            content["schema"] = _declared(content.get("schema", {}))
    operation["responses"] = dict(sorted(answers.items()))
    for parameter in operation.get("parameters", ()):
        if "description" not in parameter and parameter["name"] in PARAMETERS:
            parameter["description"] = PARAMETERS[parameter["name"]]
    example = EXAMPLES.get(operation.get("operationId", ""))
    if example is not None:
        operation["requestBody"]["content"]["application/json"]["example"] = example


def _declared(schema: Json) -> Json:
    """Return the schema of the declared model without what FastAPI has merged it with: that of the annotation."""
    for kind in ("$ref", "anyOf", "items"):
        if kind in schema:
            return {kind: schema[kind]} | ({"type": "array"} if kind == "items" else {})
    return schema


def _refusal(status: int, meaning: str) -> Json:
    response: Json = {
        "description": meaning,
        "content": {"application/problem+json": {"schema": {"$ref": f"{REF}Problem"}}},
    }
    if status in HEADERS:
        response["headers"] = {HEADERS[status][0]: HEADERS[status][1]}
    return response
