"""A capability for Pydantic AI: the model is shown what is known of the user, and each run is recorded.

What is shown is part of the request alone. It is in no message history, so it is neither sent twice nor recorded.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import AgentRunResult, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextContent,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext

from imprint_client import AsyncImprint, AsyncSession
from imprint_client.adapters import turns

UserOf = Callable[[RunContext[Any]], str]


@dataclass
class ImprintMemory(AbstractCapability[Any]):
    """Memory of the user of a run; `user_id` is a name, or what finds it in the run's dependencies."""

    client: AsyncImprint
    user_id: str | UserOf
    max_tokens: int = 2_000
    _known: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    async def for_run(self, ctx: RunContext[Any]) -> ImprintMemory:  # noqa: ARG002 - part of the interface
        """Return a copy: what is known for a question is kept for the run."""
        return replace(self)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Insert what is known before the newest words of the user."""
        messages = list(request_context.messages)
        place = next((at for at in reversed(range(len(messages))) if _asked(messages[at])), None)
        if place is None:
            return request_context
        question = _asked(messages[place])
        if question not in self._known:
            recalled = await turns.recall(self._session(ctx), question, self.max_tokens)
            self._known[question] = recalled.text
        if not self._known[question]:
            return request_context
        request = messages[place]
        assert isinstance(request, ModelRequest)  # noqa: S101 - only requests have words of the user
        messages[place] = replace(request, parts=[SystemPromptPart(self._known[question]), *request.parts])
        return replace(request_context, messages=messages)

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Record what the user and the assistant said."""
        said = [words for message in result.new_messages() for words in _said(message)]
        await turns.record(self._session(ctx), ctx.run_id or str(uuid.uuid4()), said)
        return result

    def _session(self, ctx: RunContext[Any]) -> AsyncSession:
        user_id = self.user_id if isinstance(self.user_id, str) else self.user_id(ctx)
        return self.client.session(user_id=user_id, session_id=ctx.conversation_id)


def _asked(message: ModelMessage) -> str:
    return "\n".join(text for role, text in _said(message) if role == "user" and text.strip())


def _said(message: ModelMessage) -> list[tuple[str, str]]:
    """Return the words of the user or of the assistant in a message, each with its role."""
    if isinstance(message, ModelResponse):
        return [("assistant", "".join(part.content for part in message.parts if isinstance(part, TextPart)))]
    return [("user", _text(part.content)) for part in message.parts if isinstance(part, UserPromptPart)]


def _text(content: str | Sequence[UserContent]) -> str:
    if isinstance(content, str):
        return content
    texts = (one.content if isinstance(one, TextContent) else one for one in content)
    return "\n".join(one for one in texts if isinstance(one, str))
