"""Looks up which of an owner's messages and memories have the fields that a search demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import TextClause, text

from core.index.resident.excerpt import Name
from core.memory import as_of, field_filters
from core.search.filters import Filters
from core.search.uncached import of_owners
from core.storage.db import Tx

MOST: Final = 100_000
"""Rows of each type that a filter is looked up for, at most."""


def look_up(tx: Tx, filters: Filters, parameters: Mapping[str, Any]) -> Filters:
    """Return the filters with the rows that match those by fields; `parameters`: those of `filters`."""
    statements = _CURRENT if filters.moment.known_at is None else _RECORDED
    values = {**parameters, "most": MOST}
    names = [name for name in ("metadata", "structured") if parameters[name] is not None]
    return replace(
        filters,
        matches={
            name: frozenset[Name]((row.type, row.session_id, row.ref) for row in tx.execute(statements[name], values))
            for name in names
        },
    )


def _memories(condition: str, *, recorded: bool) -> str:
    source = f"memories s CROSS JOIN {as_of.KNOWN} m" if recorded else "memories m"
    select = f"SELECT 'memory' AS type, '' AS session_id, cast(m.id AS text) AS ref FROM {source}"
    return f"SELECT * FROM {of_owners(select, 's' if recorded else 'm', condition)} AS stated LIMIT :most"


def _messages(condition: str) -> str:
    select = f"""
        SELECT 'message' AS type, i.session_id, i.ref FROM search_index i
        CROSS JOIN LATERAL (
            SELECT FROM messages s WHERE s.session_id = i.session_id AND s.id = i.ref AND {condition} OFFSET 0) AS s
    """
    owned = of_owners(select, "i", "i.type = 'message'")
    return f"SELECT * FROM {owned} AS said LIMIT :most"


def _statements(*, recorded: bool) -> dict[str, TextClause]:
    messages = _messages(field_filters.condition("metadata", "(s.extras -> 'metadata')"))
    return {
        "metadata": text(f"({_memories(field_filters.METADATA, recorded=recorded)}) UNION ALL ({messages})"),
        "structured": text(_memories(field_filters.STRUCTURED, recorded=recorded)),
    }


_CURRENT: Final = _statements(recorded=False)
_RECORDED: Final = _statements(recorded=True)
