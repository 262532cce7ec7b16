"""Words that an editor of rules offers: types of events, and the fields of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from core.types import Json

Fields = dict[str, str]
"""Descriptions by path, such as `payload.role`."""

DEEPEST: Final = 3
"""Levels of a payload below which paths are not offered."""


def of_events(reference: Json, events: Iterable[Json]) -> dict[str, Fields]:
    """Return the fields of each type: those in the AsyncAPI document, and those that recent events carried."""
    by_type: dict[str, Fields] = {}
    for message in reference["components"]["messages"].values():
        by_type.setdefault(message["name"], {}).update(_documented(message, reference))
    for event in events:
        fields = by_type.setdefault(event["event_type"], {})
        for path in _paths(event["payload"], "payload", 0):
            fields.setdefault(path, "")
    return by_type


def _documented(message: Json, reference: Json) -> Fields:
    payload = message["payload"]["allOf"][1]["properties"]["payload"]
    if "$ref" in payload:
        payload = reference["components"]["schemas"][payload["$ref"].rpartition("/")[2]]
    properties: Mapping[str, Json] = payload.get("properties", {})
    return {f"payload.{name}": schema.get("description", "") for name, schema in properties.items()}


def _paths(value: Json, above: str, depth: int) -> Iterator[str]:
    for name, inner in value.items():
        if any(sign in name for sign in ".[]{}"):
            continue  # A path cannot name it.
        yield f"{above}.{name}"
        if isinstance(inner, dict) and depth < DEEPEST - 1:
            yield from _paths(inner, f"{above}.{name}", depth + 1)
