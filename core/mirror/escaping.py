"""Escapes statements for one line.

Uses Markdown's own means, so that a preview shows the statement: backslashes before punctuation, `<br>` for a new
line, numeric entities for characters that editors lose.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

PIN: Final = "📌"

_CARE = re.compile(r"\\(?!\w)|<|&(?=#)|!(?=\[)|\](?=[(\[])")
"""Text that would be read as an escape, a tag, a comment, a line break, an entity, an image or a link.

A preview must neither run nor fetch anything from a statement: no script, no external picture.
"""

_LOST = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|^\s+|\s+$")
"""Characters that editors change or strip: controls, other line ends, byte order marks, space at the ends."""

_LEADING = re.compile(r"[-+*>#\[]")
"""Characters that would start another construct at the beginning of a list item."""

_READ = re.compile(
    r"\\([!-/:-@\[-`{-~])|(<br\s*/?>)|&#(?:(?P<decimal>\d{1,7})|x(?P<hex>[0-9a-f]{1,6}));", re.IGNORECASE
)

_TAG_CARE = re.compile(r"[\s,{}%<>\\&\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")

_SURROGATES = range(0xD800, 0xE000)

_LAST = 0x10FFFF


def escape(content: str) -> str:
    """Return the statement as text of one line."""
    text = _CARE.sub(lambda match: "\\" + match.group(), content).replace("\n", "<br>")
    text = _LOST.sub(lambda match: "".join(f"&#{ord(character)};" for character in match.group()), text)
    if text.endswith("}"):
        text = text[:-1] + "\\}"
    if text.startswith(PIN):
        return f"&#{ord(PIN)};{text[1:]}"
    return "\\" + text if _LEADING.match(text) else text


def inert(name: str) -> str:
    """Return a name as part of a heading, without active markup."""
    return re.sub(r"[\\#<!\[\]&]", r"\\\g<0>", " ".join(name.split()))


def unescape(text: str) -> str:
    """Return the statement in an escaped text."""
    return _READ.sub(_character_of, text)


def words(content: str) -> str:
    """Return a statement for comparison: a formatter that collapses spaces has edited nothing."""
    return " ".join(content.split())


def escape_tag(tag: str) -> str:
    """Return a tag as one word without commas and braces."""
    return _TAG_CARE.sub(lambda match: quote(match.group(), safe=""), tag)


def unescape_tag(text: str) -> str:
    return unquote(text)


def _character_of(match: re.Match[str]) -> str:
    if match.group(1):
        return match.group(1)
    if match.group(2):
        return "\n"
    decimal = match.group("decimal")
    code = int(decimal) if decimal else int(match.group("hex"), 16)
    return chr(code) if 0 < code <= _LAST and code not in _SURROGATES else match.group()
