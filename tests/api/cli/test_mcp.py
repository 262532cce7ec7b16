"""`imprint mcp` as an agent starts it, asked by the protocol's own client."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from api.cli.mcp import headers
from api.mcp.tools import TOOLS
from core.config import Settings
from tests.commands import served
from tests.ports import free_port


def talk(url: str, key: str, era: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    """Start the command, talk with it, and end it."""
    own = {**os.environ, "IMPRINT_URL": url, "IMPRINT_API_KEY": key}
    command = StdioServerParameters(command=sys.executable, args=["-m", "api.cli.main", "mcp"], env=own)

    async def connected() -> Any:
        with anyio.fail_after(60):
            async with Client(stdio_client(command), mode=era) as client:
                return await work(client)

    return anyio.run(connected)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_an_agent_remembers_and_finds_over_standard_input(settings: Settings, era: str) -> None:
    async def work(client: Client) -> tuple[set[str], Any, Any]:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        await client.call_tool("memory_add", {"user_id": "ada", "content": "Ada lives in Lisbon – café."})
        asked = {"user_id": "ada", "query": "Lisbon", "include": ["memories"]}
        found = await client.call_tool("memory_search", asked)
        return listed, found, await client.call_tool("memory_search", {"user_id": "ada"})

    with served(settings) as (url, key):
        listed, found, refused = talk(url, key, era, work)
    assert listed == set(TOOLS)
    assert [one["content"] for one in found.structured_content["results"]] == ["Ada lives in Lisbon – café."]
    assert refused.is_error
    assert refused.structured_content["errors"][0]["pointer"] == "/query"


@pytest.mark.parametrize("key", ["imp_nobody"])
def test_a_key_that_is_not_known_is_an_error_of_the_protocol(settings: Settings, key: str) -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
        return str(refused.value)

    with served(settings) as (url, _):
        said = talk(url, key, "2026-07-28", work)
    assert "key" in said
    assert key not in said


def test_a_service_that_is_not_there_is_named_with_the_way_out() -> None:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.list_tools()
        return str(refused.value)

    assert "IMPRINT_URL" in talk(f"http://127.0.0.1:{free_port()}", "imp_x", "2026-07-28", work)


def test_what_no_header_can_hold_is_left_out() -> None:
    message = {"method": "tools/call", "params": {"name": "a\nb", "_meta": None}}
    assert headers(message, "2025-11-25") == {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/call"}
