"""`imprint mcp` as an agent starts it, asked by the protocol's own client."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from api.cli.commands.host.mcp import headers
from api.mcp.resources import PROMPTS, RESOURCES
from api.mcp.tools import TOOLS
from core.config import Settings
from core.types import Json
from tests.api.mcp.asking import Agent
from tests.commands import served
from tests.ports import free_port
from tests.works import Works


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


async def everything(client: Client) -> Json:
    """All that a client can list and read, as JSON."""
    listed = {
        "tools": await client.list_tools(),
        "resources": await client.list_resources(),
        "templates": await client.list_resource_templates(),
        "prompts": await client.list_prompts(),
        "server": client.server_info,
        "instructions": client.instructions,
    }
    for uri in ("imprint://users/ada/profile", "imprint://users/ada/recent", "imprint://users/%C3%BC%20b/recent"):
        listed[uri] = await client.read_resource(uri)
    given = {"user_id": "ada", "question": "Where does Ada live – since when?"}
    listed["recall"] = await client.get_prompt("recall", given)
    listed["review"] = await client.get_prompt("review", {"user_id": "ada"})
    for uri in ("imprint://users/ada", "imprint://users/nobody/profile", "imprint://users/ü b/recent/"):
        listed[uri] = await fault(client.read_resource(uri))
    listed["none"] = await fault(client.get_prompt("none ü", {}))
    listed["lacking"] = await fault(client.get_prompt("recall", {"user_id": "ada"}))
    return {name: one.model_dump(mode="json") if isinstance(one, BaseModel) else one for name, one in listed.items()}


async def fault(asked: Awaitable[Any]) -> str:
    with pytest.raises(MCPError) as refused:
        await asked
    return str(refused.value)


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
def test_both_transports_list_and_read_the_same(settings: Settings, works: Works, era: str) -> None:
    with served(settings) as (url, key):
        for user, content in (("ada", "Ada lives in Lisbon – café."), ("ü b", "Owns a boat named Rex.")):
            body = {"user_id": user, "content": content}
            httpx.post(f"{url}/v1/memories", json=body, headers={"authorization": f"Bearer {key}"}).raise_for_status()
        works.settle()
        over_input, over_http = talk(url, key, era, everything), Agent(url, key, era).talk(everything)
    assert over_input == over_http
    assert [one["name"] for one in over_input["prompts"]["prompts"]] == list(PROMPTS)
    assert [one["uri_template"] for one in over_input["templates"]["resource_templates"]] == [
        one.template.uri_template for one in RESOURCES
    ]
    read = {
        uri: over_input[uri]["contents"][0]["text"]
        for uri in over_input
        if isinstance(over_input[uri], dict) and ":" in uri
    }
    assert "home.city" in read["imprint://users/ada/profile"]
    assert "café" in read["imprint://users/ada/recent"]
    assert "Rex" in read["imprint://users/%C3%BC%20b/recent"]
    assert "Lisbon" in over_input["recall"]["messages"][0]["content"]["text"]
    assert "Lisbon" in over_input["review"]["messages"][0]["content"]["text"]
    assert "There are: imprint://users/" in over_input["imprint://users/ada"]
    assert "Nothing is known of user:nobody" in over_input["imprint://users/nobody/profile"]
    assert "There are: recall, review" in over_input["none"]
    assert "needs question" in over_input["lacking"]


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


def test_what_no_header_can_hold_is_encoded_or_left_out() -> None:
    message = {"method": "tools/call", "params": {"name": "a\nb", "_meta": None}}
    sent = {"MCP-Protocol-Version": "2025-11-25", "Mcp-Method": "tools/call"}
    assert headers(message, "2025-11-25") == {**sent, "Mcp-Name": "=?base64?YQpi?="}
    assert headers({**message, "params": {"name": "\ud800"}}, "2025-11-25") == sent
    assert headers({**message, "params": {"name": 7}}, "2025-11-25") == sent
