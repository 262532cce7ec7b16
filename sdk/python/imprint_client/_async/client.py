"""The client."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any
from urllib.parse import quote

import httpx

from imprint_client._async.session import AsyncSession
from imprint_client.errors import error_of
from imprint_client.position import LastPosition
from imprint_client.retrying import PASSING, Retries

Json = dict[str, Any]


class AsyncImprint:
    """A connection to the service; `url` and `key` default to IMPRINT_URL and IMPRINT_API_KEY.

    What it has written, its later searches show, also where a replica answers.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        source: str = "imprint-client",
        timeout: float = 30.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        base = url or os.environ.get("IMPRINT_URL", "http://127.0.0.1:8070")
        secret = key or os.environ.get("IMPRINT_API_KEY", "")
        self.source = source
        self.retries = retries or Retries()
        self._position = LastPosition()
        self._http = httpx.AsyncClient(
            base_url=base, headers={"Authorization": f"Bearer {secret}"}, timeout=timeout, transport=transport
        )

    async def __aenter__(self) -> AsyncImprint:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def request(
        self, method: str, path: str, *, repeatable: bool = True, headers: Mapping[str, str] | None = None, **more: Any
    ) -> Any:
        """Send a request and return the JSON of its answer.

        Refusals that pass are repeated; lost connections only if the request may arrive twice (`repeatable`).
        """
        attempt = 0
        while True:
            answer: httpx.Response | None = None
            try:
                sent = httpx.Headers(self._position.headers)
                sent.update(headers)
                answer = await self._http.request(method, path, headers=sent, **more)
                self._position.note(sent, answer.headers)
            except httpx.TransportError as error:
                certain = repeatable or isinstance(error, httpx.ConnectError)
                if not certain or attempt + 1 >= self.retries.attempts:
                    raise
            if answer is not None:
                if answer.is_success:
                    return answer.json() if answer.content else None
                passing = answer.status_code in PASSING and (repeatable or answer.status_code in (429, 503))
                if not passing or attempt + 1 >= self.retries.attempts:
                    raise error_of(answer)
            await asyncio.sleep(self.retries.pause(attempt, answer))
            attempt += 1

    def session(
        self, *, user_id: str, session_id: str | None = None, group_id: str | None = None, agent_id: str | None = None
    ) -> AsyncSession:
        """Return a conversation; its end is published when the `with` block is left."""
        identifier = session_id or str(uuid.uuid4())
        return AsyncSession(self, identifier, user_id=user_id, group_id=group_id, agent_id=agent_id)

    async def publish(self, events: Sequence[Json]) -> Json:
        """Publish events. Each has an id before it is sent, so that a repeated request changes nothing."""
        batch = [{"id": str(uuid.uuid4()), "source": self.source, **event} for event in events]
        answer: Json = await self.request("POST", "/v1/events", json=batch)
        return answer

    async def settle(self, token: str, *, timeout: float = 20.0, flush: bool = False) -> bool:
        """Wait until everything up to the token, and what follows from it, has ended; whether it has."""
        asked = {"token": token, "timeout": timeout, "flush": flush}
        answer = await self.request("GET", "/v1/settle", params=asked, timeout=timeout + 10)
        return bool(answer["settled"])

    async def search(self, query: str, *, user_id: str | None = None, **fields: Any) -> list[Json]:
        """Search memories, messages and documents; `fields` are those of `POST /v1/search`."""
        asked = _given({"query": query, "user_id": user_id, **fields})
        answer = await self.request("POST", "/v1/search", json=asked)
        found: list[Json] = answer["results"]
        return found

    async def answer(self, question: str, *, user_id: str | None = None, **fields: Any) -> Json:
        """Answer a question; `answer` is None if nothing tells it. `fields` are those of `POST /v1/answer`."""
        asked = _given({"question": question, "user_id": user_id, **fields})
        answer: Json = await self.request("POST", "/v1/answer", json=asked)
        return answer

    async def about(self, name: str, *, user_id: str, **fields: Any) -> Json:
        """Return all that is remembered of somebody, by a name or a role such as "my mother"; the latest first."""
        answer: Json = await self.request(
            "GET", "/v1/entities/about", params=_given({"name": name, "user_id": user_id, **fields})
        )
        return answer

    async def merge_names(self, *names: str, user_id: str) -> Json:
        """Decide that several names are one person's, and return them."""
        body = {"user_id": user_id, "names": list(names)}
        answer: Json = await self.request("POST", "/v1/entities/merge", json=body)
        return answer

    async def context(self, *, user_id: str | None = None, **fields: Any) -> Json:
        """Assemble what a model should read; `fields` are those of `POST /v1/context`."""
        answer: Json = await self.request("POST", "/v1/context", json=_given({"user_id": user_id, **fields}))
        return answer

    async def remember(self, content: str, *, user_id: str, **fields: Any) -> Json:
        """State a memory; the answer has the memory, or the reason why it was not stored."""
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        stated = {"user_id": user_id, "content": content, **fields}
        answer: Json = await self.request("POST", "/v1/memories", json=stated, headers=headers)
        return answer

    async def memory(self, memory_id: str) -> Json:
        """Return a memory."""
        answer: Json = await self.request("GET", f"/v1/memories/{quote(memory_id, safe='')}")
        return answer

    async def memories(self, **filters: Any) -> list[Json]:
        """List one page of memories; `filters` are those of `GET /v1/memories`, with fields as dictionaries."""
        written = {name: json.dumps(value) if isinstance(value, dict) else value for name, value in filters.items()}
        answer = await self.request("GET", "/v1/memories", params=_given(written))
        found: list[Json] = answer["items"]
        return found

    async def forget(self, memory_id: str) -> None:
        """Erase a memory."""
        await self.request("DELETE", f"/v1/memories/{quote(memory_id, safe='')}")

    async def save_document(self, content: str, **fields: Any) -> Json:
        """Store a document; one with the same `uri` and owner is replaced."""
        body = _given({"content": content, **fields})
        answer: Json = await self.request("POST", "/v1/documents", json=body, repeatable="uri" in body)
        return answer

    async def documents(self, **filters: Any) -> list[Json]:
        """List all documents that `user_id`, `group_id` and `uri` select, newest first."""
        found: list[Json] = []
        asked = {"limit": 200, **_given(filters)}
        while True:
            page = await self.request("GET", "/v1/documents", params=asked)
            found += page["items"]
            if page["next"] is None:
                return found
            asked["after"] = page["next"]

    async def document(self, document_id: str) -> Json:
        """Return a document with its content."""
        answer: Json = await self.request("GET", f"/v1/documents/{quote(document_id, safe='')}")
        return answer

    async def delete_document(self, document_id: str) -> None:
        """Erase a document."""
        await self.request("DELETE", f"/v1/documents/{quote(document_id, safe='')}")


def _given(fields: Mapping[str, Any]) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
