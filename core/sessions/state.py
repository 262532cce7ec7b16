"""Session state, JSON Merge Patch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import text

from core.errors import Invalid, Problem
from core.events import parsing
from core.storage.db import Tx, required_row
from core.types import Json

STATE_BYTES: Final = 64 * 1024
"""Largest state as JSON, bytes: it is returned with every session; larger values belong into working memory."""


def merge(tx: Tx, session_id: str, patch: Mapping[str, Any], pointer: str = "") -> Json:
    """Merge a patch into the state of a session (RFC 7396: null removes); return the new state.

    NotFound: there is no such session. Invalid: the patch cannot be stored, or the state grows too large; `pointer` is
    the place of the patch in the request.
    """
    missing = f"There is no session {session_id!r} in this tenant. Publish `session.started` first."
    row = required_row(tx, _LOCK, {"session": session_id}, missing)
    _require_storable(patch, pointer)
    merged = merge_patch(row.state, patch)
    written = json.dumps(merged, ensure_ascii=False)
    size = len(written.encode())
    if size > STATE_BYTES:
        raise Invalid([Problem(pointer, f"would make the state {size} bytes long; keep it within {STATE_BYTES}")])
    tx.execute(_WRITE, {"session": session_id, "state": written})
    return merged


def merge_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Apply a JSON Merge Patch (RFC 7396) to an object."""
    merged = dict(target)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping):
            below = merged.get(name)
            merged[name] = merge_patch(below if isinstance(below, Mapping) else {}, value)
        else:
            merged[name] = value
    return merged


def _require_storable(patch: Mapping[str, Any], pointer: str) -> None:
    fault = parsing.unstorable(patch)
    if fault is not None:
        raise Invalid([Problem(pointer, fault)])


_LOCK = text("SELECT state FROM sessions WHERE id = :session FOR UPDATE")

_WRITE = text("""
    UPDATE sessions SET state = cast(:state AS jsonb), oldest_at = coalesce(oldest_at, clock_timestamp())
    WHERE id = :session
""")
"""With something kept again, the session is one that retention looks at."""
