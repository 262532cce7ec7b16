"""
title: Imprint
description: Long-term memory for each user, in every model.
requirements: imprint-client
version: 0.1.0
"""

from typing import Any

from imprint_client import AsyncImprint, Retries
from imprint_client.adapters import turns
from pydantic import BaseModel, Field


class Filter:
    class Valves(BaseModel):
        url: str = Field("http://127.0.0.1:8070", description="Where Imprint answers")
        key: str = Field("", description="API key with the scopes read and publish")
        max_tokens: int = Field(2_000, description="Longest text that a model is shown")

    def __init__(self) -> None:
        self.valves = self.Valves()

    async def inlet(
        self,
        body: dict[str, Any],
        __user__: dict[str, Any],
        __metadata__: dict[str, Any] | None = None,
        __task__: str | None = None,
    ) -> dict[str, Any]:
        """Insert what is known before the question; not where Open WebUI asks for titles and tags."""
        messages = body.get("messages") or []
        if __task__ or not messages or messages[-1]["role"] != "user":
            return body
        chat_id = (__metadata__ or {}).get("chat_id")
        async with self._client() as client:
            session = client.session(user_id=__user__["id"], session_id=chat_id)
            known = await turns.recall(session, text_of(messages[-1]["content"]), self.valves.max_tokens)
        if known.text:
            body["messages"] = [*messages[:-1], {"role": "system", "content": known.text}, messages[-1]]
        return body

    async def outlet(self, body: dict[str, Any], __user__: dict[str, Any]) -> dict[str, Any]:
        """Record the last question and its answer."""
        said = [one for one in body.get("messages") or [] if one["role"] in ("user", "assistant")][-2:]
        async with self._client() as client:
            session = client.session(user_id=__user__["id"], session_id=body.get("chat_id"))
            turn_id = said[-1].get("id") or body.get("id") if said else None
            if turn_id:
                await turns.record(session, turn_id, [(one["role"], text_of(one["content"])) for one in said])
        return body

    def _client(self) -> AsyncImprint:
        return AsyncImprint(self.valves.url, self.valves.key, source="open-webui", retries=Retries(attempts=2))


def text_of(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a message, without its pictures."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")
