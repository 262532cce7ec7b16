"""Imprint's own archive, which is restored whole and never read as events."""

from __future__ import annotations

from typing import Final

from core.transfer.archive import FORMAT
from core.transfer.formats.fields import Object

UNPACKED: Final = (
    "is part of an archive of Imprint, which is restored whole: import the zip that `imprint user export` wrote"
)


def is_part(one: Object) -> bool:
    """Return whether an object is the manifest of an archive, or a line of it."""
    return one.get("format") == FORMAT or any(fields <= one.keys() for fields in _SIGNS)


_SIGNS: Final = (
    frozenset({"session_id", "ordinal", "role", "content", "occurred_at", "audience_labels"}),
    frozenset({"ordinal", "content", "versions", "evidence", "status"}),
    frozenset({"title", "media_type", "content", "version", "created_at"}),
)
