"""Reads Imprint's own archive line by line, from a file or an upload, and checks it as a whole."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, Final

from core.errors import Invalid, Problem
from core.transfer import archive_lines, opened
from core.transfer.archive import FILES, FORMAT, GROUP_FORMAT, MANIFEST, VERSION
from core.transfer.archive_lines import LINE_BYTES, Manifest
from core.transfer.opened import ReadingAllowance, Unreadable
from core.types import Json

PROBLEMS: Final = 20
"""Faults of an archive that are listed."""

LINES: Final = 50
"""Lines after which other requests may compute."""

BROKEN: Final = (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, RuntimeError)
"""Errors of zipfile for a zip that is broken, or only looks like one."""


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line of an archive: its number in its file, checked, as it is, and its size in bytes."""

    number: int
    checked: Any
    plain: Json
    size: int


class ArchiveReader:
    """An archive that is open for reading. Unreadable: it is none, or breaks a bound."""

    def __init__(self, file: IO[bytes], name: str, allowance: ReadingAllowance | None = None) -> None:
        self._name = name
        self._allowance = allowance or ReadingAllowance()
        with _as_unreadable(name):
            self._zip = zipfile.ZipFile(file)
        entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        opened.require_few(len(entries), name)
        self._allowance.unpack(entries, name)
        self._entries = {entry.filename: entry for entry in entries}
        if len(self._entries) != len(entries):
            raise Unreadable(f"{name} has two files of one name; export it again.")
        self.manifest = self._read_manifest()
        self.span: tuple[datetime | None, datetime | None] = (None, None)

    def lines(self, file: str, after: int = 0) -> Iterator[ReadLine]:
        """Yield the lines of a file behind the first `after`. Invalid: one is wrong; the details name its place."""
        for number, raw in self._raw_lines(file):
            if number <= after:
                continue
            try:
                checked, plain = archive_lines.parse(file, raw)
            except Invalid as error:
                location = f"{file}.jsonl:{number}"
                raise Invalid(
                    [Problem(p.pointer, f"{location}: {p.detail}") for p in error.problems[:PROBLEMS]]
                ) from None
            yield ReadLine(number, checked, plain, len(raw))

    def check(self) -> dict[str, int]:
        """Read everything once; return the number of lines by file. Invalid: something is wrong, with its place."""
        problems: list[Problem] = []
        counts = {}
        for file in FILES:
            counts[file] = 0
            try:
                for line in self._ordered(file):
                    counts[file] = line.number
                    if file == "messages":
                        self._date(line.checked.occurred_at)
            except Invalid as error:
                problems += error.problems
        declared: Mapping[str, int] = self.manifest.counts
        problems += [
            Problem(f"/counts/{file}", f"{MANIFEST}: says {declared.get(file, 0)}, but {file}.jsonl has {count} lines")
            for file, count in counts.items()
            if count != declared.get(file, 0) and not problems
        ]
        if problems:
            raise Invalid(problems[:PROBLEMS])
        return counts

    def _date(self, at: datetime) -> None:
        """Widen the span of time in which the messages lie."""
        first, last = self.span
        self.span = min(first or at, at), max(last or at, at)

    def _ordered(self, file: str) -> Iterator[ReadLine]:
        """Yield all lines of a file. Invalid: two of them are alike, or out of order, so that one name has two."""
        last: tuple[Any, ...] = ()
        for line in self.lines(file):
            position = line.checked.place
            if position and last and position <= last:
                detail = f"{file}.jsonl:{line.number}: is not behind the line before it; the archive was changed"
                raise Invalid([Problem("", detail)])
            last = position
            yield line

    def _raw_lines(self, file: str) -> Iterator[tuple[int, bytes]]:
        entry = self._entries.get(f"{file}.jsonl")
        if entry is None:
            return
        with _as_unreadable(self._name), self._zip.open(entry) as packed:
            number = 0
            while raw := packed.readline(LINE_BYTES + 1):
                number += 1
                if not number % LINES:
                    self._allowance.go_on()
                if len(raw) > LINE_BYTES:
                    raise Unreadable(f"{file}.jsonl:{number} has over {LINE_BYTES} bytes.")
                yield number, raw

    def _read_manifest(self) -> Manifest:
        entry = self._entries.get(MANIFEST)
        if entry is None:
            raise Unreadable(f"{self._name} has no {MANIFEST}, so it is not an archive of `imprint user export`.")
        with _as_unreadable(self._name), self._zip.open(entry) as packed:
            raw = packed.read(LINE_BYTES)
        if f'"{GROUP_FORMAT}"'.encode() in raw:
            raise Unreadable(
                f"{self._name} is an archive of a group, with lines of all its members; only that of a user can be "
                "imported: export each member."
            )
        try:
            manifest: Manifest = archive_lines.parse("manifest", raw)[0]
        except Invalid as error:
            raise Unreadable(f"{MANIFEST} of {self._name} cannot be read: {error}") from None
        if manifest.version != VERSION:
            raise Unreadable(
                f"{self._name} is an archive of version {manifest.version}; this release reads version {VERSION}: "
                f"install the one that wrote it."
            )
        return manifest


def is_archive(file: IO[bytes]) -> bool:
    """Return whether a file is a zip with the manifest of an archive; its position is moved."""
    try:
        with zipfile.ZipFile(file) as archive:
            raw = archive.open(MANIFEST).read(LINE_BYTES)
            return any(f'"{name}"'.encode() in raw for name in (FORMAT, GROUP_FORMAT))
    except (*BROKEN, KeyError, OSError, ValueError):
        return False


@contextmanager
def _as_unreadable(name: str) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise Unreadable(f"{name} is not a zip that can be read: {error}.") from None
