"""Checks that model output adds no names or numbers; clips quotes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from core.language.terms import STOPWORDS

QUOTED: Final = 160
"""Characters of a quote within a retelling."""


LONGEST: Final = 1_200
"""Characters of a model's retelling."""


def is_grounded(narrative: str, name: str, sources: Sequence[str]) -> bool:
    """Return whether a retelling names its person, and no number, name or address that its sources lack."""
    if name not in narrative or len(narrative) > LONGEST:
        return False
    said = "\n".join([name, *sources]).casefold()
    allowed = set(_TOKEN.findall(said)) | STOPWORDS | _LEADING
    marks = {mark.casefold() for mark in _MARKS.findall(narrative)}
    addresses = {mark.casefold() for mark in _ADDRESS.findall(narrative)}
    return marks <= allowed and all(address in said for address in addresses)


def names_only(text: str, sources: Sequence[str]) -> bool:
    """Return whether a text has no name or address that its sources lack; numbers may be counted from them."""
    source = "\n".join(sources).casefold()
    allowed = set(_TOKEN.findall(source)) | STOPWORDS | _LEADING
    marks = {mark.casefold() for mark in _MARKS.findall(text) if not mark[0].isdigit()}
    months = {month.casefold() for month in _CAPITALIZED_DATES.findall(text)}
    return marks - months <= allowed and all(mark.casefold() in source for mark in _ADDRESS.findall(text))


def clip(said: str, most: int = QUOTED) -> str:
    """Return a text on one line, cut at a word where it is longer."""
    line = " ".join(said.split())
    if len(line) <= most:
        return line
    cut = line[: most - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[most // 2 :] else cut}…"


_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+")


_MARKS = re.compile(r"\d+(?:[.,:/-]\d+)*|(?<![^\W\d_])[A-Z][^\W\d_]*")
"""Content that must occur in the sources: numbers, and words written like names."""


_CAPITALIZED_DATES = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Yes|No)\b"
)
"""Words of a date that a relative day comes to, and of an answer."""


_ADDRESS = re.compile(r"https?://\S+|[\w.+-]+@[\w.-]+")


_LEADING = frozenset(
    "later finally afterwards together during eventually first next initially meanwhile after before while since once "
    "although because".split()
)
"""Words capitalized only because they begin sentences."""
