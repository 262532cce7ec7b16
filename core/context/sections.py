"""Part, Piece, Section."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.context.selection import LeftOut
from core.types import Json


class Part(StrEnum):
    """The sections, in their order: what changes least comes first, so that a model's cache reaches far."""

    INSTRUCTIONS = "instructions"
    PROFILE = "profile"
    MEMORIES = "memories"
    KNOWLEDGE = "knowledge"
    SUMMARY = "summary"
    PLAN = "plan"
    RECENT = "recent"
    SINCE = "since"
    FOCUS = "focus"


@dataclass(frozen=True, slots=True)
class Piece:
    """One line, passage or message, and what it rests on.

    `key` tells it from all others: `memory:<id>`, `message:<session>/<id>`, `document:<id>#<passage>`, …
    `heading`: under which it stands in its section; `role`: of a message. `content`: what it says, where
    that is written with something around it.
    """

    key: str
    text: str
    source: Json
    heading: str = ""
    role: str = ""
    content: str = ""

    @property
    def words(self) -> str:
        """As it was said: without marks and dates."""
        return self.content or self.text


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the context as it is shown: its text, what that costs, and what was left out of it."""

    part: Part
    text: str
    tokens: int
    allowed: int
    pieces: Sequence[Piece] = ()
    left_out: Sequence[LeftOut] = ()


TITLES = {
    Part.INSTRUCTIONS: "Standing Instructions",
    Part.PROFILE: "About the User",
    Part.MEMORIES: "What Is Remembered",
    Part.KNOWLEDGE: "Knowledge",
    Part.SUMMARY: "Earlier in This Conversation",
    Part.PLAN: "Plan",
    Part.SINCE: "Learnt Since",
    Part.FOCUS: "Remembered for This Question",
}
"""How each section is headed; recent messages are messages, and have no heading."""
