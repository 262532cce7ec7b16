"""`/openapi.json`, `/asyncapi.json` and `/docs`: the reference, and one page of it without scripts."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape
from typing import Any, Final

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import iter_route_contexts

from api.ingress import asyncapi
from api.ingress.answers import REFUSALS
from api.ingress.openapi import EVERYWHERE
from api.ingress.route_bounds import Bounds, scope_of, with_bounds
from core.types import Json

router = APIRouter(include_in_schema=False)

PUBLIC = Bounds(public=True)

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c1c1e }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #d0d0d6 } summary { cursor: pointer; padding: .35rem 0 }
code, pre { font: 13px/1.45 ui-monospace, monospace } pre { background: #f4f4f7; padding: .8rem; overflow: auto }
.method { display: inline-block; width: 4.5rem; font-weight: 600 } .scope { color: #6b6b76; float: right }
"""

POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{b64encode(sha256(STYLE.encode()).digest()).decode()}'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The page may apply its own style, and load and run nothing."""


@dataclass(slots=True)
class ApiReference:
    """The documents, built once, because that takes a third of a second."""

    making: asyncio.Lock = field(default_factory=asyncio.Lock)
    openapi: bytes = b""
    asyncapi: bytes = b""
    page: bytes = b""


@router.get("/openapi.json")
@with_bounds(PUBLIC)
async def get_openapi(request: Request) -> Response:
    """Return the OpenAPI document."""
    return Response((await _manual(request)).openapi, media_type="application/json")


@router.get("/asyncapi.json")
@with_bounds(PUBLIC)
async def get_asyncapi(request: Request) -> Response:
    """Return the AsyncAPI document of the events that are accepted and emitted."""
    return Response((await _manual(request)).asyncapi, media_type="application/json")


@router.get("/docs")
@with_bounds(PUBLIC)
async def get_docs(request: Request) -> Response:
    """Return the API reference for a browser."""
    headers = {"Content-Security-Policy": POLICY}
    return Response((await _manual(request)).page, media_type="text/html; charset=utf-8", headers=headers)


async def _manual(request: Request) -> ApiReference:
    app: FastAPI = request.app
    manual: ApiReference = app.state.manual
    async with manual.making:
        if not manual.openapi:
            manual.openapi, manual.page, manual.asyncapi = await run_in_threadpool(_render, app)
    return manual


def _render(app: FastAPI) -> tuple[bytes, bytes, bytes]:
    document = app.openapi()
    scopes = {
        (method, route.path or ""): scope_of(route)
        for route in iter_route_contexts(app.routes)
        for method in route.methods or ()
    }
    events = asyncapi.document(app.version)
    return _encode(document), "".join(page(document, scopes)).encode(), _encode(events)


def _encode(document: Json) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


def page(document: Json, scopes: dict[tuple[str, str], str]) -> Iterator[str]:
    """Render the page: every route by its tag, with its scope, parameters, body and answers."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    yield f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{STYLE}</style>"
    yield f"<h1>{title}</h1><p>{escape(document['info']['description'])}</p>"
    yield "<p>Send <code>Authorization: Bearer &lt;key&gt;</code>. The same for machines: "
    yield "<a href=/openapi.json>/openapi.json</a>; the events: <a href=/asyncapi.json>/asyncapi.json</a>.</p>"
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            scope = scopes.get((method.upper(), path), "")
            by_tag.setdefault(operation.get("tags", ["other"])[0], []).append(
                "".join(_route(method.upper(), path, operation, scope))
            )
    for tag, routes in by_tag.items():
        yield f"<h2>{escape(tag)}</h2>{''.join(routes)}"
    yield "<h2>Schemas</h2>"
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        yield f"<details id={escape(name)}><summary><code>{escape(name)}</code></summary>{_json(schema)}</details>"


def _route(method: str, path: str, operation: Json, scope: str) -> Iterator[str]:
    yield f"<details><summary><span class=method>{method}</span><code>{escape(path)}</code>"
    yield f"<span class=scope>{escape(scope)}</span></summary><p>{escape(operation.get('description', ''))}</p>"
    if operation.get("parameters"):
        yield "<ul>"
        for parameter in operation["parameters"]:
            needed = ", required" if parameter.get("required") else ""
            yield (
                f"<li><code>{escape(parameter['name'])}</code> ({parameter['in']}{needed}) "
                f"{escape(parameter.get('description', ''))}"
            )
        yield "</ul>"
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield f"<p>Body, <code>{escape(kind)}</code>:</p>{_json(content.get('schema', {}))}"
    own = {status: of for status, of in operation["responses"].items() if int(status) not in EVERYWHERE}
    answers = ", ".join(f"{status}: {escape(_meaning(status, of))}" for status, of in own.items())
    yield f"<p>Answers: {answers}</p></details>"


def _meaning(status: str, answer: Json) -> str:
    return REFUSALS[int(status)][1] if "$ref" in answer else str(answer["description"])


def _json(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</pre>"
