"""Opens a file, folder or zip, and yields the files in it that may hold data; each is read within bounds."""

from __future__ import annotations

import io
import math
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, cast

from core.baton import REQUESTS
from core.errors import ImprintError

SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson", ".md"})

FILES: Final = 100_000
"""Files in a folder or zip."""

DEPTH: Final = 2
"""Zips within zips."""

UNPACKED_BYTES: Final = 64 * 1024**3
"""Bytes that all files of a zip may have unpacked."""

RATIO: Final = 200
"""Bytes that a packed byte may become; text packs to a tenth, a bomb to a thousandth."""

PACKED_ALLOWANCE: Final = 1024**2
"""Unpacked bytes below which the ratio does not matter."""

INNER_IN_MEMORY: Final = 16 * 1024**2
"""Bytes of a zip within a zip that are kept in memory; the rest goes to a temporary file."""

METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})

ENCRYPTED: Final = 0x1
"""Flag of an entry."""

PIECE: Final = 1024**2


class Unreadable(ImprintError, kind="Not readable"):
    """A file cannot be read."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file with its name within what was opened."""

    name: str
    file: IO[bytes]

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name).suffix.lower()


@dataclass(slots=True)
class ReadingAllowance:
    """Bytes that zips may unpack to together, and the time of `time.monotonic` at which reading has to have ended.

    `advice`: what to do where that is not enough.
    """

    unpacked: int = UNPACKED_BYTES
    ends_at: float = math.inf
    advice: str = "Split it."

    def unpack(self, entries: list[zipfile.ZipInfo], name: str) -> None:
        """Refuse a zip by the sizes that it declares; no entry can be read beyond its own. Unreadable."""
        size = sum(entry.file_size for entry in entries)
        if size > self.unpacked:
            raise Unreadable(f"{name} would unpack to more than {self.unpacked // 1024**2} MiB. {self.advice}")
        self.unpacked -= size
        require_known(entries, name)

    def go_on(self) -> None:
        """Give way to other requests. Unreadable: the time is over."""
        REQUESTS.give_way()
        if time.monotonic() > self.ends_at:
            raise Unreadable(f"Reading takes too long. {self.advice}")


class _Watched(io.RawIOBase):
    """A file that is read within an allowance."""

    def __init__(self, file: IO[bytes], allowance: ReadingAllowance) -> None:
        self._file, self._allowance = file, allowance

    def read(self, size: int = -1) -> bytes:
        self._allowance.go_on()
        return self._file.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)


def files(path: Path, allowance: ReadingAllowance | None = None) -> Iterator[Opened]:
    """Yield the files of a path in the order of their names. Unreadable: it is not there, or breaks a bound."""
    allowance = allowance or ReadingAllowance()
    for name, file in _files(path, allowance):
        yield Opened(name, cast("IO[bytes]", _Watched(file, allowance)))


Named = tuple[str, IO[bytes]]


def _files(path: Path, allowance: ReadingAllowance) -> Iterator[Named]:
    if path.is_dir():
        paths = sorted(file_path for file_path in path.rglob("*") if file_path.is_file() and not file_path.is_symlink())
        require_few(len(paths), path.name)
        for file_path in paths:
            if file_path.suffix.lower() in SUFFIXES | {".zip"}:
                yield from _file(file_path, str(file_path.relative_to(path)), allowance)
    elif path.is_file():
        yield from _file(path, path.name, allowance)
    else:
        raise Unreadable(f"There is no file or folder {path}.")


def _file(path: Path, name: str, allowance: ReadingAllowance) -> Iterator[Named]:
    try:
        with path.open("rb") as file:
            if path.suffix.lower() == ".zip" or zipfile.is_zipfile(file):
                yield from _zipped(file, name, 1, allowance)
            else:
                file.seek(0)
                yield name, file
    except OSError as error:
        raise Unreadable(f"{name} cannot be read: {error.strerror or error}.") from None


def _zipped(file: IO[bytes], name: str, depth: int, allowance: ReadingAllowance) -> Iterator[Named]:
    try:
        with zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            require_few(len(entries), name)
            allowance.unpack(entries, name)
            for entry in sorted(entries, key=lambda info: info.filename):
                yield from _entry(archive, entry, f"{name}/{entry.filename}", depth, allowance)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, RuntimeError) as error:
        raise Unreadable(f"{name} is not a zip that can be read: {error}.") from None


def _entry(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, depth: int, allowance: ReadingAllowance
) -> Iterator[Named]:
    suffix = PurePosixPath(entry.filename).suffix.lower()
    if suffix in SUFFIXES:
        with archive.open(entry) as packed:
            yield name, packed
    elif suffix == ".zip":
        if depth == DEPTH:
            raise Unreadable(f"{name} is a zip {DEPTH} levels deep; unpack it first.")
        with _spooled(archive, entry) as inner:
            yield from _zipped(inner, name, depth + 1, allowance)


@contextmanager
def _spooled(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
    """Copy a zip within a zip to where it can be read from its end; zipfile stops at its declared size."""
    with tempfile.SpooledTemporaryFile(INNER_IN_MEMORY) as copy, archive.open(entry) as packed:
        while piece := packed.read(PIECE):
            copy.write(piece)
        copy.seek(0, io.SEEK_SET)
        yield copy


def require_few(number: int, name: str) -> None:
    """Refuse what has too many files. Unreadable."""
    if number > FILES:
        raise Unreadable(f"{name} has {number} files; at most {FILES} are read.")


def require_known(entries: list[zipfile.ZipInfo], name: str) -> None:
    """Refuse a zip with an entry that packs too well to be text, or cannot be unpacked. Unreadable."""
    for entry in entries:
        if entry.file_size > max(PACKED_ALLOWANCE, RATIO * entry.compress_size):
            raise Unreadable(f"{name}/{entry.filename} would unpack to over {RATIO} times its size.")
        if entry.compress_type not in METHODS or entry.flag_bits & ENCRYPTED:
            raise Unreadable(f"{name}/{entry.filename} is encrypted, or packed by an unknown method; unpack it first.")
