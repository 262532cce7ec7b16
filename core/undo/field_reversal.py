"""Field values before a change. Pure."""

from __future__ import annotations

from collections.abc import Sequence
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
"""What a memory says; all other columns follow from these, or from use."""

FIRM = ("content", "status", "attribute", "value")
"""Fields that are not turned back under someone who has changed them again; of all others the later word holds."""

TIMES = frozenset({"occurred_at", "valid_from", "valid_to", "expires_at"})


@dataclass(frozen=True, slots=True)
class Step:
    """One version of a memory, with the change that made it."""

    version: int
    change: str
    change_id: UUID | None
    snapshot: Json


@dataclass(frozen=True, slots=True)
class _Turn:
    """A field before and after a change."""

    before: Any
    after: Any


def created(steps: Sequence[Step], change_id: UUID) -> bool:
    """Whether a change made the memory whose versions these are."""
    return bool(steps) and steps[0].version == 1 and steps[0].change_id == change_id


def said_something(steps: Sequence[Step], change_id: UUID) -> bool:
    """Whether a change has set any field to something else."""
    return any(_turn(steps, name, change_id) for name in FIELDS)


def fields(row: MemoryRow, steps: Sequence[Step], change_id: UUID) -> Json:
    """The fields of a row that go back when a change is undone, with what they go back to.

    `steps`: its versions from the one before the change on, oldest first. Conflict: what the change made of it was
    changed again, or its history does not reach back so far.
    """
    if created(steps, change_id):
        _refuse_changed(row, steps, change_id)
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
            raise _overtaken(row, steps, name)
    return back


def _refuse_changed(row: MemoryRow, steps: Sequence[Step], change_id: UUID) -> None:
    """A memory that a change made goes as it was made, not with what others have made of it since."""
    made = next(step for step in reversed(steps) if step.change_id == change_id)
    for name in FIRM:
        if getattr(row, name) != _value(made, name):
            raise _overtaken(row, steps, name)


def _turn(steps: Sequence[Step], name: str, change_id: UUID) -> _Turn | None:
    """What a change has made of a field; None: nothing. What another did in between is where it began."""
    turn, mine = None, False
    for earlier, later in pairwise(steps):
        before, after = _value(earlier, name), _value(later, name)
        if before == after:
            continue
        if later.change_id == change_id:
            turn = _Turn(turn.before if turn and mine else before, after)
        mine = later.change_id == change_id
    return turn


def _value(step: Step, name: str) -> Any:
    value = step.snapshot.get(name)
    return datetime.fromisoformat(value) if value and name in TIMES else value


def _overtaken(row: MemoryRow, steps: Sequence[Step], name: str) -> Conflict:
    """The refusal that names the later change."""
    touching = [later for earlier, later in pairwise(steps) if _value(earlier, name) != _value(later, name)]
    later = (touching or steps)[-1]
    return Conflict(
        f"The {name} of memory {row.id} was changed again by version {later.version} ({later.change}, change "
        f"{later.change_id}). Undo that first."
    )
