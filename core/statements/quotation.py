"""Statements that quote their speaker, `Ada said: “…”`, and their text without the frame. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from core.language import languages

LONGEST: Final = 2_000
"""Maximum characters; longer texts are documents."""


FRAMES: Final = {language.code: language.statements.quotation for language in languages.ALL if language.statements}
_QUOTED: Final = re.compile(
    rf"(?:^|”(?:{'|'.join(frame.behind for frame in FRAMES.values())})[,，] ?)(?P<speaker>[^“”：:]{{1,200}}?)"
    rf"(?:{'|'.join(frame.begins for frame in FRAMES.values())})“(?P<words>.*)”$",
    re.DOTALL,
)


_BEFORE: Final = re.compile("“([^“”]*)”")


class Quotation(NamedTuple):
    """A speaker and the quoted words."""

    speaker: str
    words: str


def as_spoken(content: str) -> str:
    """Return a quotation as its speaker said it, with what was said before it; any other statement as it is.

    `After “My sister is Eilidh.”, Ada said: “She's a vet.”` → `Ada: My sister is Eilidh. She's a vet.`
    """
    quoted = read(content)
    if quoted is None:
        return content
    frame = content.removesuffix(f"“{quoted.words}”")
    return " ".join([f"{quoted.speaker}:", *_BEFORE.findall(frame), quoted.words])


def read(content: str) -> Quotation | None:
    """Return the quotation that a statement is; None: it is none."""
    found = _QUOTED.search(content) if len(content) <= LONGEST and content.endswith("”") else None
    return Quotation(found["speaker"], found["words"]) if found else None
