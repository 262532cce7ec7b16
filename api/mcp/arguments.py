"""Arguments as clients send them: a list or object as JSON text, and null or an empty text for nothing. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from core.types import Json

ROUNDS: Final = 3
"""Attempts to repair arguments: an object given as text may itself hold such texts."""

_EXPECT_JSON: Final = ("list_type", "dict_type", "model_type", "model_attributes_type", "set_type", "tuple_type")
"""Types of faults of a text that stands where a list or an object is expected."""

_NOTHING: Final = frozenset({"", "null"})
"""Texts that stand for nothing where they are no valid value."""


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
            repaired = _repaired(schema, arguments, error.errors(include_url=False))
            if repaired == arguments:
                raise
            arguments = repaired
    return model.model_validate(arguments)


def _repaired(schema: Json, arguments: Json, faults: Sequence[ErrorDetails]) -> Json:
    """Return the arguments without those that say nothing, and with texts of JSON parsed, where these are faults."""
    repaired: Json = _copy(arguments)
    for fault in faults:
        if fault["type"] in {"extra_forbidden", "missing"}:
            continue
        within, key, node = _position(repaired, schema, fault["loc"])
        if within is None or (key in RESTRICTIONS and within[key] == ""):
            continue
        if _is_nothing(within[key]) and isinstance(within, dict) and key not in node.get("required", ()):
            del within[key]
        elif fault["type"].endswith(_EXPECT_JSON):
            within[key] = _parsed(within[key])
    return repaired


def _position(arguments: Json, schema: Json, path: Sequence[int | str]) -> tuple[Any, Any, Json]:
    """Return the container of the value at a path, its key, and the schema of the container; None: there is none.

    A path may end in names of types, which no value has.
    """
    within: Any = None
    key: Any = None
    value: Any = arguments
    node, inner = schema, schema
    for step in path:
        if not _has(value, step):
            break
        within, key, node = value, step, inner
        value, inner = within[key], _part(inner, step)
    return within, key, node


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
    return value is None or (isinstance(value, str) and value.strip() in _NOTHING)


def _parsed(value: object) -> object:
    """Return the list or object in a text of JSON; any other value as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {"[", "{"}:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _copy(value: Any) -> Any:
    """Return a copy of lists and objects, whose leaves are shared."""
    if isinstance(value, Mapping):
        return {name: _copy(part) for name, part in value.items()}
    return [_copy(part) for part in value] if isinstance(value, list) else value
