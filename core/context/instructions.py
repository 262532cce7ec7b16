"""Pinned and standing instructions, profile. Pure.

Both come before everything else, so any change in them invalidates a model's cache of all that follows. Therefore
what a session was shown first keeps its place while all of it is valid, and new memories go to a section of their
own just before the last question. Once something is invalid, or the news exceeds that section, everything is laid
out again: one cache miss for all changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from core.context import profile_lines, rendering
from core.context.packing import Packer
from core.context.profile_lines import ProfileLine
from core.context.sections import Section, SectionName, SectionPiece
from core.context.stable_selection import StableSelection

SINCE: Final = 0.25
"""Share of the system part for news. It is read again with each question, so that a larger one would soon cost more
than a new layout."""

NO_NEWS: Final = Section(SectionName.SINCE, "", 0, 0)


@dataclass(frozen=True, slots=True)
class FixedSections:
    """The sections, and the memory ids that identify the first two."""

    always: Section
    profile: Section
    since: Section
    instructions: Sequence[UUID]
    order: Sequence[str]

    @property
    def tokens(self) -> int:
        return self.always.tokens + self.profile.tokens + self.since.tokens

    @property
    def stable(self) -> set[str]:
        """Keys of the pieces before the conversation."""
        return _keys(self.always) | _keys(self.profile)

    @property
    def seen(self) -> set[str]:
        return self.stable | _keys(self.since)


def lay_out(packer: Packer, instructions: Sequence[Any], facts: Sequence[ProfileLine]) -> FixedSections:
    """Lay out instructions, then the profile, as there is room."""
    always = packer.first(SectionName.INSTRUCTIONS, _most(packer), _instruction_pieces(packer, instructions))
    shown_keys = _keys(always)
    untold = [line for line in facts if not all(f"memory:{memory}" in shown_keys for memory in line.memories)]
    order = profile_lines.order(untold)
    ordered, _ = profile_lines.split_lines(untold, order)
    profile = packer.first(SectionName.PROFILE, _room_for_profile(packer, always), [line.piece() for line in ordered])
    keys = {piece.key for piece in profile.pieces}
    displayed = {memory for line in ordered if line.key in keys for memory in line.memories}
    ids = [UUID(piece.source["id"]) for piece in always.pieces]
    return FixedSections(always, profile, NO_NEWS, ids, [memory for memory in order if memory in displayed])


def keep_layout(
    packer: Packer,
    instructions: Sequence[Any],
    facts: Sequence[ProfileLine],
    earlier: StableSelection,
    rows: Mapping[UUID, Any],
    fresh: FixedSections,
) -> FixedSections | None:
    """Keep the earlier layout and add the news of `fresh`; None: something is invalid, or there is no room.

    `rows`: valid memories, for statements that are no longer among the strongest.
    """
    by_id = {row.id: row for row in instructions}
    here = {memory for line in facts for memory in line.memories}
    missing = [rows.get(UUID(memory)) for memory in earlier.profile if memory not in here]
    fell = [profile_lines.displaced_line(row) if row is not None else None for row in missing]
    if None in fell or any(instruction_id not in by_id for instruction_id in earlier.instructions):
        return None
    old, new = profile_lines.split_lines([*facts, *filter(None, fell)], earlier.profile)
    orders = _instruction_pieces(packer, [by_id[instruction_id] for instruction_id in earlier.instructions])
    always = packer.first(SectionName.INSTRUCTIONS, _most(packer), orders)
    profile = packer.first(SectionName.PROFILE, _room_for_profile(packer, always), [line.piece() for line in old])
    since = _news(packer, FixedSections(always, profile, NO_NEWS, (), ()), fresh, new, earlier.memory_ids)
    if always.left_out or profile.left_out or since.left_out:
        return None
    displayed = _keys(always) | _keys(profile) | _keys(since)
    always, profile = _with_reasons(always, fresh.always, displayed), _with_reasons(profile, fresh.profile, displayed)
    return FixedSections(always, profile, since, earlier.instructions, earlier.profile)


def _news(
    packer: Packer, old: FixedSections, fresh: FixedSections, new: Sequence[ProfileLine], memories: Sequence[UUID]
) -> Section:
    """Return the news: what a new layout would add above, without statements shown as memories."""
    above = {piece.key for piece in fresh.profile.pieces}
    displayed_keys = {f"memory:{memory_id}" for memory_id in memories}
    orders = [
        replace(piece, heading=piece.heading or rendering.ORDERS)
        for piece in fresh.always.pieces
        if piece.key not in old.stable
    ]
    facts = [line.piece(rendering.ABOUT) for line in new if line.key in above]
    news = [*orders, *(piece for piece in facts if not displayed_keys & _profile_statements([piece]))]
    allowed = min(int(packer.allowance.system * SINCE), max(0, _most(packer) - old.tokens))
    return packer.first(SectionName.SINCE, allowed, news) if news else replace(NO_NEWS, allowed=allowed)


def _instruction_pieces(packer: Packer, instructions: Sequence[Any]) -> list[SectionPiece]:
    return [
        rendering.of_instruction(row, packer.listener, accept_unconfirmed=packer.accept_unconfirmed)
        for row in instructions
    ]


def _most(packer: Packer) -> int:
    return packer.allowance.system + packer.allowance.long_term


def _room_for_profile(packer: Packer, always: Section) -> int:
    return max(0, packer.allowance.system - always.tokens)


def _with_reasons(section: Section, fresh: Section, displayed_keys: set[str]) -> Section:
    return replace(section, left_out=[left for left in fresh.left_out if left.key not in displayed_keys])


def _keys(section: Section) -> set[str]:
    return {piece.key for piece in section.pieces} | _profile_statements(section.pieces)


def _profile_statements(pieces: Sequence[SectionPiece]) -> set[str]:
    """Return memories repeated word for word in the profile; one that fills a slot says more than the slot."""
    listed = [
        piece for piece in pieces if piece.key.startswith(tuple(f"profile:{name}." for name in profile_lines.LISTED))
    ]
    return {f"memory:{memory}" for piece in listed for memory in piece.source["memories"]}
