"""Removes erased passages from JSON: payloads of events and states of sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import text

from core.statements import redaction
from core.storage.db import Tx

MOST: Final = 5_000
"""Rows of each kind that are read: a passage repeated in more events of a session is none that a person told."""


def redact_events(tx: Tx, _tenant_id: str, values: Mapping[str, Any]) -> int:
    """Remove the passages from other events of the sessions, and from what those who spoke there searched for."""
    rows = tx.execute(_EVENTS, {**values, "most": MOST}).all()
    changed = [(row.seq, cut) for row in rows if (cut := without(row.payload, values["pieces"])) != row.payload]
    for seq, payload in changed:
        tx.execute(_WRITE_EVENT, {"seq": seq, "payload": json.dumps(payload, ensure_ascii=False)})
    return len(changed)


def redact_states(tx: Tx, _tenant_id: str, values: Mapping[str, Any]) -> int:
    """Remove the passages from the states of the sessions; return how many changed."""
    rows = tx.execute(_STATES, dict(values)).all()
    changed = [(row.id, cut) for row in rows if (cut := without(row.state, values["pieces"])) != row.state]
    for session_id, state in changed:
        tx.execute(_WRITE_STATE, {"session": session_id, "state": json.dumps(state, ensure_ascii=False)})
    return len(changed)


def without(value: Any, pieces: Sequence[str], name: str = "") -> Any:
    """Return a JSON value with the passages blanked in its texts; ids, which only name rows, stay."""
    if isinstance(value, str):
        return value if name == "id" or name.endswith(("_id", "_ids")) else redaction.blanked(value, pieces)
    if isinstance(value, Mapping):
        return {key: without(item, pieces, key) for key, item in value.items()}
    if isinstance(value, list):
        return [without(item, pieces, name) for item in value]
    return value


_EVENTS = text("""
    SELECT e.seq, e.payload FROM (
        SELECT * FROM events WHERE session_id = ANY(:sessions) AND seq <> ALL(cast(:seqs AS bigint[]))
        UNION ALL
        SELECT * FROM events WHERE event_type = 'memory.recalled' AND source = 'imprint'
          AND user_id = ANY(ARRAY(SELECT user_id FROM participants WHERE session_id = ANY(:sessions)))
    ) AS e WHERE EXISTS (
        SELECT FROM unnest(cast(:pieces AS text[])) AS p WHERE strpos(e.payload::text, p) > 0
            OR strpos(e.payload::text, substr(to_json(p)::text, 2, length(to_json(p)::text) - 2)) > 0)
    ORDER BY e.seq LIMIT :most
""")

_WRITE_EVENT = text("UPDATE events SET payload = cast(:payload AS jsonb) WHERE seq = :seq")

_STATES = text("SELECT id, state FROM sessions WHERE id = ANY(:sessions) AND state <> '{}'")

_WRITE_STATE = text("UPDATE sessions SET state = cast(:state AS jsonb) WHERE id = :session")
