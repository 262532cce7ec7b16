"""The one way to a terminal: no stored text can move the cursor, write the clipboard or reorder what is read.

Whatever a command prints goes through `out` or `err`; both replace control characters in everything they render.
Text for markup goes through `escape` first, so that widths are computed of what is shown.
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
"""What a terminal obeys, or what reads otherwise than it is stored."""

_PICTURES: Final = 0x2400
"""Where Unicode's pictures of the C0 controls begin: U+241B is ␛."""

_FIRST_PRINTABLE: Final = 0x20
_DELETE: Final = 0x7F


class SafeConsole(Console):
    """A console on which stored text is only ever text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of a renderable; those of rich itself (colours, cursor of a live display) stay as they are."""
        for segment in super().render(renderable, options):
            safe = segment.control or not _HIDDEN.search(segment.text)
            yield segment if safe else Segment(visible(segment.text), segment.style)


out = SafeConsole()
err = SafeConsole(stderr=True)


def visible(text: str) -> str:
    """The text with each control and invisible character as something that is seen: `␛`, `‹U+202E›`."""
    return _HIDDEN.sub(lambda found: _visible(ord(found.group())), text)


def escape(text: str) -> str:
    """Text from elsewhere, to stand within markup."""
    return markup.escape(visible(text))


def as_json(value: object, indent: int | None = None) -> str:
    """A value as JSON, without any character that a terminal obeys."""
    return json_escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def json_escaped(written: str) -> str:
    """A JSON document that says the same and holds no character that a terminal obeys."""
    return _HIDDEN.sub(lambda found: _json_escape(ord(found.group())), written)


def write(text: str) -> None:
    """Write text as it is to standard output, but for what a terminal would obey; without wrapping or colours."""
    sys.stdout.write(visible(text))


def _visible(code: int) -> str:
    if code < _FIRST_PRINTABLE:
        return chr(_PICTURES + code)
    return "␡" if code == _DELETE else f"‹U+{code:04X}›"


def _json_escape(code: int) -> str:
    utf16 = chr(code).encode("utf-16-be")
    return "".join(f"\\u{utf16[n]:02x}{utf16[n + 1]:02x}" for n in range(0, len(utf16), 2))
