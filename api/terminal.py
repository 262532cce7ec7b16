"""Safe terminal output: no stored text can move the cursor, write to the clipboard or reorder the display.

Commands print through `out` or `err`; both replace control characters in everything they render. Text inside markup
must go through `escape` first, so that widths are computed from what is displayed.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import Final

from rich import markup
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

_HIDDEN: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"  # what reorders text, or is not seen
    "\U000e0000-\U000e007f]"  # invisible copies of ASCII
)
"""Characters that control a terminal, or that display differently from how they are stored."""

_PICTURES: Final = 0x2400
"""First code point of Unicode's pictures of the C0 controls: U+241B is ␛."""

_FIRST_PRINTABLE: Final = 0x20
_DELETE: Final = 0x7F


class SafeConsole(Console):
    """A console on which stored text has no effect but to be displayed."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield the segments of a renderable; rich's own (colours, cursor of a live display) are unchanged."""
        for segment in super().render(renderable, options):
            safe = segment.control or not _HIDDEN.search(segment.text)
            yield segment if safe else Segment(visible(segment.text), segment.style)


out = SafeConsole()
err = SafeConsole(stderr=True)


def visible(text: str) -> str:
    """Return the text with each control or invisible character in visible form: `␛`, `‹U+202E›`."""
    return _HIDDEN.sub(lambda found: _visible(ord(found.group())), text)


def escape(text: str) -> str:
    """Escape external text for use within markup."""
    return markup.escape(visible(text))


def as_json(value: object, indent: int | None = None) -> str:
    """Return a value as JSON without control characters for terminals."""
    return json_escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def json_escaped(written: str) -> str:
    """Return an equivalent JSON document without control characters for terminals."""
    return _HIDDEN.sub(lambda found: _json_escape(ord(found.group())), written)


def write(text: str) -> None:
    """Write text to standard output without wrapping or colours; control characters are replaced."""
    sys.stdout.write(visible(text))


def say(line: str, console: Console = out) -> None:
    """Print a line of markup as it is: neither wrapped nor coloured further."""
    console.print(line, soft_wrap=True, highlight=False)


def _visible(code: int) -> str:
    if code < _FIRST_PRINTABLE:
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"‹U+{code:04X}›"


def _json_escape(code: int) -> str:
    utf16 = chr(code).encode("utf-16-be")
    return "".join(f"\\u{utf16[n]:02x}{utf16[n + 1]:02x}" for n in range(0, len(utf16), 2))
