from __future__ import annotations

import json

from jsonschema import Draft202012Validator

from api.mcp.tools import TOOLS
from tests.api.mcp.asking import BAD, NOBODY, Agent
from tests.doors import Doors


def test_the_tools_say_what_they_take_and_what_they_do(agent: Agent) -> None:
    listed = agent.listed()
    assert list(listed) == [
        *("memory_search", "memory_answer", "memory_add", "memory_update", "memory_list", "memory_undo"),
        *("memory_forget", "memory_forget_undo", "memory_why", "memory_about", "memory_merge_names"),
        *("context_build", "message_hide", "message_restore", "event_publish"),
    ]
    hints = {name: tool.annotations for name, tool in listed.items() if tool.annotations is not None}
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {
        *("memory_search", "memory_answer", "memory_list", "memory_why", "memory_about", "context_build")
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"memory_forget"}
    assert {name for name, hint in hints.items() if not hint.idempotent_hint} == {
        *("memory_add", "event_publish", "memory_forget_undo", "memory_undo")
    }
    for name, tool in listed.items():
        schema = tool.input_schema
        Draft202012Validator.check_schema(schema)
        assert "$ref" not in json.dumps(schema)
        taken = {field.alias or key for key, field in TOOLS[name].takes.model_fields.items()}
        assert set(schema["properties"]) == taken
        assert schema["additionalProperties"] is False
        assert len(tool.description or "") > 50


def test_the_arguments_are_those_of_the_http_door(door: Doors) -> None:
    paths = {"memory_search": "/v1/search", "memory_add": "/v1/memories", "context_build": "/v1/context"}
    document = door.get("/openapi.json").json()
    for tool, path in paths.items():
        body = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        model = document["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        assert set(model["properties"]) == {*TOOLS[tool].takes.model_fields} - {"idempotency_key"}


def test_the_schemas_take_what_the_tools_take(agent: Agent) -> None:
    listed = agent.listed()
    for tool, arguments, status, pointers in BAD:
        fits = Draft202012Validator(listed[tool].input_schema).is_valid(arguments)
        assert fits or status == 422, (tool, arguments, pointers)
    cleared = {"memory_id": NOBODY, "valid_to": None, "structured": {"a": None}}
    assert Draft202012Validator(listed["memory_update"].input_schema).is_valid(cleared)
