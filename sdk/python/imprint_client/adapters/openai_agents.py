"""A session for the OpenAI Agents SDK: the items of a conversation, from which the service learns.

Each item is a message whose metadata holds its JSON. What the user and the assistant say is the message's text; the
text of other items is empty of meaning for memory, and they have the role `tool`.
"""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from imprint_client import AsyncImprint, ImprintError

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.memory import SessionSettings

MOST = 500
"""Messages that one request returns; a session returns at most so many items."""

AT_ONCE = 16
NOT_FOUND = 404


class ImprintSession:
    """The conversation `session_id` of a user."""

    session_settings: SessionSettings | None = None

    def __init__(self, client: AsyncImprint, session_id: str, *, user_id: str) -> None:
        self.session_id = session_id
        self._client = client
        self._session = client.session(user_id=user_id, session_id=session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the newest items, oldest first."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        shown = await self._shown()
        chosen = shown if limit is None else shown[-limit:] if limit > 0 else []
        gate = asyncio.Semaphore(AT_ONCE)
        return list(await asyncio.gather(*(self._item(one["id"], gate) for one in chosen)))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items in their order, in one transaction."""
        await self._session.publish("message.added", [_message(cast("dict[str, Any]", item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Hide the newest item and return it; it stays in the log."""
        shown = await self._shown()
        if not shown:
            return None
        item = await self._item(shown[-1]["id"], asyncio.Semaphore(1))
        await self._client.request("POST", f"{self._path(shown[-1]['id'])}/hide")
        return item

    async def clear_session(self) -> None:
        """Erase the session; memories that were learnt from it stay."""
        try:
            await self._client.request("DELETE", self._session.path)
        except ImprintError as error:
            if error.status != NOT_FOUND:
                raise

    async def _shown(self) -> list[dict[str, Any]]:
        try:
            found = await self._session.messages(last=MOST)
        except ImprintError as error:
            if error.status != NOT_FOUND:
                raise
            return []
        return [one for one in found if not one["hidden"]]

    async def _item(self, message_id: str, gate: asyncio.Semaphore) -> TResponseInputItem:
        async with gate:
            message = await self._client.request("GET", self._path(message_id))
        kept = (message["extras"].get("metadata") or {}).get("item")
        item = {"role": message["role"], "content": message["content"]} if kept is None else json.loads(kept)
        return cast("TResponseInputItem", item)

    def _path(self, message_id: str) -> str:
        return f"{self._session.path}/messages/{quote(message_id, safe='')}"


def _message(item: dict[str, Any]) -> dict[str, Any]:
    role = item.get("role", "tool")
    role = "system" if role == "developer" else role
    content = _text(item.get("content")) if "role" in item else str(item.get("output", item.get("type", "")))
    kept = {"item": json.dumps(item, ensure_ascii=False)}
    return {"message_id": str(uuid.uuid4()), "role": role, "content": content, "metadata": kept}


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))
