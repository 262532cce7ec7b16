"""A memory block for LlamaIndex: what is known of the user, beside the conversation that LlamaIndex keeps.

LlamaIndex hands a block the messages that leave its short-term memory; those are recorded.
"""

import uuid
from collections import defaultdict
from typing import Any

from imprint_client import AsyncImprint, AsyncSession
from imprint_client.adapters import turns
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import BaseMemoryBlock


class ImprintBlock(BaseMemoryBlock[str]):
    """Memory of one user."""

    name: str = "imprint"
    client: AsyncImprint
    user_id: str
    max_tokens: int = 2_000

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return what is known for the newest words of the user."""
        asked = [one.content or "" for one in messages or [] if one.role == "user"]
        session = self._session(block_kwargs.get("session_id"))
        return (await turns.recall(session, asked[-1] if asked else "", self.max_tokens)).text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Record messages that leave the short-term memory."""
        said = defaultdict(list)
        for one in messages:
            if one.role in ("user", "assistant"):
                said[one.additional_kwargs.get("session_id")].append((one.role.value, one.content or ""))
        for session_id, texts in said.items():
            await turns.record(self._session(session_id), str(uuid.uuid4()), texts)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Leave the whole out, as it is cut already: `max_tokens` says where."""
        return None

    def _session(self, session_id: str | None) -> AsyncSession:
        return self.client.session(user_id=self.user_id, session_id=session_id)
