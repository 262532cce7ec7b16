"""Schemas of bodies that endpoints read by hand, and examples of request bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from core.events.parsing import NativeEvent
from core.settings.limits import TenantLimits
from core.types import Json
from rules.document.schema import VERBATIM, Rule

PREFIX: Final = "#/components/schemas/"


def _hoisted(name: str, model: type[BaseModel]) -> dict[str, Json]:
    """Return the schemas of a model and of its parts, all named by the model."""
    schema = model.model_json_schema(ref_template=f"{PREFIX}{name}{{model}}")
    parts = {f"{name}{part}": definition for part, definition in schema.pop("$defs", {}).items()}
    return {name: schema, **parts}


def _changes(name: str, schema: Json, description: str) -> Json:
    """Return the schema of an object with any of the properties; null removes one."""
    optional = {field: {"anyOf": [part, {"type": "null"}]} for field, part in schema["properties"].items()}
    changes = {"title": name, "type": "object", "description": description, "properties": optional}
    return {**changes, "additionalProperties": False}


CLOUD_EVENT: Final[Json] = {
    "title": "CloudEvent",
    "type": "object",
    "description": "A CloudEvents 1.0 event; `type` and `data` are `event_type` and `payload` of the native form",
    "required": ["specversion", "id", "source", "type"],
    "properties": {
        "specversion": {"const": "1.0"},
        "id": {"type": "string", "minLength": 1},
        "source": {"type": "string", "minLength": 1},
        "type": {"type": "string", "minLength": 1},
        "subject": {"type": "string"},
        "time": {"type": "string", "format": "date-time"},
        "datacontenttype": {"type": "string"},
        "data": {"type": "object"},
        "correlationid": {"type": "string"},
        "causationid": {"type": "string"},
        "traceparent": {"type": "string"},
        "partitionkey": {"type": "string"},
    },
}

JSON_RPC: Final[Json] = {
    "title": "JsonRpcMessage",
    "type": "object",
    "description": "A message of the Model Context Protocol: a request, a notification or a response",
    "required": ["jsonrpc"],
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "id": {"type": ["string", "integer", "null"]},
        "method": {"type": "string"},
        "params": {"type": "object"},
        "result": {"type": "object"},
        "error": {"type": "object"},
    },
}

_RULE: Final = _hoisted("Rule", Rule)
_LIMITS: Final = TenantLimits.model_json_schema()

SCHEMAS: Final[Mapping[str, Json]] = {
    **_RULE,
    "RuleChanges": _changes("RuleChanges", _RULE["Rule"], "Fields of a rule to change (JSON Merge Patch)"),
    "NativeEvent": NativeEvent.model_json_schema(),
    "CloudEvent": CLOUD_EVENT,
    "JsonRpcMessage": JSON_RPC,
    "ChosenLimits": {
        "title": "ChosenLimits",
        "type": "object",
        "description": "Limits lower than those granted; those left out are as granted",
        "properties": {
            name: {kind: value for kind, value in limit.items() if kind != "default"}
            for name, limit in _LIMITS["properties"].items()
        },
        "additionalProperties": False,
    },
}
"""Schemas by name, for `#/components/schemas`."""


def body(*names: str, description: str = "") -> Json:
    """Return the declaration of a JSON body: one of these schemas."""
    kinds: list[Json] = [{"$ref": PREFIX + name} for name in names]
    schema = kinds[0] if len(kinds) == 1 else {"oneOf": kinds}
    declaration: Json = {"required": True, "content": {"application/json": {"schema": schema}}}
    return {"requestBody": declaration | ({"description": description} if description else {})}


_EVENT: Final[Json] = {"$ref": f"{PREFIX}NativeEvent"}
_CLOUD_EVENT: Final[Json] = {"$ref": f"{PREFIX}CloudEvent"}

EVENTS_BODY: Final[Json] = {
    "requestBody": {
        "required": True,
        "description": "One event, an array of them, NDJSON, or CloudEvents 1.0 (structured, batched or binary)",
        "content": {
            "application/json": {"schema": {"oneOf": [_EVENT, {"type": "array", "items": _EVENT}]}},
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/cloudevents+json": {"schema": _CLOUD_EVENT},
            "application/cloudevents-batch+json": {"schema": {"type": "array", "items": _CLOUD_EVENT}},
        },
    }
}
"""Written by hand, because the endpoint reads the body itself: in any form, up to its limit."""

EXAMPLES: Final[Mapping[str, Any]] = {
    "publishEvents": {
        "event_type": "message.added",
        "source": "support-bot",
        "payload": {"session_id": "s1", "user_id": "ada", "role": "user", "content": "I moved to Lisbon in May."},
    },
    "search": {"user_id": "ada", "query": "Where does Ada live?", "limit": 5},
    "buildContext": {"user_id": "ada", "session_id": "s1", "query": "Plan my weekend.", "max_tokens": 2_000},
    "addMemory": {"user_id": "ada", "content": "Ada is allergic to peanuts.", "importance": 0.9},
    "addMemories": {"memories": [{"user_id": "ada", "content": "Ada plays the cello."}]},
    "editMemory": {"content": "Ada is allergic to peanuts and almonds.", "reason": "She said so on the phone."},
    "saveDocument": {"title": "Travel rules", "content": "# Travel rules\n\nA dinner may cost thirty euros."},
    "saveRule": VERBATIM,
    "validateRule": VERBATIM,
    "testRules": {
        "names": ["consolidate_on_session_end"],
        "event": {
            "event_type": "session.ended",
            "source": "support-bot",
            "payload": {"session_id": "s1", "user_id": "ada", "message_count": 4},
        },
    },
    "backtestRule": {"rule": VERBATIM, "limit_samples": 2},
    "changeSessionState": {"topic": "a trip to Porto"},
    "putWorkingValue": {"value": {"step": 3}, "ttl_seconds": 3_600},
    "startRebuild": {"user_id": "ada"},
    "replayDispatches": {"filter": {"status": "dead"}, "dry_run": True},
    "beginBulkJob": {"action": "archive", "filter": {"user_id": "ada", "category": "plan"}},
    "putLimits": {"settles": 8},
    "putExtractionSettings": {"min_importance": 0.3},
}
"""Example of a JSON body by operation."""
