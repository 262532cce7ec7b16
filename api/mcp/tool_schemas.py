"""Tool definitions as a model sees them: arguments as JSON Schema, and hints about their effects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations

from api.http.memories.requests import Patch
from api.mcp.tools import TOOLS, Tool
from core.types import Json

WORDS: Final[Mapping[str, str]] = {
    "user_id": "Owner of the memory: the name under which your application knows the user",
    "group_id": "The group that shares the memory, if any",
    "session_id": "The conversation: the session id used when publishing its messages",
    "message_id": "Id of the message in the session",
    "query": "What to search for, in plain words, in any language",
    "limit": "Maximum number of results",
    "method": "hybrid: by words and meaning; keyword: only by words; vector: only by meaning",
    "include": "What to search",
    "tags": "Your own labels",
    "time": "When it happened",
    "min_similarity": "Minimum cosine similarity",
    "now": "Reference time of the question; default: now",
    "explain": "Explain the parts of each score",
    "content": "The statement, as one full sentence",
    "value": "Value of the slot, such as Lisbon",
    "importance": "From 0 to 1",
    "min_importance": "From 0 to 1",
    "confidence": "From 0 to 1",
    "pinned": "Keep it from fading",
    "expires_at": "When it stops being relevant",
    "half_life_days": "Half-life of its strength in days",
    "valid_from": "Start of its validity",
    "valid_to": "End of its validity",
    "structured": "Additional data as JSON",
    "evidence": "Stored messages that support it",
    "reason": "Reason, stored in the history",
    "id": "Id of the event; events with the same source and id count once; default: a new id",
    "event_type": "Type of the event, in the past tense, such as message.added",
    "source": "Publisher: the name of your agent",
    "subject": "Subject of the event",
    "payload": "Fields of the event, such as session_id, user_id, role and content of a message",
    "budget": "Shares of the token limit",
    "categories": "Only these",
    "kinds": "Only these",
    "topics": "Only these",
}
"""Descriptions of arguments whose models leave that to the documentation of the HTTP API."""


def list_entry(tool: Tool) -> Listed:
    """Return a tool as `tools/list` shows it."""
    return Listed(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=SCHEMAS[tool.name],
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.reads or tool.repeatable,
            open_world_hint=tool.reaches_out,
        ),
    )


def schema(tool: Tool) -> Json:
    """Return the arguments of a tool as one schema without references, because not every client resolves them."""
    whole = tool.takes.model_json_schema()
    plain: Json = _plain(whole, whole.get("$defs", {}))
    arguments = plain["properties"]
    if not issubclass(tool.takes, Patch):  # To an edit null says something: it takes a value away.
        arguments = {name: _without_null(argument) for name, argument in arguments.items()}
    descriptions = {name: {"description": WORDS[name]} if name in WORDS else {} for name in arguments}
    properties = {name: descriptions[name] | argument for name, argument in arguments.items()}
    return {"type": "object", "properties": properties} | {
        name: plain[name] for name in ("required", "additionalProperties") if name in plain
    }


def _without_null(argument: Json) -> Json:
    """Return the schema of an optional argument without null, which would mean the same as omitting it."""
    kinds: list[Json] = [kind for kind in argument.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return argument
    return kinds[0] | {name: value for name, value in argument.items() if name not in {"anyOf", "default"}}


def _plain(part: Any, defs: Mapping[str, Any]) -> Any:
    """Return part of a schema with references resolved, and without keywords that do not help a model."""
    if isinstance(part, list):
        return [_plain(item, defs) for item in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**defs[part["$ref"].removeprefix("#/$defs/")], **part}
    return {name: _within(name, value, defs) for name, value in part.items() if not _is_noise(name, value)}


def _within(name: str, value: Any, defs: Mapping[str, Any]) -> Any:
    """Return the value of a keyword with its subschemas inlined; names of properties are not keywords."""
    if name == "properties":
        return {key: _plain(part, defs) for key, part in value.items()}
    return value if name in {"default", "enum", "const", "required"} else _plain(value, defs)


def _is_noise(name: str, value: Any) -> bool:
    """Return whether a keyword does not help a model: titles repeat names, and control characters are checked later."""
    return name in {"title", "$defs", "$ref"} or (name == "pattern" and "\\x00" in value)


SCHEMAS: Final[Mapping[str, Json]] = {name: schema(tool) for name, tool in TOOLS.items()}
"""The arguments of each tool."""

LISTED: Final[Mapping[str, Listed]] = {name: list_entry(tool) for name, tool in TOOLS.items()}
"""Entry of each tool in `tools/list`."""
