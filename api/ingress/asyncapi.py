"""The AsyncAPI 3 document of the events: which Imprint accepts, which it emits, and the fields of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from core.events.descriptions import DESCRIPTIONS
from core.events.parsing import PAYLOADS, NativeEvent
from core.events.reserved import EMITTED, SERVICE
from core.types import Json
from rules.document.targets import TARGETS

VERSION: Final = "3.0.0"
"""Version of AsyncAPI, not of the service."""

EXCHANGE: Final = "imprint.events"

_DEFINITIONS: Final = "#/components/schemas/{model}"

_ACCEPTED: Final = (
    "Topic exchange on Redis or RabbitMQ, with the event type as routing key. The same events are taken by "
    "`POST /v1/events`. Types that are not listed here are accepted with any JSON object as payload."
)

_EMITTED: Final = "Imprint's own events stand in the same log; rules and webhooks react to them like to any other."


def document(version: str) -> Json:
    """Return the document, with the version of the service."""
    schemas: Json = {"Event": _schema(NativeEvent, {})}
    accepted = {kind: _accepted(kind, model, schemas) for kind, model in PAYLOADS.items()}
    own_types = {*EMITTED, *(kind for follows in TARGETS.values() for kind in follows)}
    emitted = {kind: _emitted(kind) for kind in sorted(own_types)}
    return {
        "asyncapi": VERSION,
        "info": {
            "title": "Imprint",
            "version": version,
            "description": "Events in, rules decide, workers remember. Every event has this envelope; "
            "`source` and `id` identify it, and a repeat changes nothing.",
        },
        "defaultContentType": "application/json",
        "channels": {
            "accepted": _channel("{eventType}", _ACCEPTED, "accepted", accepted)
            | {"bindings": {"amqp": _TOPIC_EXCHANGE}},
            "emitted": _channel("/v1/events?type={eventType}", _EMITTED, "emitted", emitted),
        },
        "operations": {
            "accept": _operation("receive", "accepted", "Accept events of clients."),
            "emit": _operation("send", "emitted", "Announce what has changed."),
        },
        "components": {
            "messages": {
                **{_name("accepted", kind): message for kind, message in accepted.items()},
                **{_name("emitted", kind): message for kind, message in emitted.items()},
            },
            "schemas": schemas,
        },
    }


_TOPIC_EXCHANGE: Final[Json] = {
    "is": "routingKey",
    "exchange": {"name": EXCHANGE, "type": "topic", "durable": True, "autoDelete": False},
    "bindingVersion": "0.3.0",
}


def _channel(address: str, description: str, channel: str, messages: Mapping[str, Json]) -> Json:
    return {
        "address": address,
        "description": description,
        "parameters": {"eventType": {"description": "Type of the event", "examples": [next(iter(messages))]}},
        "messages": {
            _name(channel, kind): {"$ref": f"#/components/messages/{_name(channel, kind)}"} for kind in messages
        },
    }


def _operation(action: str, channel: str, summary: str) -> Json:
    return {"action": action, "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _name(channel: str, kind: str) -> str:
    """Return the key of a message; a type may be in both channels, with other fields."""
    return f"{channel}.{kind}"


def _accepted(kind: str, model: type[BaseModel], schemas: dict[str, Any]) -> Json:
    schemas.setdefault(model.__name__, _schema(model, schemas))
    return _message(kind, {"$ref": f"#/components/schemas/{model.__name__}"}, {})


def _emitted(kind: str) -> Json:
    fields: Json = {name: {} for name in EMITTED.get(kind, ())}
    message = _message(kind, {"type": "object", "properties": fields}, {"source": {"const": SERVICE}})
    if kind in DESCRIPTIONS:
        when, payload = DESCRIPTIONS[kind]
        message |= {"summary": f"{when[0].upper()}{when[1:]}.", "description": f"Payload: {payload}."}
    return message


def _message(kind: str, payload: Json, envelope: Json) -> Json:
    properties = {"event_type": {"const": kind}, "payload": payload} | envelope
    return {
        "name": kind,
        "title": re.sub("[._]", " ", kind).capitalize(),
        "contentType": "application/json",
        "payload": {"allOf": [{"$ref": "#/components/schemas/Event"}, {"type": "object", "properties": properties}]},
    }


def _schema(model: type[BaseModel], schemas: dict[str, Any]) -> Json:
    """Return the schema of a model; the models that it uses are added to `schemas`."""
    schema = model.model_json_schema(ref_template=_DEFINITIONS)
    for name, inner in schema.pop("$defs", {}).items():
        schemas.setdefault(name, inner)
    return schema
