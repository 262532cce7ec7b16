"""OpenAI Agents SDK: the adapter does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio

import agents

from imprint_client import AsyncImprint
from imprint_client.adapters.openai_agents import ImprintSession

ITEMS = [
    {"role": "user", "content": "What is the weather in Lisbon?"},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "gAAAA+/="},
    {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Lisbon"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "Sunny, 24 degrees."},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sunny.", "annotations": []}]},
]


def test_items_come_back_unchanged_and_can_be_popped_and_cleared(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            session = ImprintSession(client, f"s-{user}", user_id=user)
            assert isinstance(session, agents.Session)
            assert await session.get_items() == []
            assert await session.pop_item() is None
            await session.add_items(ITEMS)
            assert await session.get_items() == ITEMS
            assert await session.get_items(limit=2) == ITEMS[-2:]
            assert await session.pop_item() == ITEMS[-1]
            assert await session.get_items() == ITEMS[:-1]
            assert "Lisbon" in (await client.search("Lisbon", user_id=user))[0]["content"]
            await session.clear_session()
            assert await session.get_items() == []

    asyncio.run(run())
