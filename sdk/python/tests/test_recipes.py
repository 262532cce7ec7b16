"""The recipes of docs/rules.md, each with its framework and a running stack."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import importlib.util
import inspect
import json
import os
import subprocess
import time
import uuid
from pathlib import Path
from types import ModuleType
from typing import Any

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # Else the import of LiteLLM asks for a table on the network.

import httpx
import litellm
import pytest
from echoes import ECHO, FACT, QUESTION, assert_learnt_nothing, state_fact
from litellm.caching.caching import DualCache
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from imprint_client import AsyncImprint, SignatureError, webhooks

Json = dict[str, Any]

RECIPES = Path(__file__).parents[3] / "docs/examples/recipes"
SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef0123456789abcdef").decode()


def recipe(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, RECIPES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def assert_recorded(client: AsyncImprint, user: str, session_id: str, *said: tuple[str, str]) -> None:
    messages = await client.session(user_id=user, session_id=session_id).messages()
    assert [(one["role"], one["content"]) for one in messages] == list(said)


TURN = (("user", QUESTION), ("assistant", ECHO))


def test_litellm_shows_what_is_known_and_records_the_turn_without_it(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            memory = recipe("litellm_memory").ImprintMemory(client)
            litellm.callbacks = [memory]
            proxy = ProxyLogging(user_api_key_cache=DualCache())
            sent: Json = {"model": "openai/local", "messages": [{"role": "user", "content": QUESTION}], "user": user}
            sent["metadata"] = {"session_id": f"s-{user}"}
            data = await proxy.pre_call_hook(UserAPIKeyAuth(api_key="sk-x"), sent, "acompletion")
            assert [one["role"] for one in data["messages"]] == ["system", "user"]
            assert FACT in data["messages"][0]["content"]
            answer = await litellm.acompletion(**data, mock_response=ECHO)
            assert answer.choices[0].message.content == ECHO
            session = client.session(user_id=user, session_id=f"s-{user}")
            for _ in range(100):  # LiteLLM calls back in a task of its own.
                await asyncio.sleep(0.1)
                if await client.search(ECHO, user_id=user, include=["messages"], session_id=session.id):
                    break
            await assert_recorded(client, user, f"s-{user}", *TURN)
            await assert_learnt_nothing(client, user, f"s-{user}", known)

            other = {**sent, "messages": [{"role": "tool", "tool_call_id": "t", "content": QUESTION}], "metadata": {}}
            assert await proxy.pre_call_hook(UserAPIKeyAuth(api_key="sk-x"), other, "acompletion") == other

    asyncio.run(run())
    litellm.callbacks = []


def test_open_webui_reads_what_to_install_for_the_filter() -> None:
    lines = (RECIPES / "open_webui_filter.py").read_text().splitlines()
    assert lines[0] == '"""'  # Open WebUI reads no front matter that begins in this line.
    front = dict(line.split(": ", 1) for line in lines[1 : lines.index('"""', 1)])
    assert front["requirements"] == "imprint-client"
    assert {"title", "description", "version"} <= set(front)


def called(function: Any, **offered: Any) -> Any:
    """Call a function of a filter with the arguments that it names, as Open WebUI does."""
    named = inspect.signature(function).parameters
    return function(**{name: value for name, value in offered.items() if name in named})


