"""Key-value working memory with TTL."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import text

from core.errors import Conflict, Invalid, NotFound, Problem
from core.events import parsing
from core.storage import bounded_rows
from core.storage.db import Tx, required_row

VALUE_BYTES: Final = 64 * 1024
"""Largest value as JSON, bytes: for notes and intermediate results; larger ones are documents."""

KEYS: Final = 256
"""Most keys of one session: a client that needs more has forgotten to delete some."""


@dataclass(frozen=True, slots=True)
class WorkingValue:
    """A value of the working memory."""

    key: str
    value: Annotated[Any, Field(description="Any JSON")]
    updated_at: datetime
    expires_at: datetime | None


def put(
    tx: Tx, tenant_id: str, session_id: str, key: str, value: object, ttl_seconds: float | None = None
) -> WorkingValue:
    """Store a value under a key for `ttl_seconds` or until the session ends.

    NotFound: there is no such session. Conflict: it has ended. Invalid: the value cannot be stored, or is one too many.
    """
    _require_open(tx, session_id)
    written = _encode(value)
    if tx.execute(_OTHERS, {"session": session_id, "key": key}).scalar_one() >= KEYS:
        raise Invalid([Problem("/key", f"exceeds the {KEYS} keys that a session may have; delete some")])
    values = {"tenant": tenant_id, "session": session_id, "key": key, "value": written, "ttl": ttl_seconds}
    return _stored_value(tx.execute(_PUT, values).one())


def get(tx: Tx, session_id: str, key: str) -> WorkingValue:
    """Return the value of a key; NotFound if there is none, or it has expired."""
    missing = f"Session {session_id!r} has no key {key!r}, or it has expired."
    row = required_row(tx, _GET, {"session": session_id, "key": key}, missing)
    return _stored_value(row)


def of_session(tx: Tx, session_id: str, *, after: str = "", limit: int = KEYS) -> tuple[list[WorkingValue], str | None]:
    """Return a page of a session's values by key, after the key `after`, and the last key if others follow."""
    rows, is_cut = bounded_rows.read(tx, _ALL, {"session": session_id, "after": after, "limit": limit})
    return [_stored_value(row) for row in rows], rows[-1].key if is_cut or len(rows) == limit else None


def drop(tx: Tx, session_id: str, key: str) -> bool:
    """Delete a key; return False if it had no value."""
    return tx.execute(_DROP, {"session": session_id, "key": key}).rowcount == 1


def clear(tx: Tx, session_ids: Sequence[str]) -> int:
    """Delete all values of these sessions; return how many."""
    return tx.execute(_CLEAR, {"sessions": list(session_ids)}).rowcount


def sweep(tx: Tx, page: int) -> int:
    """Delete expired values, which are not served, `page` at most; return how many."""
    return tx.execute(_SWEEP, {"page": page}).rowcount


def _require_open(tx: Tx, session_id: str) -> None:
    """Lock an open session against its end, which clears the values: one stored after that would never be deleted."""
    row = tx.execute(_LOCK, {"session": session_id}).one_or_none()
    if row is None:
        raise NotFound(
            f"There is no session {session_id!r} in this tenant. Publish `session.started`, or its first message, "
            f"before storing anything for it."
        )
    if row.ended_at is not None:
        raise Conflict(f"Session {session_id!r} has ended. Publish `session.started` to continue it.")


def _encode(value: object) -> str:
    fault = parsing.unstorable(value)
    if fault is not None:
        raise Invalid([Problem("/value", fault)])
    written = json.dumps(value, ensure_ascii=False)
    size = len(written.encode())
    if size > VALUE_BYTES:
        raise Invalid([Problem("/value", f"has {size} bytes as JSON; keep at most {VALUE_BYTES}")])
    return written


def _stored_value(row: Any) -> WorkingValue:
    return WorkingValue(row.key, row.value, row.updated_at, row.expires_at)


_LOCK = text("SELECT ended_at FROM sessions WHERE id = :session FOR UPDATE")

_UNEXPIRED = "(expires_at IS NULL OR expires_at > clock_timestamp())"

_OTHERS = text(f"SELECT count(*) FROM working WHERE session_id = :session AND key <> :key AND {_UNEXPIRED}")

_PUT = text("""
    INSERT INTO working (tenant_id, session_id, key, value, expires_at)
    VALUES (:tenant, :session, :key, cast(:value AS jsonb),
            clock_timestamp() + make_interval(secs => cast(:ttl AS float8)))
    ON CONFLICT (tenant_id, session_id, key) DO UPDATE SET
        value = excluded.value, updated_at = clock_timestamp(), expires_at = excluded.expires_at
    RETURNING key, value, updated_at, expires_at
""")

_GET = text(f"SELECT * FROM working WHERE session_id = :session AND key = :key AND {_UNEXPIRED}")

_ALL = text(f"""
    SELECT * FROM working WHERE session_id = :session AND key COLLATE "C" > :after AND {_UNEXPIRED}
    ORDER BY key COLLATE "C" LIMIT :limit
""")

_DROP = text(f"DELETE FROM working WHERE session_id = :session AND key = :key AND {_UNEXPIRED}")

_CLEAR = text("DELETE FROM working WHERE session_id = ANY(:sessions)")

_SWEEP = text("""
    DELETE FROM working WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM working WHERE expires_at <= clock_timestamp()
        ORDER BY expires_at LIMIT :page FOR UPDATE SKIP LOCKED))
""")
