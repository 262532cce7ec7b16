"""Statements that quote their speaker, `Ada said: “…”`, and their text without the frame. Pure."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from core.language.lexicon import HAN

LONGEST: Final = 2_000
"""Characters. What is longer is a document."""


class QuotationFrame(NamedTuple):
    """The words around a quotation. `after`: what was said before it, `asked`: what it answers."""

    said: str
    said_on: str
    asked: str
    after: str

    def around(self, speaker: str, words: str, *, day: str | None = None, asked: str = "", after: str = "") -> str:
        """Return the statement that quotes `words`, said on `day` where that matters."""
        before = self.after.format(after=after) if after else ""
        question = self.asked.format(asked=asked) if asked else ""
        text = before + question + (self.said_on if day else self.said).format(speaker=speaker, day=day, words=words)
        return text[:1].upper() + text[1:]


FRAMES: Final = {
    "en": QuotationFrame(
        "{speaker} said: “{words}”", "{speaker} said on {day}: “{words}”", "asked “{asked}”, ", "after “{after}”, "
    ),
    "zh": QuotationFrame(
        "{speaker}说：“{words}”", "{speaker}在{day}说：“{words}”", "被问到“{asked}”，", "在“{after}”之后，"
    ),
}
_QUOTED: Final = re.compile(
    r"(?:^|”(?:之后)?[,，] ?)(?P<speaker>[^“”：:]{1,200}?)"
    r"(?: said(?: on [^“”:]{1,30})?: |(?:在[^“”：]{1,15})?说：)“(?P<words>.*)”$",
    re.DOTALL,
)


class Quotation(NamedTuple):
    """A speaker and the quoted words."""

    speaker: str
    words: str


def read(content: str) -> Quotation | None:
    """Return the quotation that a statement is; None: it is none."""
    found = _QUOTED.search(content) if len(content) <= LONGEST and content.endswith("”") else None
    return Quotation(found["speaker"], found["words"]) if found else None


def language_of(content: str) -> str:
    return "zh" if HAN.search(content) else "en"
