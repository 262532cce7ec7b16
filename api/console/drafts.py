"""Texts of rules and events that a person edits: reading them, and trying them by the API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from http import HTTPStatus
from typing import Any

from api.console.calls import Api, ApiProblem
from api.console.routing import at
from core.types import Json


def read(text: str) -> tuple[Any, str | None]:
    """Return the JSON value of a text, or what is wrong with it."""
    try:
        return json.loads(text), None
    except ValueError as error:
        return None, str(error)


async def checked(call: Awaitable[Any]) -> tuple[Any, Sequence[Json]]:
    """Return the answer of the API to a text that is valid, else its problems."""
    try:
        return await call, ()
    except ApiProblem as refusal:
        if refusal.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            raise
        return None, refusal.problem["errors"]


async def sample(api: Api, event_id: str) -> Json | None:
    """Return a stored event as it could be published again; None without an id."""
    if not event_id:
        return None
    event = await api.get(at("events", event_id))
    return {name: event[name] for name in ("id", "event_type", "source", "subject", "time", "payload")}


async def test(api: Api, name: str, event: Json) -> Any:
    """Return what a rule in force would do with an event."""
    [result] = await api.post("/v1/rules/test", {"names": [name], "event": event, "warnings": False})
    return result
