"""An agent that calls tools."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

import anyio
from httpx2 import AsyncClient
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent
from mcp_types import Tool as Listed

from core.types import Json
from tests.doors import Doors
from tests.samples import TENANT

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent with the protocol's own client over a real connection, in one of the protocol's two eras."""

    url: str
    key: str
    era: str = "2026-07-28"

    def talk(self, work: Callable[[Client], Awaitable[Found]]) -> Found:
        """Connect, do it, and go."""

        async def connected() -> Found:
            async with AsyncClient(headers={"authorization": f"Bearer {self.key}"}, timeout=60) as http:
                transport = streamable_http_client(f"{self.url}/mcp", http_client=http)
                async with Client(transport, mode=self.era) as client:
                    return await work(client)

        return anyio.run(connected)

    def result(self, tool: str, **arguments: Any) -> CallToolResult:
        return self.talk(lambda client: client.call_tool(tool, arguments))

    def call(self, tool: str, **arguments: Any) -> Json:
        """Return the answer to a valid call; its text and its structured content are equal."""
        result = self.result(tool, **arguments)
        assert not result.is_error, result
        return both(result)

    def fault(self, tool: str, **arguments: Any) -> Json:
        """Return the error of an invalid call."""
        result = self.result(tool, **arguments)
        assert result.is_error, result
        return both(result)

    def listed(self) -> dict[str, Listed]:
        found = self.talk(lambda client: client.list_tools())
        return {tool.name: tool for tool in found.tools}


def both(result: CallToolResult) -> Json:
    (block,) = result.content
    assert isinstance(block, TextContent)
    answer: Json = json.loads(block.text)
    assert answer == result.structured_content
    return answer


NOBODY = str(UUID(int=0))


BAD: Sequence[tuple[str, Json, int, list[str]]] = (
    ("memory_search", {"query": "x"}, 422, ["/user_id"]),
    ("memory_search", {"user_id": "ada", "query": "x", "limit": "many", "kinds": ["x"]}, 422, ["/limit", "/kinds/0"]),
    ("memory_search", {"user_id": "ada", "q": "x"}, 422, ["/query", "/q"]),
    ("memory_answer", {"question": "x"}, 422, ["/user_id"]),
    ("memory_about", {"user_id": "ada"}, 422, ["/name"]),
    ("memory_about", {"user_id": "ada", "name": "Nobody"}, 404, []),
    ("memory_merge_names", {"user_id": "ada", "names": ["Evelyn"]}, 422, ["/names"]),
    ("memory_add", {"user_id": "ada"}, 422, ["/content"]),
    ("memory_add", {"user_id": "ada", "content": "x", "attribute": "home.city"}, 422, ["/value"]),
    ("memory_update", {"memory_id": "7", "content": "x"}, 422, ["/memory_id"]),
    ("memory_update", {"memory_id": NOBODY, "content": "x"}, 404, []),
    ("memory_forget", {"memory_id": NOBODY}, 404, []),
    ("memory_forget", {}, 422, ["/memory_id"]),
    ("memory_list", {}, 422, ["/user_id"]),
    ("memory_undo", {"memory_id": NOBODY}, 404, []),
    ("memory_forget_undo", {"user_id": "ada", "forgetting_id": NOBODY}, 404, []),
    ("memory_why", {"memory_id": NOBODY}, 404, []),
    ("context_build", {"query": "x"}, 422, ["/user_id"]),
    ("context_build", {"user_id": "ada", "max_tokens": 1}, 422, ["/max_tokens"]),
    ("message_hide", {"session_id": "s1", "message_id": "m1"}, 404, []),
    ("message_hide", {"session_id": "s1"}, 422, ["/message_id"]),
    ("message_restore", {"session_id": "s1", "message_id": "m1"}, 404, []),
    ("event_publish", {"event_type": "no type", "source": "x"}, 422, ["/event_type"]),
    ("event_publish", {"event_type": "message.added", "source": "x", "payload": {"session_id": "s1", "user_id": "a",
     "role": "robot", "content": "x"}}, 422, ["/payload/role"]),
)  # fmt: skip


LOCAL = {"host": "127.0.0.1:8070"}


def message(method: str, **params: Any) -> Json:
    """A message as a client without the library would send it."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def tool_call(tool: str, **arguments: Any) -> Json:
    return message("tools/call", name=tool, arguments=arguments)


def sent(door: Doors, tool: str, *, tenant: str = TENANT, **arguments: Any) -> Json:
    """Call a tool of the application in this process, and return the result."""
    answer = door.post("/mcp", tool_call(tool, **arguments), headers=LOCAL, tenant=tenant)
    assert answer.status_code == 200, answer.text
    result: Json = answer.json()["result"]
    return result


def names_of(results: Sequence[Json]) -> list[str]:
    return [one["content"] for one in results]
