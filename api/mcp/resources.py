"""Resources and prompts: what a user or a group is like, what is new, and a question with what is known for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from fastapi import Response
from fastapi.concurrency import run_in_threadpool
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from api.http.memories import reading
from api.http.memories.reading import MemoryListRequest
from api.http.search import context as http_context
from api.http.search.context import ContextRequest
from api.http.sessions import profiles
from api.ingress import audience
from api.ingress.dependencies import ANSWER, Dependencies, dependencies, require_scope
from api.mcp.calls import Context, asked_by
from core.errors import ImprintError
from core.tenancy.tenants import Caller
from core.types import Json

SCOPE: Final = "read"

RECENT: Final = 20
"""Memories of a `recent` resource."""

TOKENS: Final = 2_000
"""Limit of what the prompt `recall` holds."""

JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of resource: its address with one name in it, and the function that answers."""

    template: ResourceTemplate
    address: re.Pattern[str]
    read: Callable[[Dependencies, Caller, str], Json | Response]


def _user_profile(deps: Dependencies, caller: Caller, name: str) -> Response:
    return profiles.get_user_profile(audience.for_reader(deps, caller, None), caller, name)


def _group_profile(deps: Dependencies, caller: Caller, name: str) -> Response:
    return profiles.get_group_profile(audience.for_reader(deps, caller, None), caller, name)


def _recent(deps: Dependencies, caller: Caller, name: str) -> Json:
    return reading.get_memories(deps, caller, MemoryListRequest(user_id=name, limit=RECENT))


def _resource(name: str, address: str, title: str, read: Callable[[Dependencies, Caller, str], Any]) -> Resource:
    template = ResourceTemplate(name=name, title=title, uri_template=address, mime_type=JSON)
    return Resource(template, re.compile(re.sub(r"\\{\w+\\}", "([^/?#]+)", re.escape(address))), read)


RESOURCES: Final = (
    _resource("user_profile", "imprint://users/{user_id}/profile", "What is known about a user", _user_profile),
    _resource("user_recent", "imprint://users/{user_id}/recent", "The newest memories of a user", _recent),
    _resource("group_profile", "imprint://groups/{group_id}/profile", "What a group has in common", _group_profile),
)

USER: Final = PromptArgument(name="user_id", description="Name of the user in your application", required=True)
QUESTION: Final = PromptArgument(name="question", description="What to answer", required=True)

PROMPTS: Final[Mapping[str, Prompt]] = {
    "recall": Prompt(
        name="recall",
        title="Answer from memory",
        description="A question, with what is known for it",
        arguments=[USER, QUESTION],
    ),
    "review": Prompt(
        name="review",
        title="Review what is remembered",
        description="Goes through the newest memories with the user, to correct and forget",
        arguments=[USER],
    ),
}


async def resources(_context: Context, _page: PaginatedRequestParams | None) -> ListResourcesResult:
    """Return no resource: there is one for each user, and which users there are is not listed."""
    return ListResourcesResult(resources=[])


async def templates(_context: Context, _page: PaginatedRequestParams | None) -> ListResourceTemplatesResult:
    """Return the addresses of resources."""
    return ListResourceTemplatesResult(resource_templates=[resource.template for resource in RESOURCES])


async def read(context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
    """Return a resource as JSON. MCPError: there is none, or the key may not read it."""
    uri = str(params.uri)
    for resource in RESOURCES:
        if match := resource.address.fullmatch(uri):
            text = await _answer(context, resource.read, unquote(match[1]))
            return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=JSON, text=text)])
    addresses = ", ".join(resource.template.uri_template for resource in RESOURCES)
    raise MCPError(INVALID_PARAMS, f"There is no resource {uri[:200]!a}. There are: {addresses}.")


async def prompts(_context: Context, _page: PaginatedRequestParams | None) -> ListPromptsResult:
    """Return the prompts."""
    return ListPromptsResult(prompts=list(PROMPTS.values()))


async def prompt(context: Context, params: GetPromptRequestParams) -> GetPromptResult:
    """Return a prompt with its arguments filled in. MCPError: there is none, or an argument is missing."""
    chosen, given = PROMPTS.get(params.name), params.arguments or {}
    if chosen is None:
        raise MCPError(INVALID_PARAMS, f"There is no prompt {params.name[:100]!a}. There are: {', '.join(PROMPTS)}.")
    missing = [argument.name for argument in chosen.arguments or [] if not given.get(argument.name)]
    if missing:
        raise MCPError(INVALID_PARAMS, f"The prompt {params.name} needs {' and '.join(missing)}.")
    if params.name == "recall":
        remembered = await _answer(context, _recalled, given["user_id"], given["question"])
        text = f"{remembered}\n\n{given['question']}"
    else:
        remembered = await _answer(context, _recent, given["user_id"])
        text = (
            f"These are the newest memories about the user {given['user_id']}, as JSON:\n\n{remembered}\n\n"
            "Show them to me as a short numbered list. Ask which are wrong, outdated or to be forgotten, and then call "
            "memory_update, memory_undo or memory_forget for those alone."
        )
    message = PromptMessage(role="user", content=TextContent(text=text))
    return GetPromptResult(description=chosen.description, messages=[message])


def _recalled(deps: Dependencies, caller: Caller, user_id: str, question: str) -> str:
    request = ContextRequest(user_id=user_id, query=question, max_tokens=TOKENS, format="text", include=[])
    answer = http_context.post_context(deps, caller, request)
    return str(ANSWER.validate_json(bytes(answer.body))["text"])


def _newest(
    work: Callable[..., Json | Response | str], deps: Dependencies, caller: Caller, *given: str
) -> Json | Response | str:
    with deps.showing_newest():  # Clients of the protocol send no positions.
        return work(deps, caller, *given)


async def _answer(context: Context, work: Callable[..., Json | Response | str], *given: str) -> str:
    """Return the answer of an endpoint as text. MCPError: it was refused; the text says why."""
    request, caller = asked_by(context)
    try:
        require_scope(caller, SCOPE)
        answer = await run_in_threadpool(_newest, work, await dependencies(request), caller, *given)
    except ImprintError as error:
        raise MCPError(INVALID_PARAMS, error.detail) from None
    if isinstance(answer, str):
        return answer
    return bytes(answer.body).decode() if isinstance(answer, Response) else ANSWER.dump_json(answer).decode()
