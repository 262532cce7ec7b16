"""Field values before a change. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

from core.errors import Conflict
from core.memory import updates
from core.memory.rows import MemoryRow
from core.types import Json, Status, Trust

FIELDS = tuple(sorted(updates.EDITABLE))
"""Columns of a memory's own; all others are computed from these, or from its use."""

FIRM = ("content", "status", "attribute", "value")
"""Fields that are not reverted if someone has changed them again; for all others the later value stays."""

TIMES = frozenset({"occurred_at", "valid_from", "valid_to", "expires_at"})


@dataclass(frozen=True, slots=True)
class HistoryStep:
    """A version of a memory, with the change that made it."""

    version: int
    change: str
    change_id: UUID | None
    snapshot: Json


@dataclass(frozen=True, slots=True)
class _Turn:
    """A field before and after a change."""

    before: Any
    after: Any


def is_created_by(steps: Sequence[HistoryStep], change_id: UUID) -> bool:
    """Return whether the change created the memory with these versions."""
    return bool(steps) and steps[0].version == 1 and steps[0].change_id == change_id


def stays(steps: Mapping[UUID, Sequence[HistoryStep]], change_id: UUID) -> frozenset[UUID]:
    """Return the memories that a change created and that its undo leaves as they are: it ended others, or a part.

    What the newer statement says is true whether or not the older one has ended.
    """
    created = {memory_id for memory_id, versions in steps.items() if is_created_by(versions, change_id)}
    others = (versions for memory_id, versions in steps.items() if memory_id not in created)
    return frozenset(created if any(_ends(versions, change_id) for versions in others) else ())


def _ends(steps: Sequence[HistoryStep], change_id: UUID) -> bool:
    turn = _turn(steps, "status", change_id)
    is_over = turn is not None and turn.after == Status.SUPERSEDED.value
    return is_over or _turn(steps, "content", change_id) is not None


def said_something(steps: Sequence[HistoryStep], change_id: UUID) -> bool:
    """Return whether the change has set any field to another value."""
    return any(_turn(steps, name, change_id) for name in FIELDS)


def fields_to_revert(row: MemoryRow, steps: Sequence[HistoryStep], change_id: UUID) -> Json:
    """Return the fields that undoing a change reverts, with their values.

    `steps`: the versions from the one before the change on, oldest first.

    Conflict: what the change set was changed again, or the history does not reach back far enough.
    """
    if is_created_by(steps, change_id):
        _refuse_changed(row, steps, change_id)
        if row.status == Status.SUPERSEDED:  # it was over when it was stored
            return {"status": Status.ACTIVE.value, "valid_to": None}
        return {"status": Status.ARCHIVED.value, "trust": Trust.REJECTED.value}
    if steps and steps[0].change_id == change_id:
        raise Conflict(f"The history of memory {row.id} does not reach back before this change.")
    back: Json = {}
    for name in FIELDS:
        turn, now = _turn(steps, name, change_id), getattr(row, name)
        if turn is None or now == turn.before:
            continue
        if now == turn.after:
            back[name] = turn.before
        elif name in FIRM:
            raise _refusal(row, steps, name)
    return back


def _refuse_changed(row: MemoryRow, steps: Sequence[HistoryStep], change_id: UUID) -> None:
    """Refuse to undo the creation of a memory that was changed since."""
    made = next(step for step in reversed(steps) if step.change_id == change_id)
    for name in FIRM:
        if getattr(row, name) != _value(made, name):
            raise _refusal(row, steps, name)


def _turn(steps: Sequence[HistoryStep], name: str, change_id: UUID) -> _Turn | None:
    """Return a field before and after a change; None if it did not change.

    Changes by others in between count as before.
    """
    turn, mine = None, False
    for earlier, later in pairwise(steps):
        before, after = _value(earlier, name), _value(later, name)
        if before == after:
            continue
        if later.change_id == change_id:
            turn = _Turn(turn.before if turn and mine else before, after)
        mine = later.change_id == change_id
    return turn


def _value(step: HistoryStep, name: str) -> Any:
    value = step.snapshot.get(name)
    return datetime.fromisoformat(value) if value and name in TIMES else value


def _refusal(row: MemoryRow, steps: Sequence[HistoryStep], name: str) -> Conflict:
    """Return the conflict, with the later change in its message."""
    touching = [later for earlier, later in pairwise(steps) if _value(earlier, name) != _value(later, name)]
    later = (touching or steps)[-1]
    return Conflict(
        f"The {name} of memory {row.id} was changed again by version {later.version} ({later.change}, change "
        f"{later.change_id}). Undo that first."
    )
