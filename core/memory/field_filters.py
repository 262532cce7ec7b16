"""Filters by fields of JSON: by `structured` of memories, and by the metadata of messages, documents and memories.

A memory has the metadata of the messages and requests that it cites, and what mem0's routes keep of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from core.events import log

ANNOTATION: Final = "mem0"
"""Key in `structured` below which mem0's routes keep what they know of a memory."""

FIELDS: Final = 10
"""Fields of one filter, at most."""

VALUES: Final = 50
"""Values of one field, at most."""


def fault(fields: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a filter, and what to do; None: it is valid."""
    if not 1 <= len(fields) <= FIELDS:
        return f"names {len(fields)} fields; name 1 to {FIELDS}"
    for name, expected in fields.items():
        if not name or name.count(".") > 1 or name.startswith(".") or name.endswith("."):
            return f'names the field {name[:100]!r}; send "project", or "customer.tier" for a field within another'
        if isinstance(expected, list) and not 1 <= len(expected) <= VALUES:
            return f"has {len(expected)} values for {name[:100]!r}; send 1 to {VALUES}"
    return None


def demands(fields: Mapping[str, Any]) -> str:
    """Return a filter as the parameter of its SQL; a list: any of its values."""
    return json.dumps(
        [
            {"key": name, "path": name.split("."), "values": expected if isinstance(expected, list) else [expected]}
            for name, expected in fields.items()
        ]
    )


def _has_field(column: str) -> str:
    return f"""
        EXISTS (SELECT FROM jsonb_array_elements(f."values") AS w (value)
                WHERE coalesce({column} -> f.key, {column} #> f.path) @> w.value)
    """


def _each_field(parameter: str, has_field: str) -> str:
    return f"""
        NOT EXISTS (
            SELECT FROM jsonb_to_recordset(cast(:{parameter} AS jsonb)) AS f (key text, path text[], "values" jsonb)
            WHERE NOT ({has_field}))
    """


def condition(parameter: str, column: str) -> str:
    """Return the condition that a JSON column has all demanded fields; a list in it matches by any of its elements."""
    return _each_field(parameter, _has_field(column))


_CITED: Final = f"""
    SELECT CASE WHEN e.session_id = ''
        THEN (SELECT v.payload -> 'structured' -> '{ANNOTATION}' -> 'metadata' FROM events v
              WHERE v.id = e.event_id AND v.source = '{log.SOURCE}')
        ELSE (SELECT s.extras -> 'metadata' FROM messages s
              WHERE s.session_id = e.session_id AND s.id = e.message_id) END AS metadata
    FROM evidence e WHERE e.memory_id = m.id
"""
"""Looked up one by one: no plan may scan the messages of other owners."""

STRUCTURED: Final = condition("structured", "m.structured")
"""The condition `:structured` for a row `m` of `memories`."""

METADATA: Final = _each_field(
    "metadata",
    f"""
    {_has_field(f"(m.structured -> '{ANNOTATION}' -> 'metadata')")}
    OR EXISTS (SELECT FROM ({_CITED} OFFSET 0) AS c WHERE {_has_field("c.metadata")})
    """,
)
"""Likewise `:metadata`."""
