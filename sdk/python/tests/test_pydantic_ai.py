"""Pydantic AI: the capability does what the framework expects, against a running stack."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing, state_fact
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from imprint_client import AsyncImprint, Retries
from imprint_client.adapters.pydantic_ai import ImprintMemory


@dataclass
class Deps:
    user_id: str


def dumped(messages: list[ModelMessage]) -> str:
    return ModelMessagesTypeAdapter.dump_json(messages).decode()


def test_the_model_is_shown_what_is_known_and_a_run_is_recorded_without_it(service: tuple[str, str], user: str) -> None:
    requests: list[str] = []

    def model(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        requests.append(dumped(messages))
        if len(requests) == 1:
            return ModelResponse([ToolCallPart("look", {})])
        return ModelResponse([TextPart(ECHO)])

    async def run() -> None:
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            agent = Agent(FunctionModel(model), deps_type=Deps, capabilities=[ImprintMemory(client, user_of)])

            @agent.tool_plain
            def look() -> str:
                return "Nothing here."

            result = await agent.run(QUESTION, deps=Deps(user), conversation_id=f"s-{user}")
            assert result.output == ECHO
            assert len(requests) == 2
            assert all(text.count(FACT) == 1 for text in requests)
            assert FACT not in dumped(result.all_messages())
            await agent.run("Which drawer?", deps=Deps(user), message_history=result.all_messages())
            assert requests[-1].count(FACT) == 1

            messages = await client.session(user_id=user, session_id=f"s-{user}").messages()
            assert [(one["role"], one["content"]) for one in messages] == [
                *(("user", QUESTION), ("assistant", ECHO)),
                *(("user", "Which drawer?"), ("assistant", ECHO)),
            ]
            await assert_learnt_nothing(client, user, f"s-{user}", known)

    asyncio.run(run())


def test_a_user_of_whom_nothing_is_known_changes_no_request(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            agent = Agent(TestModel(custom_output_text="Hello."), capabilities=[ImprintMemory(client, user)])
            result = await agent.run(["Hello", "there"])
            (request, _) = result.all_messages()
            assert [part.part_kind for part in request.parts] == ["user-prompt"]
            async with agent.run_stream("I live in Lisbon.", message_history=result.all_messages()) as streamed:
                assert await streamed.get_output() == "Hello."
            found = await client.search("Lisbon", user_id=user, include=["messages"])
            assert found[0]["content"] == "I live in Lisbon."

    asyncio.run(run())


def test_an_agent_goes_on_without_its_memory(user: str) -> None:
    async def run() -> None:
        async with AsyncImprint("http://127.0.0.1:9", "key", retries=Retries(attempts=1)) as client:
            agent = Agent(TestModel(custom_output_text="Hello."), capabilities=[ImprintMemory(client, user)])
            assert (await agent.run("Hello")).output == "Hello."

    asyncio.run(run())


def user_of(ctx: RunContext[Deps]) -> str:
    return ctx.deps.user_id
