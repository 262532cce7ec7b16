"""The kinds of change: Add, Confirm, Merge, Replace ...."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from uuid_utils.compat import uuid7

from core.memory import identity
from core.types import Candidate, Relation

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Owner:
    """Owner of a memory: a user, and the group if it was said in one."""

    user_id: str
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A memory from which another is derived, at the version that was read."""

    id: UUID
    version: int


@dataclass(frozen=True, slots=True)
class Add:
    """Store a new statement.

    `supersedes`: the memory that it replaces. `past`: it ended already, at this time. `also`: what else it ends, each
    with its reason; undone together with it.
    """

    candidate: Candidate
    reason: str
    vector: Vector | None = None
    supersedes: identity.KnownMemory | None = None
    past: datetime | None = None
    also: Sequence[identity.Revised] = ()
    id: UUID = field(default_factory=uuid7)
    change_id: UUID = field(default_factory=uuid7)

    @property
    def retired(self) -> list[identity.Revised]:
        """Return all known memories that it ends, each with its reason."""
        first = [identity.Revised(self.supersedes, self.reason)] if self.supersedes else []
        return [*first, *self.also]


@dataclass(frozen=True, slots=True)
class Confirm:
    """Confirm a known memory: more evidence, more confidence, no new row."""

    known: identity.KnownMemory
    candidate: Candidate
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Merge:
    """Merge a statement into a known one: evidence and tags of both, and the wording that says more.

    `candidate`: the new statement; its wording is taken over with `vector`, and dropped if that is None. `absorbs`: the
    memory that holds the statement, if there is one; it is archived.
    """

    known: identity.KnownMemory
    candidate: Candidate
    reason: str
    vector: Vector | None = None
    absorbs: identity.KnownMemory | None = None
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Replace:
    """Correct a known memory in place; its history keeps the earlier wording."""

    known: identity.KnownMemory
    candidate: Candidate
    reason: str
    vector: Vector
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Dispute:
    """Mark two statements as contradicting, where nothing decides between them: both stay, neither is trusted."""

    memory: identity.KnownMemory
    other: identity.KnownMemory
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Store nothing but the verdict: the statement is not worth storing, or must not be stored."""

    candidate: Candidate
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Joined:
    """Store the verdict of a statement that another one of its batch absorbs.

    `merged`: the other says more, or corrects it; otherwise both say the same.
    """

    memory_id: UUID
    candidate: Candidate
    reason: str
    merged: bool = False
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Derive:
    """Derive a memory from several, with the evidence of all.

    `retires`: the parts are archived, and the new memory takes over the latest use of a part; otherwise they stay
    active.
    """

    candidate: Candidate
    parts: Sequence[Part]
    reason: str
    vector: Vector | None = None
    retires: bool = False
    level: int = 1
    id: UUID = field(default_factory=uuid7)
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Edit:
    """Set fields of a memory.

    `fields`: columns of `core.memory.updates.EDITABLE` with their new values. `vector` belongs to a new `content`;
    without one it is found by its words alone. Edits that share a `change_id` are undone together.
    """

    id: UUID
    version: int
    fields: Mapping[str, object]
    reason: str
    vector: Vector | None = None
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Link:
    """Relate two memories. `strength`: share of the weight of its kind, above 0 and at most 1.

    A relation that exists stays as it is, unless a strength is given.
    """

    from_id: UUID
    relation: Relation
    to_id: UUID
    change_id: UUID = field(default_factory=uuid7)
    strength: float | None = None


@dataclass(frozen=True, slots=True)
class Unlink:
    """Remove a relation of two memories."""

    from_id: UUID
    relation: Relation
    to_id: UUID
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Archive:
    """Archive a memory: it is served only on request, and nothing of it is lost.

    `version`: the one this was decided on.
    """

    id: UUID
    version: int
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore an archived memory; it starts to fade from now."""

    id: UUID
    version: int
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Pin:
    """Pin a memory, so that it never fades, or unpin it."""

    id: UUID
    version: int
    pinned: bool
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Use:
    """Count a recall.

    It makes no version and no event: nothing that the memory says has changed, recalls would fill its history, and
    readers must not block writers.
    """

    id: UUID


Change = (
    Add
    | Confirm
    | Merge
    | Replace
    | Joined
    | Dispute
    | Ignore
    | Derive
    | Edit
    | Link
    | Unlink
    | Archive
    | Restore
    | Pin
    | Use
)
