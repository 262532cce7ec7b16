"""Answers compared with what the OpenAPI document declares of them: whoever asks in a test checks the answer, too."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from httpx2 import Response
from jsonschema_rs import Draft202012Validator
from starlette.exceptions import HTTPException

from api.ingress.route_bounds import RouteTable
from core.types import Json

WAY_OUT = (
    "Declare it: the model of this answer is in answers.py of its subject in api/http, or of api/compat; "
    "see docs/contributing.md."
)

INTERNAL_ERROR = 500
"""Declared nowhere: it is a fault of the service."""


class Undeclared(AssertionError):
    """An answer differs from its declaration."""


class Declarations:
    """What the document of one application declares, by operation and status. Fields that it lacks are faults."""

    def __init__(self, app: FastAPI) -> None:
        self._document = app.openapi()
        self._table = RouteTable(iter_route_contexts(app.routes))
        self._components = {"schemas": {n: _closed(s) for n, s in self._document["components"]["schemas"].items()}}
        self._validators: dict[str, Draft202012Validator] = {}

    def faults(self, answer: Response) -> Iterator[str]:
        """Yield how an answer differs from its declaration; nothing for one that belongs to no operation."""
        operation = self._operation(answer.request.method, answer.request.url.path)
        if operation is None or answer.status_code == INTERNAL_ERROR:
            return
        declared = operation["responses"].get(str(answer.status_code))
        if declared is None:
            yield f"the status {answer.status_code} is not declared"
            return
        if "$ref" in declared:
            declared = self._document["components"]["responses"][declared["$ref"].rpartition("/")[2]]
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        content = declared.get("content", {})
        if media_type and media_type not in content:
            yield f"the type {media_type} is not declared for the status {answer.status_code}"
        elif media_type.endswith("json") and "ndjson" not in media_type:
            answer.read()
            yield from self._in_body(content[media_type]["schema"], answer.json())

    def _operation(self, method: str, path: str) -> Json | None:
        try:
            route = self._table.find(method, path).route
        except HTTPException:
            return None
        found: Json | None = self._document["paths"].get(route.path_format, {}).get(method.lower())
        return found

    def _in_body(self, schema: Json, body: Any) -> Iterator[str]:
        key = repr(schema)
        if key not in self._validators:
            whole = {**schema, "components": self._components}
            self._validators[key] = Draft202012Validator(whole, validate_formats=True)
        for error in self._validators[key].iter_errors(body):
            yield f"/{'/'.join(map(str, error.instance_path))}: {error.message[:300]}"


def require(app: FastAPI, answer: Response) -> None:
    """Fail where an answer differs from its declaration."""
    faults = list(_declarations(app).faults(answer))
    if faults:
        raise Undeclared("\n".join([f"{answer.request.method} {answer.request.url.path}: ", *faults[:5], WAY_OUT]))


_BUILT: list[Declarations] = []
_BUILDING = threading.Lock()


def _declarations(app: FastAPI) -> Declarations:
    """Return the declarations of the first application: all have the same, and building the document takes long."""
    with _BUILDING:  # Some tests send their first requests at once.
        if not _BUILT:
            _BUILT.append(Declarations(app))
    return _BUILT[0]


def _closed(schema: Any) -> Any:
    """Return the schema with no other properties than those that it names."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: _closed(one) for name, one in schema.items() if name != "properties"}
    if "properties" in schema:
        closed["properties"] = {name: _closed(one) for name, one in schema["properties"].items()}
        closed.setdefault("additionalProperties", False)
    return closed
