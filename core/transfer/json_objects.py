"""Reads JSON objects one by one from a file that may not fit into memory: an array, one object, or one per line."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import IO, Any, Final

from core.transfer.opened import Unreadable

PIECE: Final = 1024**2

LONGEST: Final = 64 * 1024**2
"""Characters of one object."""

SPACE: Final = re.compile(r"[\s,]*")

_DECODER: Final = json.JSONDecoder()


def read(file: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the elements of an array, or the values that follow one another. Unreadable names the place."""
    text = _Text(file, name)
    if text.peek() == "[":
        text.skip(1)
        yield from _elements(text)
    else:
        while text.peek():
            yield text.value()


def _elements(text: _Text) -> Iterator[Any]:
    while (mark := text.peek()) != "]":
        if not mark:
            raise Unreadable(f"{text.name} ends at character {text.at} within its list; is it whole?")
        yield text.value()
    text.skip(1)
    if text.peek():
        raise Unreadable(f"{text.name} goes on behind the end of its list, at character {text.at}.")


class _Text:
    """The part of a file that has been read and not yet used. The buffer doubles for a value that does not fit."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self.name = name
        self._file = file
        self._decode = codecs.getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._used = 0
        self._before = 0
        self._is_over = False

    @property
    def at(self) -> int:
        """Place in the file, in characters."""
        return self._before + self._used

    def skip(self, number: int) -> None:
        self._used += number

    def peek(self) -> str:
        """Return the next character that is neither space nor comma; "" at the end."""
        while True:
            self._used = SPACE.match(self._buffer, self._used).end()  # type: ignore[union-attr]
            if self._used < len(self._buffer):
                return self._buffer[self._used]
            if not self._fill():
                return ""

    def value(self) -> Any:
        """Return the next value."""
        while True:
            try:
                parsed, end = _DECODER.raw_decode(self._buffer, self._used)
            except RecursionError:
                raise Unreadable(f"{self.name} is nested too deeply at character {self.at}.") from None
            except json.JSONDecodeError as error:
                if len(self._buffer) - self._used > LONGEST:
                    raise Unreadable(f"{self.name} has a value of over {LONGEST} characters at {self.at}.") from None
                position = self._before + error.pos
                if not self._fill():
                    raise Unreadable(f"{self.name} is not JSON at character {position}: {error.msg}.") from None
            except ValueError:
                raise Unreadable(f"{self.name} has a number with too many digits behind character {self.at}.") from None
            else:
                if end == len(self._buffer) and isinstance(parsed, int | float) and self._fill():
                    continue  # A number may go on.
                self._used = end
                return parsed

    def _fill(self) -> bool:
        """Read as much again as is left; return whether there was anything."""
        if self._is_over:
            return False
        rest = self._buffer[self._used :]
        raw = self._file.read(max(PIECE, len(rest)))
        try:
            more = self._decode.decode(raw, final=not raw)
        except UnicodeDecodeError:
            raise Unreadable(f"{self.name} is not UTF-8 behind character {self.at}.") from None
        self._is_over = not raw
        self._before += self._used
        self._buffer, self._used = rest + more, 0
        return bool(raw)
