"""Layout of Imprint's own archive, and a writer whose bytes depend on nothing but what is written. Pure."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import IO, Any, Final

FORMAT: Final = "imprint-archive"

GROUP_FORMAT: Final = "imprint-group-archive"
"""Format of a group's archive: its lines are of many users, so an import into the memory of one refuses it."""

VERSION: Final = 1
"""Raised when a reader of the version before could misread an archive; fields may be added without it."""

MANIFEST: Final = "manifest.json"
"""Written last, because it counts what was written."""

FILES: Final = ("sessions", "messages", "memories", "relations", "documents", "plans", "profile", "names")
"""Names of the files of JSON lines, in the order in which they stand."""

_FIRST_DAY: Final = (1980, 1, 1, 0, 0, 0)
"""Time of every entry: that of the export would make two archives of the same memory differ."""

_UNIX: Final = 3


class ArchiveWriter:
    """Writes an archive file by file, a line at a time."""

    def __init__(self, target: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=6)
        self._counts: dict[str, int] = {}

    def write_lines(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write a file with one JSON object a line."""
        count = 0
        with self._zip.open(_entry(f"{name}.jsonl"), "w", force_zip64=True) as file:
            for row in rows:
                file.write(_encode(row) + b"\n")
                count += 1
        self._counts[name] = count

    def close(self, about: Mapping[str, Any]) -> Mapping[str, int]:
        """Write the manifest with what is said about the archive; return the number of lines of each file."""
        manifest = {"format": FORMAT, "version": VERSION, **about, "counts": self._counts}
        with self._zip.open(_entry(MANIFEST), "w") as file:
            file.write(_encode(manifest) + b"\n")
        self._zip.close()
        return self._counts


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _FIRST_DAY)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = _UNIX
    entry.external_attr = 0o600 << 16
    return entry


def _encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()
