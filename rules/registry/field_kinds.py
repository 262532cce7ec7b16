"""Kinds of the known fields: of checked payloads, of the service's own events, and of lookups.

Kinds of client events are read from the models that check them. Fields of the service's events are listed in
`EMITTED_SHAPES` by name, because a name has the same meaning in each of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from core.events.parsing import PAYLOADS, Payload
from core.events.reserved import EMITTED
from core.types import Category, Topic


@dataclass(frozen=True, slots=True)
class FieldShape:
    """Kinds and values that a field may have; the kinds are those of `rules.expressions.operators.kind`.

    `choices`: all possible texts; `low` and `high`: bounds of its numbers.
    """

    kinds: frozenset[str]
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None


TEXT: Final = FieldShape(frozenset({"string"}))
LIST: Final = FieldShape(frozenset({"list"}))
OBJECT: Final = FieldShape(frozenset({"object"}))
COUNT: Final = FieldShape(frozenset({"number"}), low=0)
NUMBER: Final = FieldShape(frozenset({"number"}))
SHARE: Final = FieldShape(frozenset({"number"}), low=0, high=1)
TIME: Final = FieldShape(frozenset({"time"}))


def _one_of(values: Iterable[StrEnum]) -> FieldShape:
    return FieldShape(frozenset({"string"}), choices=tuple(member.value for member in values))


EMITTED_SHAPES: Final[Mapping[str, FieldShape]] = {
    "category": _one_of(Category),
    "topic": _one_of(Topic),
    "importance": SHARE,
    "absorbed": LIST,
    "memory_ids": LIST,
    "filled_in": LIST,
    "version": COUNT,
    "searches": COUNT,
    "without_memories": COUNT,
    "passages": COUNT,
    "message_count": COUNT,
    "messages": COUNT,
    "tokens": COUNT,
    "to_position": COUNT,
    "params": OBJECT,
    "counts": OBJECT,
    "may_decide": OBJECT,
    **dict.fromkeys(
        (
            "user_id group_id session_id memory_id message_id document_id rebuild_id dispatch_id decision_id content "
            "attribute value reason rule target verdict comment author due_at timezone requested_by expires_at file "
            "address error raised_at source change"
        ).split(),
        TEXT,
    ),
}
"""Fields of the service's own events. Unlisted ones have several kinds and are not checked."""

OTHER_EVENT_FIELDS: Final[Mapping[str, FieldShape]] = {
    "event_type": TEXT,
    "source": TEXT,
    "subject": TEXT,
    "time": TIME,
    "session.message_count": COUNT,
    "session.token_count": COUNT,
    "session.idle_seconds": NUMBER,
    "user.memory_count": COUNT,
    "memory.importance": SHARE,
    "budget.tokens_today": COUNT,
    "budget.cost_today": FieldShape(frozenset({"number"}), low=0),
}
"""Event fields other than the payload, and looked-up fields."""


def of(event_type: str, field: str) -> FieldShape | None:
    """Return the kinds of a payload field of a type; None: no such field, or unknown."""
    if event_type in PAYLOADS:
        shape = _DECLARED[event_type].get(field)
        if shape is not None:
            return shape
    return EMITTED_SHAPES.get(field) if field in EMITTED.get(event_type, ()) else None


_KINDS: Final = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "bool",
    "array": "list",
    "object": "object",
    "null": "null",
}


def _of_schema(schema: Mapping[str, Any]) -> FieldShape | None:
    branches = schema.get("anyOf", [schema])
    if any("type" not in branch for branch in branches):
        return None
    kinds = frozenset(_KINDS[branch["type"]] for branch in branches)
    first = branches[0]
    return FieldShape(kinds, tuple(first.get("enum", ())), first.get("minimum"), first.get("maximum"))


def _fields_of_model(model: type[Payload]) -> Mapping[str, FieldShape]:
    """Return the fields of a checked payload, by the JSON Schema of its model."""
    shapes = {
        name: _of_schema(part) for name, part in model.model_json_schema(mode="serialization")["properties"].items()
    }
    return {name: shape for name, shape in shapes.items() if shape is not None}


_DECLARED: Final = {event_type: _fields_of_model(model) for event_type, model in PAYLOADS.items()}
