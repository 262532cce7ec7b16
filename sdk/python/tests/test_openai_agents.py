"""OpenAI Agents SDK: the adapter does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio

import agents
from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing, state_fact

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


def test_what_was_found_and_repeated_is_not_learnt_again(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            session = ImprintSession(client, f"s-{user}", user_id=user)
            context = await client.context(user_id=user, query=QUESTION, format="text", max_tokens=2_000)
            assert FACT in context["text"]
            await session.add_items(
                [
                    {"role": "developer", "content": context["text"]},
                    {"role": "user", "content": QUESTION},
                    {"type": "function_call_output", "call_id": "c1", "output": FACT},
                    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": ECHO}]},
                ]
            )
            await assert_learnt_nothing(client, user, f"s-{user}", known)

    asyncio.run(run())
