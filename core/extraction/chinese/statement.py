"""A statement of a Chinese clause, and what goes on from clause to clause of a message."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from core.extraction.chinese import life
from core.extraction.chinese.people import Sort, Subject
from core.extraction.pattern_types import Slot
from core.language import dates
from core.types import Category


@dataclass(slots=True)
class ClauseStatement:
    """A statement. `plain`: in the speaker's words, with its subject; `text`: as stored."""

    quote: str
    plain: str
    text: str
    subject: str
    category: Category
    importance: float
    found: tuple[dates.DateMention, ...] = ()
    slots: tuple[Slot, ...] = ()
    fact: life.Fact | None = None
    corrects: bool = False
    instructs: bool = False

    @property
    def attributes(self) -> set[str]:
        """The names of the slots that it fills."""
        return {slot.attribute for slot in self.slots} | ({self.fact.attribute} if self.fact else set())


@dataclass(slots=True)
class ClauseContext:
    """State carried from clause to clause of a message.

    `before`: the clause before, with its subject; `told_of`: the subject of the sentence before.
    """

    said_at: datetime
    subject: Subject = field(default_factory=lambda: Subject(Sort.SPEAKER))
    thing: str = ""
    before: str = ""
    last_statement: ClauseStatement | None = None
    leader: Subject = field(default_factory=lambda: Subject(Sort.SPEAKER))
    corrects: bool = False
    lost: bool = False
    often: bool = False
    had: re.Match[str] | None = None
    told_of: Subject = field(default_factory=lambda: Subject(Sort.SPEAKER))
