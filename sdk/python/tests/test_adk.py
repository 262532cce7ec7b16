"""Google ADK: the adapter does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio

import pytest
from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing, state_fact
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from imprint_client import AsyncImprint, ImprintError
from imprint_client.adapters.adk import ImprintMemoryService


def content(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def test_sessions_are_searched_and_sent_twice_are_stored_once(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            memory = ImprintMemoryService(client)
            events = [Event(id="e1", author="user", content=content("My sister plays the cello."))]
            session = Session(id=user, app_name="shop", user_id=user, events=events)
            await memory.add_session_to_memory(session)
            await memory.add_session_to_memory(session)
            found = await memory.search_memory(app_name="shop", user_id=user, query="cello")
            assert [entry.content.parts[0].text for entry in found.memories] == ["My sister plays the cello."]
            other = await memory.search_memory(app_name="shop", user_id=f"{user}-other", query="cello")
            assert other.memories == []

    asyncio.run(run())


def test_a_memory_is_deleted_by_its_owner_alone(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            memory = ImprintMemoryService(client)
            stated = [MemoryEntry(content=content("Ada is allergic to peanuts."))]
            await memory.add_memory(app_name="shop", user_id=user, memories=stated)
            known = (await client.memories(user_id=f"shop:{user}"))[0]["id"]
            with pytest.raises(ValueError, match="another user"):
                await memory.delete_memory(app_name="shop", user_id="bob", memory_id=known)
            await memory.delete_memory(app_name="shop", user_id=user, memory_id=known)
            with pytest.raises(ImprintError):
                await client.memory(known)

    asyncio.run(run())


def test_what_was_found_and_repeated_is_not_learnt_again(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            owner = f"shop:{user}"
            known = await state_fact(client, owner)
            memory = ImprintMemoryService(client)
            found = await memory.search_memory(app_name="shop", user_id=user, query=QUESTION)
            shown = found.memories[0].content
            assert shown.parts[0].text == FACT
            response = types.FunctionResponse(name="load_memory", response={"memories": [FACT]})
            events = [
                Event(id="e1", author="user", content=content(QUESTION)),
                Event(id="e2", author="agent", content=types.Content(parts=[types.Part(function_response=response)])),
                Event(id="e3", author="agent", content=content(ECHO)),
                Event(id="e4", author="agent", content=shown),
            ]
            await memory.add_session_to_memory(Session(id=user, app_name="shop", user_id=user, events=events))
            await assert_learnt_nothing(client, owner, f"shop:{user}", known)

    asyncio.run(run())
