"""Filters by fields of metadata or of `structured`, as requests send them."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

from pydantic import AfterValidator, StringConstraints, TypeAdapter, ValidationError

from core.events.parsing import unstorable
from core.memory import field_filters

CHARACTERS: Final = 5_000
"""Characters of a filter as JSON."""

ANY_OF: Final = (
    "of a list of values any; `customer.tier` is a field within another; a list in the data matches by any element"
)


def demands(fields: dict[str, Any] | None) -> str | None:
    """Return a filter as `core.search.filters.Filters` takes it; None: there is none."""
    return None if fields is None else field_filters.demands(fields)


def _valid(fields: dict[str, Any]) -> dict[str, Any]:
    fault = unstorable(fields) or field_filters.fault(fields)
    if fault is not None:
        raise ValueError(fault)
    if len(json.dumps(fields, ensure_ascii=False)) > CHARACTERS:
        raise ValueError(f"has more than {CHARACTERS} characters as JSON; ask for fewer values")
    return fields


def _valid_text(text: str) -> str:
    try:
        fields = _OBJECT.validate_json(text)
    except ValidationError:
        raise ValueError('is no JSON object; send {"project": "atlas"}') from None
    return json.dumps(_valid(fields))


_OBJECT: Final = TypeAdapter(dict[str, Any])

FieldFilter = Annotated[dict[str, Any], AfterValidator(_valid)]

FieldsAsJson = Annotated[str, StringConstraints(max_length=CHARACTERS), AfterValidator(_valid_text)]
"""The same as JSON text, for a query string."""
