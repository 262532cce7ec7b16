"""Leaves out new statements that matter less than a tenant keeps. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from core.memory.changes import Add, Change, Dispute, Ignore, Joined, Link
from core.types import Relation, Trust


def leave_out(decided: Sequence[Change], least: float) -> list[Change]:
    """Return the changes with additions below `least` ignored, each with a verdict that says why.

    A statement that confirms, corrects, ends or contradicts another one is kept, and so is one that is quarantined or
    that another change of the batch refers to.
    """
    needed = {memory_id for change in decided for memory_id in _referred(change)}
    left_out = {change.id for change in decided if isinstance(change, Add) and _is_left_out(change, least, needed)}
    return [
        _ignored(change, least) if isinstance(change, Add) and change.id in left_out else change
        for change in decided
        if not (isinstance(change, Link) and change.from_id in left_out)
    ]


def _is_left_out(change: Add, least: float, needed: set[UUID]) -> bool:
    return (
        change.candidate.importance < least
        and change.candidate.trust is not Trust.QUARANTINED
        and not change.candidate.pinned
        and not change.retired
        and change.id not in needed
    )


def _ignored(change: Add, least: float) -> Ignore:
    candidate = change.candidate
    reason = f"Its importance, {candidate.importance:g}, is below what this tenant keeps: {least:g}."
    return Ignore(candidate, reason, change.change_id)


def _referred(change: Change) -> list[UUID]:
    match change:
        case Dispute():
            return [change.memory.id, change.other.id]
        case Link(relation=Relation.MAY_SUPERSEDE):
            return []
        case Link():
            return [change.from_id, change.to_id]
        case Joined():
            return [change.memory_id]
        case _:
            return []
