"""Imprint's own archive, which is restored whole and never read as events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from core.transfer.archive import FORMAT
from core.transfer.formats.fields import Object
from core.transfer.opened import Unreadable
from core.transfer.records import FileEntry, Record, SpokenLine

UNPACKED: Final = (
    "is part of an archive of Imprint, which is restored whole: import the zip that `imprint user export` wrote"
)


def is_part(entry: Object) -> bool:
    """Return whether an object is the manifest of an archive, or a line of it."""
    return entry.get("format") == FORMAT or any(fields <= entry.keys() for fields in _SIGNS)


def refuse(entries: Iterable[FileEntry]) -> Iterator[Record | SpokenLine]:
    """Refuse the file of an unpacked archive. Unreadable."""
    for entry in entries:
        raise Unreadable(f"{entry.where.partition('#')[0]} {UNPACKED}.")
    yield from ()


_SIGNS: Final = (
    frozenset({"session_id", "ordinal", "role", "content", "occurred_at", "audience_labels"}),
    frozenset({"ordinal", "content", "versions", "evidence", "status"}),
    frozenset({"title", "media_type", "content", "version", "created_at"}),
)
