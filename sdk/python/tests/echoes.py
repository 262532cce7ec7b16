"""Whether a memory that a model was shown, and has repeated, is still the only one, unchanged."""

from __future__ import annotations

from typing import Any

from imprint_client import AsyncImprint

FACT = "Ada keeps her passport in the blue drawer."
QUESTION = "Where is my passport?"
ECHO = "You keep your passport in the blue drawer."


async def state_fact(client: AsyncImprint, user_id: str) -> dict[str, Any]:
    """Store the fact and return its memory."""
    stated = await client.remember(FACT, user_id=user_id)
    memory: dict[str, Any] = stated["memory"]
    return memory


async def assert_learnt_nothing(client: AsyncImprint, user_id: str, session_id: str, known: dict[str, Any]) -> None:
    """Assert that the service has read the conversation, and still knows this memory alone, in its first version.

    The episode that tells that there was a conversation is no statement about the user.
    """
    session = client.session(user_id=user_id, session_id=session_id)
    await session.end()
    assert await session.settle(timeout=60, flush=True)
    found = await client.memories(user_id=user_id, include_archived=True)
    learnt = [(one["id"], one["version"], one["content"]) for one in found if one["category"] != "episode"]
    assert learnt == [(known["id"], 1, FACT)]
