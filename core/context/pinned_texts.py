"""The pinned system prompt and task, and guidance for the model: whole and before everything else. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.context import rendering
from core.context.packing import Packer
from core.context.reader import OwnerMaterial
from core.context.sections import Section, SectionName
from core.errors import Invalid, Problem

PARTS: Final = (SectionName.SYSTEM_PROMPT, SectionName.TASK, SectionName.GUIDANCE)

LEAST: Final = 64
"""Tokens that must be left for everything else: less holds nothing worth a call."""

SEPARATOR: Final = 2
"""Tokens between two sections."""


def pinned_sections(packer: Packer, material: OwnerMaterial) -> Sequence[Section]:
    """Return a section for each pinned text. They are never shortened, so each is allowed what it takes."""
    pinned, sections = material.pinned, []
    for part, text in zip(PARTS, (pinned.system_prompt, pinned.task, material.guidance), strict=True):
        if text:
            from_message = part == SectionName.SYSTEM_PROMPT and pinned.message_id is not None
            piece = rendering.of_pinned(part, text, {"message_id": pinned.message_id} if from_message else {})
            whole = rendering.section_text(part, [piece])
            sections.append(Section(part, whole, packer.cost(whole), packer.cost(whole), [piece]))
    return sections


def pinned_tokens(packer: Packer, material: OwnerMaterial, limit: int) -> int:
    """Return the tokens of the pinned texts. Invalid: at `/max_tokens`, if they leave no room for a context."""
    taken = sum(section.tokens + SEPARATOR for section in pinned_sections(packer, material))
    if taken and limit - taken < LEAST:
        message = (
            f"the pinned system prompt and task take {taken} tokens; ask for at least {taken + LEAST}, or shorten them"
        )
        raise Invalid([Problem("/max_tokens", message)])
    return taken
