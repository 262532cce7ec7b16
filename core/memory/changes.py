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
    """Whose memory it is: a user, and the group where it was said in one."""

    user_id: str
    group_id: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A memory that another is drawn from, at the version it was read in."""

    id: UUID
    version: int


@dataclass(frozen=True, slots=True)
class Add:
    """Keep a new statement. `supersedes`: what it takes the place of. `past`: it is history already, since then.

    `also`: what else it ends, each with its reason; undone together with it.
    """

    candidate: Candidate
    reason: str
    vector: Vector | None = None
    supersedes: identity.Known | None = None
    past: datetime | None = None
    also: Sequence[identity.Revised] = ()
    id: UUID = field(default_factory=uuid7)
    change_id: UUID = field(default_factory=uuid7)

    @property
    def retired(self) -> list[identity.Revised]:
        """All known memories that it ends, each with its reason."""
        first = [identity.Revised(self.supersedes, self.reason)] if self.supersedes else []
        return [*first, *self.also]


@dataclass(frozen=True, slots=True)
class Confirm:
    """Something known was said again: more evidence, more confidence, no new row."""

    known: identity.Known
    candidate: Candidate
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Merge:
    """Two statements of one thing become the known one: evidence and tags of both, and the wording that says more.

    `candidate`: what was said now; its wording is taken over with `vector`, and left where that is None.
    `absorbs`: the memory that said it, where it is one already; it is archived.
    """

    known: identity.Known
    candidate: Candidate
    reason: str
    vector: Vector | None = None
    absorbs: identity.Known | None = None
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Replace:
    """A known statement is put right where it stands; its history keeps what it said before."""

    known: identity.Known
    candidate: Candidate
    reason: str
    vector: Vector
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Dispute:
    """One statement denies another, and nothing tells which holds: both stay, neither is trusted."""

    one: identity.Known
    other: identity.Known
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Ignore:
    """Not worth keeping, or not allowed to be: only the verdict is written down, so that it can be looked at."""

    candidate: Candidate
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Joined:
    """A statement that another one of its batch takes in: the verdict alone is written, for nothing is stored of it.

    `merged`: the other says more, or puts it right; else both say the same.
    """

    memory_id: UUID
    candidate: Candidate
    reason: str
    merged: bool = False
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Derive:
    """Draw several memories together into a new one that rests on the evidence of all.

    `retires`: the parts are archived, for it stands for them from now on, and counts as last used when the last of
    them was; else they stay beside it.
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
    """Someone says how a memory shall be. `fields`: columns of `core.memory.writer.EDITABLE` with their new values.

    Its `vector` belongs to a new `content`; without one it is found by its words alone. Edits that belong together
    share a `change_id` and are undone together.
    """

    id: UUID
    version: int
    fields: Mapping[str, object]
    reason: str
    vector: Vector | None = None
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Link:
    """Two memories have to do with each other."""

    from_id: UUID
    relation: Relation
    to_id: UUID
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Archive:
    """It is served no longer, unless asked for; nothing of it is lost. `version`: the one this was decided on."""

    id: UUID
    version: int
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Restore:
    """What was archived is served again, and begins to fade anew."""

    id: UUID
    version: int
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Pin:
    """It shall never fade, or shall again as others do."""

    id: UUID
    version: int
    pinned: bool
    reason: str
    change_id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Use:
    """It was recalled. Makes no version and no event.

    Nothing that it says has changed, a history of recalls would bury the one of changes, and whoever reads must not
    stand in the way of who writes.
    """

    id: UUID


Change = (
    Add | Confirm | Merge | Replace | Joined | Dispute | Ignore | Derive | Edit | Link | Archive | Restore | Pin | Use
)
