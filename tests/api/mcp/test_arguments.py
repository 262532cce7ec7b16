"""Arguments of tools as clients and models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from api.mcp import arguments
from api.mcp.tool_schemas import SCHEMAS
from api.mcp.tools import TOOLS
from core.types import Json
from tests.api.mcp.asking import sent
from tests.doors import Doors
from tests.samples import said

ID = "01a2226d-0589-7058-bdd5-df2e99c7040e"

REQUIRED: Json = {
    "user_id": "ada",
    "query": "tea",
    "question": "What does Ada drink?",
    "content": "Ada likes tea.",
    "memory_id": ID,
    "session_id": "s1",
    "message_id": "m1",
    "event_type": "order.placed",
    "source": "bot",
    "name": "Evelyn",
    "names": ["Evelyn", "my mother"],
}


def validated(tool: str, **given: Any) -> Any:
    return arguments.validated(TOOLS[tool].takes, SCHEMAS[tool], given)


def needed(tool: str) -> Json:
    return {name: REQUIRED[name] for name in SCHEMAS[tool].get("required", ())}


def refused(tool: str, **given: Any) -> list[tuple[Any, ...]]:
    with pytest.raises(ValidationError) as error:
        validated(tool, **given)
    return [fault["loc"] for fault in error.value.errors()]


OPTIONAL = [
    (tool, name)
    for tool, schema in SCHEMAS.items()
    for name in schema["properties"]
    if name not in schema.get("required", ())
]


@pytest.mark.parametrize(("tool", "name"), OPTIONAL)
@pytest.mark.parametrize("nothing", [None, "", "null"])
def test_nothing_is_taken_as_nothing_for_every_optional_argument(tool: str, name: str, nothing: object) -> None:
    if name in arguments.RESTRICTIONS and nothing == "":
        assert refused(tool, **needed(tool), **{name: nothing}) == [(name,)]
        return
    left_out, given = validated(tool, **needed(tool)), validated(tool, **needed(tool), **{name: nothing})
    value, default = (model.model_dump(by_alias=True)[name] for model in (given, left_out))
    assert value in (nothing, None) or value == default


STRUCTURED = [
    (tool, name, kind["type"])
    for tool, schema in SCHEMAS.items()
    for name, described in schema["properties"].items()
    for kind in [described, *described.get("anyOf", ())]
    if kind.get("type") in {"array", "object"}
]


def test_the_table_has_arguments_of_both_kinds() -> None:
    assert {kind for _, _, kind in STRUCTURED} == {"array", "object"}
    assert ("memory_add", "tags", "array") in STRUCTURED
    assert ("event_publish", "payload", "object") in STRUCTURED


@pytest.mark.parametrize(("tool", "name", "kind"), STRUCTURED)
def test_a_list_or_object_may_come_as_a_text_of_json(tool: str, name: str, kind: str) -> None:
    empty = "[]" if kind == "array" else "{}"
    try:
        direct = validated(tool, **(needed(tool) | {name: json.loads(empty)}))
    except ValidationError as error:
        pointers = [fault["loc"] for fault in error.errors()]
        assert refused(tool, **(needed(tool) | {name: empty})) == pointers
    else:
        assert validated(tool, **(needed(tool) | {name: empty})) == direct


def test_texts_of_json_are_read_at_every_level() -> None:
    adding = validated("memory_add", **needed("memory_add"), tags='["pets", "home"]', structured='{"pet": "cat"}')
    assert (adding.tags, adding.structured) == (["pets", "home"], {"pet": "cat"})
    search = validated("memory_search", **needed("memory_search"), time='{"from": "2026-01-01T00:00:00Z", "to": ""}')
    assert search.time.to is None


def test_a_valid_text_stays_as_it_is_whatever_it_looks_like() -> None:
    adding = validated("memory_add", user_id="ada", content='["not", "a", "list"]')
    assert adding.content == '["not", "a", "list"]'


def test_a_required_argument_is_never_taken_as_nothing() -> None:
    assert refused("memory_add", user_id="ada", content="") == [("content",)]
    assert refused("memory_add", user_id=None, content="x") == [("user_id",)]


def test_a_word_in_place_of_a_list_is_answered_with_an_example(door: Doors) -> None:
    result = sent(door, "memory_add", user_id="ada", content="Ada likes tea.", tags="pets")
    (fault,) = result["structuredContent"]["errors"]
    assert fault == {"pointer": "/tags", "detail": 'must be a list, such as ["travel", "food"]'}


def test_an_unknown_argument_is_a_fault_even_where_it_says_nothing(door: Doors) -> None:
    result = sent(door, "memory_search", user_id="ada", query="x", colour=None)
    assert [fault["pointer"] for fault in result["structuredContent"]["errors"]] == ["/colour"]


def test_an_event_may_have_its_payload_as_a_text_of_json(door: Doors) -> None:
    event = said("", message_id="m1")
    payload = {**event["payload"], "content": [{"type": "text", "text": "I live in Porto."}]}
    result = sent(door, "event_publish", **{**event, "payload": json.dumps(payload)}, correlation_id="", subject=None)
    assert not result["isError"], result
    messages = door.get("/v1/sessions/s1/messages").json()["items"]
    assert [message["content"] for message in messages] == ["I live in Porto."]


def test_several_faults_of_one_value_are_repaired_once() -> None:
    search = validated("memory_search", **needed("memory_search"), time={"from": "", "to": ""}, tags="")
    assert (search.time.to, search.tags) == (None, validated("memory_search", **needed("memory_search")).tags)
