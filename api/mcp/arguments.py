"""Arguments as clients send them: a list or object as JSON text, and null or an empty text for nothing. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.types import Json

ROUNDS: Final = 3
"""Attempts to repair arguments: an object given as text may itself hold such texts."""

_EXPECT_JSON: Final = ("list_type", "dict_type", "model_type", "model_attributes_type", "set_type", "tuple_type")
"""Types of faults of a text that stands where a list or an object is expected."""

_EMPTY: Final = frozenset({"", "null"})
"""Texts that stand for nothing where they are no valid value."""

NOTHING: Final = object()
"""In place of a value that is taken away."""

Path = tuple[int | str, ...]


RESTRICTIONS: Final = frozenset({"reader_labels", "audience_labels", "audience"})
"""Arguments that limit who may read: an empty text is refused, because without them nothing would be limited."""


def validated(model: type[BaseModel], schema: Json, arguments: Json) -> BaseModel:
    """Return the arguments of a tool; only those that are invalid as sent are repaired. ValidationError.

    `schema`: of the arguments, as the tool lists it.
    """
    for _ in range(ROUNDS):
        try:
            return model.model_validate(arguments)
        except ValidationError as error:
            repairs = dict(_repairs(schema, arguments, error.errors(include_url=False)))
            if not repairs:
                raise
            for path, value in repairs.items():
                arguments = _changed(arguments, path, value)
    return model.model_validate(arguments)


def _repairs(schema: Json, arguments: Json, faults: Sequence[ErrorDetails]) -> Iterator[tuple[Path, Any]]:
    """Yield where a value says nothing, or is a text of JSON, with the value to put there; NOTHING: take it away."""
    for fault in faults:
        if fault["type"] in {"extra_forbidden", "missing"}:
            continue
        path, within, node = _position(arguments, schema, fault["loc"])
        if within is None or (path[-1] in RESTRICTIONS and within[path[-1]] == ""):
            continue
        value = within[path[-1]]
        if _is_nothing(value) and isinstance(within, dict) and path[-1] not in node.get("required", ()):
            yield path, NOTHING
        elif fault["type"].endswith(_EXPECT_JSON) and (parsed := _parsed(value)) is not value:
            yield path, parsed


def _position(arguments: Json, schema: Json, location: Path) -> tuple[Path, Any, Json]:
    """Return the path to a faulty value, its container, and the schema of that; None: there is no such value.

    The location of a fault may end in names of types, which no value has.
    """
    within: Any = None
    value: Any = arguments
    node, inner, length = schema, schema, 0
    for step in location:
        if not _has(value, step):
            break
        within, node, length = value, inner, length + 1
        value, inner = within[step], _part(inner, step)
    return location[:length], within, node


def _has(value: Any, step: int | str) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and step < len(value)


def _part(schema: Json, step: int | str) -> Json:
    """Return the schema of a property or item; {} if it is not said, or of several kinds."""
    kinds = [schema, *schema.get("anyOf", ())]
    parts = (kind.get("items") if isinstance(step, int) else kind.get("properties", {}).get(step) for kind in kinds)
    return next((part for part in parts if isinstance(part, dict)), {})


def _is_nothing(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip() in _EMPTY)


def _parsed(value: object) -> object:
    """Return the list or object in a text of JSON; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _changed(value: Any, path: Path, new: Any) -> Any:
    """Return a list or object with another value at a path; only what lies on the path is copied."""
    if not path:
        return new
    first, *rest = path
    copied = list(value) if isinstance(value, list) else dict(value)
    if rest or new is not NOTHING:
        copied[first] = _changed(value[first], tuple(rest), new)
    else:
        del copied[first]
    return copied
