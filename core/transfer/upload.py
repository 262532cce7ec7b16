"""A file over the parts of an upload, of which one is in memory at a time."""

from __future__ import annotations

import io
from collections.abc import Callable


class UploadFile(io.RawIOBase):
    """Reads an upload as a file that can be searched. `read_part`: returns a part by its number."""

    def __init__(self, size: int, part_bytes: int, read_part: Callable[[int], bytes]) -> None:
        super().__init__()
        self._size = size
        self._part_bytes = part_bytes
        self._read_part = read_part
        self._at = 0
        self._number = -1
        self._part = b""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(offset)
        self._at = base + offset
        return self._at

    def readinto(self, target: object) -> int:
        """Read up to the end of the current part."""
        view = memoryview(target).cast("B")  # type: ignore[arg-type]
        if self._at >= self._size or not view:
            return 0
        number, within = divmod(self._at, self._part_bytes)
        if number != self._number:
            self._part, self._number = self._read_part(number), number
        piece = self._part[within : within + len(view)]
        view[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)