def test_open_webui_shows_what_is_known_and_records_the_turn_without_it(service: tuple[str, str], user: str) -> None:
    async def run() -> None:
        loaded = recipe("open_webui_filter").Filter()
        loaded.valves = type(loaded.valves)(url=service[0], key=service[1])
        chat_id = f"s-{user}"
        person = {"id": user, "name": "Ada", "email": "ada@example.com", "role": "user"}
        offered = {"__user__": person, "__metadata__": {"chat_id": chat_id}, "__model__": {}, "__event_emitter__": None}
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            body: Json = {"model": "local", "messages": [{"role": "user", "content": QUESTION}], "stream": True}
            shown = await called(loaded.inlet, body=json.loads(json.dumps(body)), **offered)
            assert [one["role"] for one in shown["messages"]] == ["system", "user"]
            assert FACT in shown["messages"][0]["content"]
            assert shown["messages"][1] == body["messages"][0]
            offered["__task__"] = "title_generation"
            titled = await called(loaded.inlet, body=json.loads(json.dumps(body)), **offered)
            assert titled == body

            asked = {"id": "m1", "role": "user", "content": [{"type": "text", "text": QUESTION}]}
            done: Json = {"model": "local", "chat_id": chat_id, "id": "m2"}
            done["messages"] = [asked, {"id": "m2", "role": "assistant", "content": ECHO}]
            assert await called(loaded.outlet, body=done, **offered) == done
            assert await called(loaded.outlet, body=done, **offered) == done
            await assert_recorded(client, user, chat_id, *TURN)
            await assert_learnt_nothing(client, user, chat_id, known)

    asyncio.run(run())


def test_llama_index_shows_what_is_known_and_records_what_leaves_the_short_term_memory(
    service: tuple[str, str], user: str
) -> None:
    async def run() -> None:
        async with AsyncImprint(*service) as client:
            known = await state_fact(client, user)
            block = recipe("llama_index_block").ImprintBlock(client=client, user_id=user)
            memory = Memory.from_defaults(
                session_id=f"s-{user}",
                memory_blocks=[block],
                token_limit=400,
                chat_history_token_ratio=0.1,
                token_flush_size=1,
                tokenizer_fn=str.split,
            )
            await memory.aput(ChatMessage(role="user", content=QUESTION))
            shown = await memory.aget()
            assert sum(FACT in (one.content or "") for one in shown) == 1
            await memory.aput(ChatMessage(role="assistant", content=ECHO))
            await memory.aput_messages([ChatMessage(role="user", content="word " * 60)])
            messages = await client.session(user_id=user, session_id=f"s-{user}").messages()
            assert [(one["role"], one["content"]) for one in messages][:2] == list(TURN)
            await assert_learnt_nothing(client, user, f"s-{user}", known)

    asyncio.run(run())


# n8n


def flow() -> Json:
    content: Json = json.loads((RECIPES / "n8n.json").read_text())
    return content


def node(name: str) -> Json:
    return next(one for one in flow()["nodes"] if one["name"] == name)


def evaluated(scope: Json, **source: str) -> Any:
    """Return what n8n makes of an `expression` or of the `code` of a node."""
    asked = json.dumps({**source, "scope": scope})
    program = ["node", str(Path(__file__).with_name("n8n.mjs"))]
    done = subprocess.run(program, input=asked, capture_output=True, text=True, check=True, timeout=30)
    return json.loads(done.stdout)


def sent(one: Json, scope: Json, key: str) -> Json:
    """Send the request of an HTTP node, and return its answer."""
    said = one["parameters"]
    url = evaluated(scope, expression=said["url"])
    body = evaluated(scope, expression=said["jsonBody"])
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    answer = httpx.request(said["method"], url, content=body, headers=headers)
    assert answer.is_success, answer.text
    found: Json = answer.json()
    return found


def test_the_workflow_of_n8n_has_the_form_of_one() -> None:
    workflow = flow()
    assert set(workflow) >= {"name", "nodes", "connections", "settings", "pinData"}
    names = [one["name"] for one in workflow["nodes"]]
    assert len(set(names)) == len(names)
    assert len({one["id"] for one in workflow["nodes"]}) == len(names)
    for one in workflow["nodes"]:
        assert {"parameters", "id", "name", "type", "typeVersion", "position"} <= set(one)
        uuid.UUID(one["id"])
        assert one["type"].removeprefix("n8n-nodes-base.") in {
            *("webhook", "httpRequest", "code", "if", "respondToWebhook"),
        }
        if one["type"].endswith("httpRequest"):
            assert one["parameters"]["specifyBody"] == "json"
            assert one["parameters"]["genericAuthType"] in one["credentials"]
            assert "Bearer" not in json.dumps(one)
    linked = {
        start: [to["node"] for way in ways["main"] for to in way] for start, ways in workflow["connections"].items()
    }
    assert {*linked, *(to for ends in linked.values() for to in ends)} == set(names)


