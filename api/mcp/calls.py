"""Tool calls: validation, execution and errors as over HTTP."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from api.ingress.dependencies import ANSWER, Dependencies, dependencies, require_scope
from api.ingress.error_responses import refusal
from api.mcp.arguments import validated
from api.mcp.tool_schemas import LISTED, SCHEMAS
from api.mcp.tools import TOOLS, Tool
from core import metrics, tracing
from core.errors import Forbidden
from core.tenancy.tenants import Caller
from core.types import Json

FAULTS: Final = 20
"""Maximum faults reported for one call, because a model reads all of them."""

EXAMPLES: Final[Mapping[str, str]] = {
    "list_type": 'must be a list, such as ["travel", "food"]',
    "dict_type": 'must be an object, such as {"name": "value"}',
    "model_type": 'must be an object, such as {"name": "value"}',
}
"""Advice for a text that is neither a list nor an object, by the ending of the type of the fault."""

Context = ServerRequestContext[dict[str, Any], Request]


async def tools(context: Context, _page: PaginatedRequestParams | None) -> ListToolsResult:
    """Return the tools that the caller's key may use."""
    _, who = asked_by(context)
    return ListToolsResult(tools=[LISTED[tool.name] for tool in TOOLS.values() if tool.allows(who)])


async def call(context: Context, params: CallToolRequestParams) -> CallToolResult:
    """Return the answer of a tool, or the problem with the call, for the model to read. MCPError: no such tool."""
    tool = TOOLS.get(params.name)
    if tool is None:
        names = ", ".join(TOOLS)
        raise MCPError(INVALID_PARAMS, f"Unknown tool {params.name[:100]!a}. There are: {names}.")
    sent = tracing.received(context.meta or {})
    with tracing.span(f"tools/call {tool.name}", "internal", sent, attributes=_attributes(tool)) as span:
        answer, outcome = await _outcome(context, tool, params)
        if outcome != "answered":
            span.fail("tool_error")
    text, failed = TextContent(text=answer.decode()), outcome != "answered"
    return CallToolResult(content=[text], structured_content=json.loads(answer), is_error=failed)


def _attributes(tool: Tool) -> Mapping[str, tracing.Value]:
    names = {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool.name}
    return dict[str, tracing.Value](names)


async def _outcome(context: Context, tool: Tool, params: CallToolRequestParams) -> tuple[bytes, str]:
    """Return the answer of a tool, or the problem, and whether it was answered, refused or has failed."""
    request, who = asked_by(context)
    began, outcome = time.perf_counter(), "answered"
    try:
        require_scope(who, tool.scope)
        if not tool.allows(who):
            raise Forbidden(f"{tool.name} does not enforce audience labels. Use a key that is not limited to some.")
        # The endpoints wait for PostgreSQL: in a thread, as those of the HTTP door are.
        answer = await run_in_threadpool(_answer, tool, await dependencies(request), who, params.arguments or {})
    except Exception as error:  # noqa: BLE001 - as at the HTTP door, whatever goes wrong is answered
        problem = _refusal(error)
        outcome = "refused" if problem["status"] < HTTPStatus.INTERNAL_SERVER_ERROR else "failed"
        # A pointer may hold half a surrogate pair.
        answer = json.dumps(problem, ensure_ascii=False).encode(errors="replace")
    metrics.MCP.labels(tool.name, outcome).observe(time.perf_counter() - began)
    return answer, outcome


def _answer(tool: Tool, deps: Dependencies, caller: Caller, arguments: Json) -> bytes:
    """Return the endpoint's answer as JSON. RequestValidationError: invalid arguments."""
    try:
        request = validated(tool.takes, SCHEMAS[tool.name], arguments)
    except ValidationError as error:
        raise RequestValidationError([_fault(tool, fault) for fault in error.errors()[:FAULTS]]) from None
    with deps.showing_newest():  # Clients of the protocol send no positions.
        answer = tool.answer(deps, caller, request)
    return bytes(answer.body) if isinstance(answer, Response) else ANSWER.dump_json(answer)


def _fault(tool: Tool, fault: ErrorDetails) -> Json:
    """Describe the fault of an argument as the HTTP API does for a body; list the valid names if it is unknown."""
    location, message = fault["loc"], fault["msg"].removeprefix("Value error, ")
    if fault["type"] == "extra_forbidden" and len(location) == 1:
        message = f"is no argument of {tool.name}; there are: {', '.join(SCHEMAS[tool.name]['properties'])}"
    message = next((example for kind, example in EXAMPLES.items() if fault["type"].endswith(kind)), message)
    return {"type": fault["type"], "loc": ("arguments", *location), "msg": message}


def _refusal(error: Exception) -> Json:
    """Return the problem of an error (RFC 9457) as over HTTP, with the time after which to try again, if it has one."""
    answer = refusal(error)
    problem: Json = json.loads(bytes(answer.body))
    if "retry-after" in answer.headers:
        problem["retry_after_seconds"] = int(answer.headers["retry-after"])
    return problem


def asked_by(context: Context) -> tuple[Request, Caller]:
    """Return the HTTP request of a message, and its caller."""
    if context.request is None:
        raise ValueError(context.method)
    who: Caller = context.request.state.caller
    return context.request, who
