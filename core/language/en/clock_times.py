"""Hours of the day in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_HALF: Final = 12

_WORDS: Final = "one two three four five six seven eight nine ten eleven twelve".split()

_TWELVE = re.compile(r"(?<![\d:.])(?P<hour>1[0-2]|0?[1-9])(?::[0-5]\d)?\s?(?P<half>[ap])\.?m\b\.?", re.IGNORECASE)

_CLOCK = re.compile(r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):[0-5]\d(?![\d:])(?!\s?[ap]\.?m\b)", re.IGNORECASE)

_OCLOCK = re.compile(
    rf"\b(?P<hour>1[0-2]|[1-9]|{'|'.join(_WORDS)}) o['’]clock"
    r"(?: in the (?P<part>morning|afternoon|evening)| at night)?",
    re.IGNORECASE,
)

_NAMED = re.compile(r"\b(?:noon|midnight)\b", re.IGNORECASE)


def hours(text: str) -> Iterator[int]:
    """Yield the hours that a text names: "at 7 pm", "19:30", "noon"."""
    for match in _TWELVE.finditer(text):
        yield int(match["hour"]) % _HALF + (_HALF if match["half"].lower() == "p" else 0)
    for match in _CLOCK.finditer(text):
        yield int(match["hour"])
    for match in _OCLOCK.finditer(text):
        named = match["hour"].lower()
        hour = _WORDS.index(named) + 1 if named in _WORDS else int(named)
        late = match["part"] in {"afternoon", "evening"} or match[0].endswith("at night")
        yield hour % _HALF + _HALF if late else hour
    for match in _NAMED.finditer(text):
        yield _HALF if match[0].lower() == "noon" else 0
