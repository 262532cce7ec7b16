"""A context provider for Microsoft Agent Framework: what is known of the user comes in, each turn is recorded."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import httpx
from agent_framework import ContextProvider, Message

from imprint_client import AsyncImprint, AsyncSession, ImprintError
from imprint_client.adapters import turns

if TYPE_CHECKING:
    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

UserOf = Callable[["AgentSession"], str]

MOST = 200
"""Memories that one request reads."""


class ImprintContextProvider(ContextProvider):
    """Memory of the user of a session; `user_id` is a name, or what finds it in the session."""

    def __init__(
        self,
        client: AsyncImprint,
        *,
        user_id: str | UserOf,
        source_id: str = "imprint",
        max_tokens: int = 2_000,
    ) -> None:
        super().__init__(source_id)
        self._client = client
        self._user_id = user_id
        self._max_tokens = max_tokens

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - part of the interface
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002 - part of the interface
    ) -> None:
        """Add what is known for the input, and name the sessions that it comes from."""
        talk = self._session(session)
        question = "\n".join(text for role, text in _said(context.input_messages) if role == "user")
        recalled = await turns.recall(talk, question, self._max_tokens)
        if recalled.text:
            origins = await self._origins(recalled.sources, talk.id)
            context.extend_messages(self, [Message("user", [recalled.text])], origin_session_ids=origins or None)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002 - part of the interface
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002 - part of the interface
    ) -> None:
        """Record the input and the answer; nothing that a context provider has added."""
        answered = context.response.messages if context.response else []
        said = [*_said(context.input_messages), *_said(answered)]
        await turns.record(self._session(session), str(uuid.uuid4()), said)

    def _session(self, session: AgentSession) -> AsyncSession:
        user_id = self._user_id if isinstance(self._user_id, str) else self._user_id(session)
        return self._client.session(user_id=user_id, session_id=session.session_id)

    async def _origins(self, sources: Sequence[dict[str, Any]], own: str) -> list[str]:
        """Return the other sessions in which was said what the sources hold."""
        ids = [one["id"] for one in sources if one["type"] == "memory"]
        ids += [memory for one in sources if one["type"] == "profile" for memory in one.get("memories", [])]
        found = [one["session_id"] for one in sources if one["type"] == "message"]
        if ids:
            asked = {"ids": list(dict.fromkeys(ids))[:MOST]}
            try:
                answer = await self._client.request("POST", "/v1/memories/fetch", json=asked)
            except (ImprintError, httpx.TransportError) as error:
                turns.log.warning("The origin of memories is not known: %s", error)
            else:
                found += [cited["session_id"] for memory in answer["items"] for cited in memory["sources"]]
        return [one for one in dict.fromkeys(found) if one and one != own]


def _said(messages: Sequence[Message]) -> list[tuple[str, str]]:
    return [(str(one.role), one.text) for one in messages if one.role in ("user", "assistant")]
