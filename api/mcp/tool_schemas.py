"""The tools as a model sees them: arguments as JSON Schema, and hints of what they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcp_types import Tool as Listed
from mcp_types import ToolAnnotations

from api.http.memory_requests import Patch
from api.mcp.tools import TOOLS, Tool
from core.types import Json

WORDS: Final[Mapping[str, str]] = {
    "user_id": "Whose memory it is: the name under which your application knows the user",
    "group_id": "The group whose shared memory it is, if there is one",
    "session_id": "The conversation, by the name under which its messages were published",
    "message_id": "The message, by its id in the session",
    "query": "What to look for, in plain words, in any language",
    "limit": "Results at the most",
    "method": "hybrid: by words and by meaning; keyword: by words alone; vector: by meaning alone",
    "include": "What to look through",
    "tags": "Labels of your own",
    "time": "When it happened",
    "min_similarity": "Least cosine of the meaning",
    "now": "The moment that is asked from; default: now",
    "explain": "Say what each score is made of",
    "content": "The statement, as one full sentence",
    "value": "What stands in the slot, such as Lisbon",
    "importance": "From 0 to 1",
    "min_importance": "From 0 to 1",
    "confidence": "From 0 to 1",
    "pinned": "Keep it from fading",
    "expires_at": "When it ends to matter",
    "half_life_days": "In how many days it fades by half",
    "valid_from": "Since when it is true",
    "valid_to": "Until when it is true",
    "structured": "Anything about it that is better kept as JSON",
    "evidence": "The stored messages that it rests on",
    "reason": "Why, kept in the history",
    "id": "Names the event: with its source it counts once; default: a new one",
    "event_type": "What happened, in the past tense, such as message.added",
    "source": "Who says so: the name of your agent",
    "subject": "What it is about",
    "payload": "The event's own fields, such as session_id, user_id, role and content of a message",
    "budget": "How the limit is shared out",
    "categories": "Only these",
    "kinds": "Only these",
    "topics": "Only these",
}
"""What an argument means, where its model leaves that to the documentation of the HTTP door."""


def list_entry(tool: Tool) -> Listed:
    """A tool as `tools/list` names it."""
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
    """The arguments of a tool, as one schema without references: not every client follows them."""
    whole = tool.takes.model_json_schema()
    plain: Json = _plain(whole, whole.get("$defs", {}))
    arguments = plain["properties"]
    if not issubclass(tool.takes, Patch):  # To an edit null says something: it takes a value away.
        arguments = {name: _without_null(wanted) for name, wanted in arguments.items()}
    told = {name: {"description": WORDS[name]} if name in WORDS else {} for name in arguments}
    properties = {name: told[name] | wanted for name, wanted in arguments.items()}
    return {"type": "object", "properties": properties} | {
        name: plain[name] for name in ("required", "additionalProperties") if name in plain
    }


def _without_null(wanted: Json) -> Json:
    """An argument that may be left out; that null would mean the same need not be said."""
    kinds: list[Json] = [kind for kind in wanted.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) != 1:
        return wanted
    return kinds[0] | {name: value for name, value in wanted.items() if name not in {"anyOf", "default"}}


def _plain(part: Any, defs: Mapping[str, Any]) -> Any:
    """A part of a schema with what it refers to in its place, and without what only tells machines apart."""
    if isinstance(part, list):
        return [_plain(one, defs) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        part = {**defs[part["$ref"].removeprefix("#/$defs/")], **part}
    return {name: _within(name, value, defs) for name, value in part.items() if not _is_noise(name, value)}


def _within(name: str, value: Any, defs: Mapping[str, Any]) -> Any:
    """Yield the values of a keyword; the names of properties are no keywords."""
    if name == "properties":
        return {key: _plain(one, defs) for key, one in value.items()}
    return value if name in {"default", "enum", "const", "required"} else _plain(value, defs)


def _is_noise(name: str, value: Any) -> bool:
    """Titles repeat the name; that a text holds no control characters need not be said, only checked."""
    return name in {"title", "$defs", "$ref"} or (name == "pattern" and "\\x00" in value)


SCHEMAS: Final[Mapping[str, Json]] = {name: schema(tool) for name, tool in TOOLS.items()}
"""The arguments of each tool."""

LISTED: Final[Mapping[str, Listed]] = {name: list_entry(tool) for name, tool in TOOLS.items()}
"""Each tool as it is listed; the same to all that may call it."""
