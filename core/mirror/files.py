"""Atomic file access."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from core.errors import Later
from core.mirror.front_matter import UnreadableFile
from core.mirror.markdown import FILES

LONGEST_NAME: Final = 180
"""Maximum bytes of a folder's name: file systems allow 255, some less."""

LARGEST: Final = 16 * 1024 * 1024
"""Maximum bytes of a file: many times the memories of one user."""

PRIVATE_FOLDER: Final = 0o700
PRIVATE_FILE: Final = 0o600
"""Modes of new files and folders, independent of the umask, because they contain what a person has said."""

READINGS = 3
"""Attempts to read a file that changes while it is read."""

AGAIN: Final = timedelta(seconds=1)
"""Delay before reading a file again that someone is writing."""

_PLAIN = re.compile(r"[\w@+ ~-][\w@+. ~-]*", re.ASCII)

Stamp = tuple[int, int, int]
"""Modification time in nanoseconds, size in bytes, inode."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as read."""

    text: str
    digest: str
    stamp: Stamp

    @property
    def written_at(self) -> float:
        """Return the modification time, in seconds since 1970."""
        return self.stamp[0] / 1e9


def folder_name(name: str) -> str:
    """Return the folder name of a tenant or user: the name itself if safe, else percent-encoded.

    Names too long for a file system end in a hash; the front matter of the files names the user.
    """
    safe = quote(name, safe="@+ ~") if not _PLAIN.fullmatch(name) else name
    safe = re.sub(r"^[. ]|[. ]$", lambda match: f"%{ord(match.group()):02X}", safe)
    if len(safe) <= LONGEST_NAME:
        return safe
    digest = hashlib.sha256(name.encode()).hexdigest()[:32]
    return f"{safe[: LONGEST_NAME - 40].rstrip('%')}%~{digest}"


def user_of_folder(folder: str) -> str | None:
    """Return the user of a folder; None: the folder's name does not tell."""
    name = unquote(folder, errors="replace")
    return name if folder_name(name) == folder else None


def folder(root: Path, tenant_id: str, user_id: str) -> Path:
    """Return the folder of a user's files."""
    return root / folder_name(tenant_id) / folder_name(user_id)


def stamps(root: Path) -> Iterator[tuple[str, Stamp]]:
    """Return every mirror file below a folder; swap, backup and temporary files of editors have other names."""
    for tenant in _folders(str(root)):
        for user in _folders(tenant):
            for file in FILES:
                # Without Path: of these there are tens of thousands, at every look.
                path = f"{user}/{file}"
                try:
                    yield path, _stamp(os.lstat(path))
                except OSError:
                    continue


def _folders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [e.path for e in entries if not e.name.startswith(".") and e.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def read(path: Path) -> FileState | None:
    """Read a whole file; None: it is missing. Later: someone is writing it. UnreadableFile: it is not a text file."""
    if path.parent.is_symlink():
        # Files behind the link would not be found when the user is erased.
        raise UnreadableFile("Its folder is a symbolic link.")
    for _ in range(READINGS):
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UnreadableFile(f"It cannot be opened: {error.strerror}.") from None
        try:
            before = os.fstat(handle)
            _require_plain(before)
            data = _all(handle)
            after = os.fstat(handle)
        finally:
            os.close(handle)
        if _stamp(before) == _stamp(after) and len(data) == after.st_size:
            return FileState(_text(data), hashlib.sha256(data).hexdigest(), _stamp(after))
    raise Later(f"{path.name} is being written.", AGAIN)


def replace(path: Path, text: str, expected: FileState | None) -> FileState:
    """Replace the content that was read, atomically and with the same mode.

    `expected` None: the file was missing; the new one is readable only by its owner. Later: it has changed since it was
    read; read it first.
    """
    make_private(path.parent)
    temporary = path.with_name(f".{path.name}.tmp")
    temporary.unlink(missing_ok=True)
    data = text.encode()
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "wb") as file:
            file.write(data)
            file.flush()
            if expected is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            os.fsync(file.fileno())
            stamp = _stamp(os.fstat(file.fileno()))
        _take_place(temporary, path, expected)
    except FileNotFoundError:
        raise Later(f"{path.name} was removed in the meantime.", AGAIN) from None
    finally:
        temporary.unlink(missing_ok=True)
    _sync(path.parent)
    return FileState(text, hashlib.sha256(data).hexdigest(), stamp)


def make_private(folder_path: Path) -> None:
    """Create a folder and its missing parents, readable only by their owner; existing ones keep their mode."""
    missing = [folder for folder in (folder_path, *folder_path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)


def remove(folder_of_user: Path) -> int:
    """Remove a user's folder with everything in it, including copies by editors; return the number of files.

    A symbolic link is removed itself: nothing was written behind it.
    """
    number = count(folder_of_user)
    if folder_of_user.is_symlink():
        folder_of_user.unlink()
    elif folder_of_user.is_dir():
        shutil.rmtree(folder_of_user)
        _sync(folder_of_user.parent)
    return number


def count(folder_of_user: Path) -> int:
    """Return the number of files that `remove` would remove."""
    if folder_of_user.is_symlink():
        return 1
    return sum(len(names) for _, _, names in os.walk(folder_of_user))


def _take_place(temporary: Path, path: Path, expected: FileState | None) -> None:
    """Check once more before the change. A write in the instant between the two cannot be detected."""
    if expected is None:
        try:
            os.link(temporary, path)
        except FileExistsError:
            raise Later(f"{path.name} was created again in the meantime.", AGAIN) from None
        return
    current = read(path)
    if current is None or current.digest != expected.digest or current.stamp != expected.stamp:
        raise Later(f"{path.name} was written in the meantime.", AGAIN)
    temporary.replace(path)


def _all(handle: int) -> bytes:
    parts = list[bytes]()
    while part := os.read(handle, LARGEST):
        parts.append(part)
    return b"".join(parts)


def _require_plain(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableFile("It is not a regular file.")
    if status.st_size > LARGEST:
        raise UnreadableFile(f"It is larger than {LARGEST // 1024 // 1024} MiB.")


def _text(data: bytes) -> str:
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"It is not UTF-8 at byte {error.start}.") from None
    if "\x00" in text:
        raise UnreadableFile("It holds a zero byte.")
    return text


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_size, status.st_ino


def _sync(folder_path: Path) -> None:
    """Flush a rename to disk."""
    handle = os.open(folder_path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