def test_the_requests_of_n8n_are_those_of_the_service(service: tuple[str, str], user: str) -> None:
    url, key = service
    message = f'{QUESTION} "Please", it\'s \\urgent\n{{ }}'
    scope: Json = {"env": {"IMPRINT_URL": url}, "execution": uuid.uuid4().hex}
    chat = {"body": {"user_id": user, "session_id": f"s-{user}", "message": message}}

    async def state() -> Json:
        async with AsyncImprint(*service) as client:
            return await state_fact(client, user)

    known = asyncio.run(state())
    requests = [one["name"] for one in flow()["nodes"] if one["type"].endswith("httpRequest")]
    assert requests == ["What is known", "Record the turn"]
    context = sent(node("What is known"), {**scope, "json": chat}, key)
    assert FACT in context["text"]
    scope["nodes"] = {"Chat": chat}
    model = evaluated({**scope, "json": context}, code=node("Your model")["parameters"]["jsCode"])["json"]
    model["answer"] = ECHO
    for duplicates in (0, 2):
        accepted = sent(node("Record the turn"), {**scope, "json": model}, key)
        assert accepted["duplicates"] == duplicates
    scope["nodes"]["Your model"] = model
    assert evaluated(scope, expression=node("Answer")["parameters"]["responseBody"]) == json.dumps(
        {"answer": ECHO}, separators=(",", ":")
    )

    async def read() -> None:
        async with AsyncImprint(*service) as client:
            await assert_recorded(client, user, f"s-{user}", ("user", message), ("assistant", ECHO))
            await assert_learnt_nothing(client, user, f"s-{user}", known)

    asyncio.run(read())


def signed(body: bytes, identifier: str, stamp: int, secret: str = SECRET) -> dict[str, str]:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{identifier}.{stamp}.".encode() + body
    signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return {"webhook-id": identifier, "webhook-timestamp": str(stamp), "webhook-signature": f"v1,{signature}"}


@pytest.mark.parametrize(
    ("change", "valid"),
    [
        ({}, True),
        ({"secret": f"whsec_{base64.b64encode(b'other').decode()} {SECRET}"}, True),
        ({"body": b'{"a": 2}'}, False),
        ({"tenant": "another"}, False),
        ({"headers": {"webhook-timestamp": str(int(time.time()) + 1)}}, False),
        ({"headers": {"webhook-signature": "v1,AAAA"}}, False),
        ({"headers": {"webhook-signature": ""}}, False),
        ({"stamp": int(time.time()) - 400}, False),
    ],
)
def test_n8n_takes_what_the_client_takes_for_signed(change: Json, valid: bool) -> None:
    body = b'{"a": "\xc3\xbc"}'
    headers = signed(body, "default:d1", change.get("stamp", int(time.time()))) | change.get("headers", {})
    got, secret, tenant = change.get("body", body), change.get("secret", SECRET), change.get("tenant", "default")
    scope = {"json": {"headers": headers}, "env": {"IMPRINT_SIGNING_SECRET": secret, "IMPRINT_TENANT": tenant}}
    scope["binary"] = base64.b64encode(got).decode()
    answer = evaluated(scope, code=node("Check the signature")["parameters"]["jsCode"])["json"]
    assert answer["valid"] is valid
    assert answer["event"] == (json.loads(body) if valid else None)
    condition = node("Is it signed?")["parameters"]["conditions"]["conditions"][0]["leftValue"]
    assert evaluated({"json": answer}, expression=condition) is valid
    try:
        webhooks.verify(got, headers, secret, tenant=tenant)
        accepted = True
    except SignatureError:
        accepted = False
    assert accepted is valid
