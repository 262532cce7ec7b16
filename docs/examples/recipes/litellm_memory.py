"""Memory for every model behind a LiteLLM proxy: `litellm_settings: {callbacks: litellm_memory.memory}`.

IMPRINT_URL and IMPRINT_API_KEY name the service. The user is the `user` of a request, or else that of its key; the
conversation is `metadata.session_id`, or else all that the user says.
"""

from __future__ import annotations

from typing import Any

from imprint_client import AsyncImprint
from imprint_client.adapters import turns
from litellm.integrations.custom_logger import CustomLogger

CHATS = ("completion", "acompletion")
MAX_TOKENS = 2_000


class ImprintMemory(CustomLogger):
    """Shows the model what is known of a user, and records what the two said."""

    def __init__(self, client: AsyncImprint | None = None) -> None:
        super().__init__()
        self.client = client or AsyncImprint(source="litellm")

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Insert what is known before the question; a request that goes on with a tool's result has none."""
        messages = data.get("messages") or []
        user_id = data.get("user") or user_api_key_dict.user_id
        if call_type not in CHATS or not user_id or not messages or messages[-1].get("role") != "user":
            return data
        metadata = data.setdefault("metadata", {})
        asked = {"user_id": user_id, "session_id": metadata.get("session_id") or f"litellm:{user_id}"}
        metadata["imprint"] = {**asked, "question": text_of(messages[-1]["content"])}
        known = await turns.recall(self.client.session(**asked), metadata["imprint"]["question"], MAX_TOKENS)
        if known.text:
            data["messages"] = [*messages[:-1], {"role": "system", "content": known.text}, messages[-1]]
        return data

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Record the question as the user asked it, and the answer."""
        asked = ((kwargs.get("litellm_params") or {}).get("metadata") or {}).get("imprint")
        if asked:
            answer = response_obj.choices[0].message.content or ""
            session = self.client.session(user_id=asked["user_id"], session_id=asked["session_id"])
            await turns.record(session, response_obj.id, [("user", asked["question"]), ("assistant", answer)])


def text_of(content: str | list[dict[str, Any]]) -> str:
    """Return the text of a message, without its pictures."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if part.get("type") == "text")


memory = ImprintMemory()
