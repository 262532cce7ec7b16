"""Sections of a context and their pieces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.context.selection import Omission
from core.types import Json


class SectionName(StrEnum):
    """Parts in order: what changes least comes first, so that a model's cache reaches far."""

    SYSTEM_PROMPT = "system_prompt"
    TASK = "task"
    GUIDANCE = "guidance"
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
class SectionPiece:
    """A line, passage or message, and what it cites.

    `key` is unique: `memory:<id>`, `message:<session>/<id>`, `document:<id>#<passage>`, …
    `heading`: its heading in the section; `role`: of a message. `content`: its plain words, if
    `text` has more around them.
    """

    key: str
    text: str
    source: Json
    heading: str = ""
    role: str = ""
    content: str = ""

    @property
    def words(self) -> str:
        """The plain words, without marks and dates."""
        return self.content or self.text


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the context: its text, its tokens, and what was left out of it."""

    part: SectionName
    text: str
    tokens: int
    allowed: int
    pieces: Sequence[SectionPiece] = ()
    left_out: Sequence[Omission] = ()


TITLES = {
    SectionName.TASK: "Task",
    SectionName.GUIDANCE: "How to Use What Is Remembered",
    SectionName.INSTRUCTIONS: "Standing Instructions",
    SectionName.PROFILE: "About the User",
    SectionName.MEMORIES: "What Is Remembered",
    SectionName.KNOWLEDGE: "Knowledge",
    SectionName.SUMMARY: "Earlier in This Conversation",
    SectionName.PLAN: "Plan",
    SectionName.SINCE: "Learnt Since",
    SectionName.FOCUS: "Remembered for This Question",
}
"""Title of each section; the system prompt is the agent's own text, recent messages are messages: both have none."""
