"""Keys, enumerations and times as the columns store them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from core.types import Category, Kind, Status, Topic, Trust

SEPARATOR: Final = "\x1f"
"""Between the session and the id in the key of a message."""

ROLES: Final = ("", "other", "user", "assistant", "system", "tool")
"""Roles of speakers; a memory has the empty one."""

ENUMERATED: Final[Mapping[str, Sequence[str]]] = {
    "role": ROLES[1:],
    "status": list(Status),
    "trust": list(Trust),
    "kind": list(Kind),
    "category": list(Category),
    "topic": list(Topic),
}
"""Values of each enumerated column, which holds their positions from 1; 0 is none of them."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def message_key(session_id: str, message_id: str) -> str:
    """Return the key of a message, unique in its tenant: ids are unique within their session."""
    return f"{session_id}{SEPARATOR}{message_id}"


def message_of_key(key: str) -> tuple[str, str]:
    """Return the session and the id of a message's key."""
    session_id, _, message_id = key.partition(SEPARATOR)
    return session_id, message_id


def seconds(time: datetime) -> float:
    """Return seconds since 1970, rounded once from whole microseconds as PostgreSQL rounds them."""
    return (time - _EPOCH) // timedelta(microseconds=1) / 1e6
