"""Google ADK: the adapter does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio

import pytest
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
