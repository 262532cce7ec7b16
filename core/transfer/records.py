"""Records between the formats that can be imported and the importer that writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Role = Literal["user", "assistant", "system", "tool"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation. `id` is the source's and unique within the conversation; `at` has a time zone."""

    id: str
    role: Role
    text: str
    at: datetime | None = None
    speaker: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation on the branch that its user kept, oldest message first. `id` is the source's."""

    id: str
    turns: Sequence[Turn]
    group: str | None = None
    """The source's group or project, whose members share the conversation; None: the user alone."""


@dataclass(frozen=True, slots=True)
class SpokenLine:
    """One message of a file that has an entry for each; those of one conversation in a row are joined."""

    conversation: str
    turn: Turn
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that the source already holds as a memory: one sentence or a short note."""

    id: str
    content: str
    at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """A longer text that becomes a document: a Markdown file, a project's description. `id` is its path or id."""

    id: str
    title: str
    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that is not imported. `where`: file and JSON pointer; `reason`: what it is and why it stays out."""

    where: str
    reason: str
    odd: bool = False
    """Whether it is not as its format has it. Otherwise it is left out on purpose, as a tool's call is."""
    number: int = 1
    """How many such things there are."""


Record = Conversation | Statement | Note | Skipped


@dataclass(frozen=True, slots=True)
class FileEntry:
    """An object of a file, by the file's name and its number in it."""

    where: str
    value: Mapping[str, Any]
    include_forbidden: bool = False
    """Whether what its user told the source not to remember is imported, too."""
