"""Tells what is held of someone or something from before its erasure from what came after it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import TextClause, text

from core.storage.db import Tx

SLACK: Final = timedelta(minutes=1)
"""By which two hosts' clocks may differ, and a transaction that erases may be older than what it finds."""


class Resumed(Exception):
    """Both are held, and an erasure would remove both. `kind`: such as user; `name`: its id."""

    def __init__(self, kind: str, name: str) -> None:
        super().__init__(f"{kind} {name}")


def is_left(tx: Tx, kind: str, name: str, at: datetime) -> bool:
    """Return whether something of a user, group, session or document, or a memory with its evidence, is from before.

    `kind`: a key of `KINDS`. `at`: when it was erased.

    Raises:
        Resumed: something is, and something else came after.
    """
    values = {"name": name, "at": at + SLACK}
    came_after, is_before = KINDS[kind]
    if not tx.execute(came_after, values).scalar_one():
        return True
    if tx.execute(is_before, values).scalar_one():
        raise Resumed(kind, name)
    return False


_FROM_CLIENT: Final = "source <> 'imprint' AND NOT jsonb_exists(payload, 'erased')"
"""Condition of events with words of a client; of what was erased, events with ids alone may remain."""


_CAME_AFTER: Final = "EXISTS (SELECT FROM events e WHERE e.seq = m.event_seq AND e.received_at > :at)"
"""Condition that a message came after; an event that has left the log is old."""


def _exists(*rows: str) -> TextClause:
    return text(f"SELECT {' OR '.join(f'EXISTS ({query})' for query in rows)}")


def _of_owner(column: str) -> tuple[TextClause, TextClause]:
    """Return the queries for a user or a group: what clients and people brought after, and anything from before.

    What agents derive from old messages after a restore is itself no sign of life.
    """
    return (
        _exists(
            f"SELECT FROM events WHERE {column} = :name AND {_FROM_CLIENT} AND received_at > :at",
            f"SELECT FROM documents WHERE {column} = :name AND greatest(created_at, updated_at) > :at",
            f"SELECT FROM imports WHERE {column} = :name AND created_at > :at",
            f"""
            SELECT FROM memories m JOIN memory_versions v ON v.memory_id = m.id AND v.version = 1
            WHERE m.{column} = :name AND m.recorded_at > :at AND v.dispatch_id IS NULL
            """,
        ),
        _exists(
            f"SELECT FROM events WHERE {column} = :name AND {_FROM_CLIENT} AND received_at <= :at",
            f"SELECT FROM documents WHERE {column} = :name AND created_at <= :at",
            f"SELECT FROM memories WHERE {column} = :name AND recorded_at <= :at",
            f"SELECT FROM messages m WHERE m.{column} = :name AND NOT {_CAME_AFTER}",
        ),
    )


_CITED: Final = "messages m JOIN evidence c ON c.session_id = m.session_id AND c.message_id = m.id"

KINDS: Final[Mapping[str, tuple[TextClause, TextClause]]] = {
    "user": _of_owner("user_id"),
    "group": _of_owner("group_id"),
    "session": (
        _exists(
            f"SELECT FROM events WHERE session_id = :name AND {_FROM_CLIENT} AND received_at > :at",
            f"SELECT FROM messages m WHERE m.session_id = :name AND {_CAME_AFTER}",
        ),
        _exists(
            f"SELECT FROM events WHERE session_id = :name AND {_FROM_CLIENT} AND received_at <= :at",
            f"SELECT FROM messages m WHERE m.session_id = :name AND NOT {_CAME_AFTER}",
        ),
    ),
    "document": (
        _exists("SELECT FROM documents WHERE id = cast(:name AS uuid) AND updated_at > :at"),
        text("SELECT false"),
    ),
    "memory with evidence": (
        _exists(f"SELECT FROM {_CITED} WHERE c.memory_id = cast(:name AS uuid) AND {_CAME_AFTER}"),
        text("SELECT true"),
    ),
}
"""For each kind, whether something came after the erasure, and whether something is from before it.

A document that came again under its address has replaced what was erased. A memory's id is never used again.
"""
