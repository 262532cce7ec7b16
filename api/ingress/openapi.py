"""Additions to the OpenAPI document: summaries that are sentences, and the body of `POST /v1/events`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from core.events.parsing import NativeEvent
from core.types import Json

EVENTS_BODY: Final[Json] = {
    "requestBody": {
        "required": True,
        "description": "One event, an array of them, NDJSON, or CloudEvents 1.0 (structured, batched or binary)",
        "content": {
            "application/json": {
                "schema": {
                    "oneOf": [
                        NativeEvent.model_json_schema(),
                        {"type": "array", "items": NativeEvent.model_json_schema()},
                    ]
                },
                "example": {
                    "event_type": "message.added",
                    "source": "support-bot",
                    "payload": {
                        "session_id": "s1",
                        "user_id": "ada",
                        "role": "user",
                        "content": "I moved to Lisbon in May.",
                    },
                },
            },
            "application/x-ndjson": {"schema": {"type": "string"}},
            "application/cloudevents+json": {"schema": {"type": "object"}},
            "application/cloudevents-batch+json": {"schema": {"type": "array", "items": {"type": "object"}}},
        },
    }
}
"""Written by hand, because the endpoint reads the body itself: in any form, up to its limit."""


def summarise(routes: Iterable[BaseRoute]) -> None:
    """Give each route the first sentence of its endpoint's docstring as its summary, unless it has one."""
    for route in routes:
        if isinstance(route, APIRoute) and route.summary is None:
            route.summary = _first_sentence(route.endpoint)


def _first_sentence(endpoint: Any) -> str | None:
    line = " ".join((endpoint.__doc__ or "").strip().partition("\n\n")[0].split())
    return line.partition(". ")[0].rstrip(".") or None
