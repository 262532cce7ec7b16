"""A memory service for Google ADK: sessions become messages, and searches return memories and messages."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from imprint_client import AsyncImprint

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

UNNAMED = "events"


class ImprintMemoryService(BaseMemoryService):
    """Memory of the users of an app; the user `ada` of the app `shop` is `shop:ada` to the service."""

    def __init__(self, client: AsyncImprint, *, limit: int = 10) -> None:
        self._client = client
        self._limit = limit

    async def add_session_to_memory(self, session: Session) -> None:
        """Publish the events of a session; those that are known already change nothing."""
        await self._publish(session.app_name, session.user_id, session.id, session.events)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - part of the interface
    ) -> None:
        """Publish further events of a session."""
        await self._publish(app_name, user_id, session_id or f"{user_id}:{UNNAMED}", events)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,  # noqa: ARG002 - part of the interface
    ) -> None:
        """State memories; each is judged against what is known."""
        for one in memories:
            text = _text(one.content)
            if text:
                await self._client.remember(text, user_id=_owner(app_name, user_id))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what is known for a question."""
        found = await self._client.search(query, user_id=_owner(app_name, user_id), limit=self._limit)
        return SearchMemoryResponse(memories=[_entry(one) for one in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Erase a memory of the user; the id of one memory is needed."""
        if memory_id is None:
            raise ValueError(f"Name a memory; all of {_owner(app_name, user_id)} is erased by DELETE /v1/users/{{id}}")
        known = await self._client.memory(memory_id)
        if known["user_id"] != _owner(app_name, user_id):
            raise ValueError("The memory belongs to another user")
        await self._client.forget(memory_id)

    async def _publish(self, app_name: str, user_id: str, session_id: str, events: Sequence[Event]) -> None:
        talk = self._client.session(user_id=_owner(app_name, user_id), session_id=f"{app_name}:{session_id}")
        messages = [_message(one, talk.id) for one in events if _text(one.content)]
        await talk.publish("message.added", messages)


def _owner(app_name: str, user_id: str) -> str:
    return f"{app_name}:{user_id}"


def _message(event: Event, session_id: str) -> dict[str, Any]:
    identifier = event.id or str(uuid.uuid5(uuid.NAMESPACE_OID, f"{session_id} {event.timestamp} {event.author}"))
    role = "user" if event.author == "user" else "assistant"
    return {"message_id": identifier, "role": role, "content": _text(event.content), "speaker": event.author or role}


def _text(content: types.Content | None) -> str:
    parts = content.parts if content and content.parts else []
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(result: dict[str, Any]) -> MemoryEntry:
    content = types.Content(role="user", parts=[types.Part(text=result["content"])])
    return MemoryEntry(content=content, id=result["id"], author=result["type"], timestamp=result["occurred_at"])
