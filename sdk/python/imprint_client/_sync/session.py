# Generated from _async by sdk/python/generate.py; change it there.
"""A conversation."""

from __future__ import annotations

import uuid
from datetime import datetime, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from imprint_client._sync.client import Imprint

Json = dict[str, Any]


class Session:
    """A conversation of a user: messages in, contexts out."""

    def __init__(
        self, client: Imprint, session_id: str, *, user_id: str, group_id: str | None, agent_id: str | None
    ) -> None:
        self.id = session_id
        self.user_id = user_id
        self.group_id = group_id
        self.agent_id = agent_id
        self.settle_token: str | None = None
        self._client = client

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.settle_token is not None:
            self.end()

    @property
    def path(self) -> str:
        """The session's path in the API; slashes in its id stay."""
        return f"/v1/sessions/{quote(self.id)}"

    def add(self, role: str, text: str, **fields: Any) -> str:
        """Add a message and return its id; `fields` are further fields of `message.added`."""
        message = {"message_id": str(uuid.uuid4()), "role": role, "content": text, **fields}
        self.publish("message.added", [message])
        return str(message["message_id"])

    def publish(self, event_type: str, payloads: list[Json]) -> None:
        """Publish events of one type in this session, in one transaction."""
        if not payloads:
            return
        owner = {"session_id": self.id, "user_id": self.user_id, "group_id": self.group_id}
        named = {name: value for name, value in owner.items() if value is not None}
        if self.agent_id is not None and event_type == "message.added":
            named["agent_id"] = self.agent_id
        now = datetime.now(timezone.utc).isoformat()
        events = [{"event_type": event_type, "time": now, "payload": {**named, **one}} for one in payloads]
        answer = self._client.publish(events)
        self.settle_token = answer["settle_token"]

    def context(self, query: str | None = None, **fields: Any) -> Json:
        """Assemble what a model should read before it answers."""
        owner = {"user_id": self.user_id, "group_id": self.group_id, "session_id": self.id}
        return self._client.context(**owner, query=query, **fields)

    def search(self, query: str, **fields: Any) -> list[Json]:
        """Search what is known about the user, in all sessions."""
        return self._client.search(query, user_id=self.user_id, group_id=self.group_id, **fields)

    def messages(self, *, last: int = 100) -> list[Json]:
        """Return the newest messages, oldest first."""
        answer = self._client.request("GET", f"{self.path}/messages", params={"last": last})
        found: list[Json] = answer["items"]
        return found

    def settle(self, *, timeout: float = 20.0, flush: bool = False) -> bool:
        """Wait until what this session published, and what follows from it, has ended; whether it has."""
        if self.settle_token is None:
            return True
        return self._client.settle(self.settle_token, timeout=timeout, flush=flush)

    def end(self) -> None:
        """Publish the end of the conversation."""
        self.publish("session.ended", [{}])
