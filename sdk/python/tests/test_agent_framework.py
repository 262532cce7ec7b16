"""Microsoft Agent Framework: the provider does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    Message,
    ResponseStream,
)
from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing, state_fact

from imprint_client import AsyncImprint, Retries
from imprint_client.adapters.agent_framework import ImprintContextProvider


class LocalClient(BaseChatClient):
    """A chat client that answers with one sentence and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[list[Message]] = []

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, **_more: Any) -> Any:
        self.asked.append(list(messages))
        if stream:
            return ResponseStream(self._updates(), finalizer=ChatResponse.from_updates)
        return self._answer()

    async def _answer(self) -> ChatResponse:
        return ChatResponse(messages=[Message("assistant", [ECHO])], response_id="r1")

    async def _updates(self) -> AsyncIterable[ChatResponseUpdate]:
        for word in ECHO.split(" "):
            text = word if word == ECHO.split(" ")[0] else f" {word}"
            yield ChatResponseUpdate(role="assistant", contents=[Content.from_text(text)])


def test_what_is_known_comes_with_its_origin_and_a_turn_is_recorded_without_it(
    service: tuple[str, str], user: str
) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            model = LocalClient()
            provider = ImprintContextProvider(client, user_id=lambda session: session.state["user"])
            agent = Agent(model, context_providers=[provider])
            session = AgentSession(session_id=f"s-{user}")
            session.state["user"] = user
            assert (await agent.run(QUESTION, session=session)).text == ECHO
            shown = [one for one in model.asked[0] if FACT in one.text]
            assert [one.role for one in shown] == ["user"]
            assert [one.text for one in model.asked[0]][-1] == QUESTION

            streamed = agent.run("Which drawer?", session=session, stream=True)
            assert "".join([update.text async for update in streamed]) == ECHO
            assert sum(FACT in one.text for one in model.asked[1]) == 1

            messages = await client.session(user_id=user, session_id=f"s-{user}").messages()
            assert [(one["role"], one["content"]) for one in messages] == [
                *(("user", QUESTION), ("assistant", ECHO)),
                *(("user", "Which drawer?"), ("assistant", ECHO)),
            ]
            await assert_learnt_nothing(client, user, f"s-{user}", known)

    asyncio.run(run())


def test_memories_of_other_sessions_name_those(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            earlier = client.session(user_id=user, session_id=f"old-{user}")
            await earlier.add("user", "I am allergic to peanuts.")
            await earlier.end()
            assert await earlier.settle(timeout=60, flush=True)
            model = LocalClient()
            agent = Agent(model, context_providers=[ImprintContextProvider(client, user_id=user)])
            await agent.run("May I eat peanuts?", session=AgentSession(session_id=f"s-{user}"))
            (shown,) = [one for one in model.asked[0] if "allergic" in one.text or "peanuts" in one.text][:1]
            origin = shown.additional_properties["_attribution"]
            assert origin["source_id"] == "imprint"
            assert origin["origin_session_ids"] == [f"old-{user}"]

    asyncio.run(run())


def test_an_agent_goes_on_without_its_memory(user: str) -> None:
    async def run() -> None:
        async with AsyncImprint("http://127.0.0.1:9", "key", retries=Retries(attempts=1)) as client:
            agent = Agent(LocalClient(), context_providers=[ImprintContextProvider(client, user_id=user)])
            assert (await agent.run("Hello")).text == ECHO

    asyncio.run(run())
