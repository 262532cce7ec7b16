"""Answers of the routes of mem0, in mem0's shapes."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, optional
from api.ingress.messages import MessageOutcome


class Mem0Ping(Answer):
    """That a key is valid, and for which tenant."""

    status: str
    org_id: str
    project_id: str
    user_email: str | None


class Mem0Message(Answer):
    """Message that confirms a request."""

    message: str


class Mem0DeletedMemories(Mem0Message):
    """Message with the number of erased memories."""

    count: int
    event_id: str | None


class Mem0Data(Answer):
    """Words of a memory."""

    memory: str


class Mem0Kept(Answer):
    """Result for a message that is stored as a memory."""

    id: UUID | None
    memory: str
    event: str = Field(description="`ADD`, `UPDATE` or `NONE`")
    data: Mem0Data


class Mem0Pending(Answer):
    """Messages that are learnt from in the background."""

    message: str
    status: str = Field(description="`PENDING`")
    event_id: str
    messages: list[MessageOutcome]


class Mem0Added(Answer):
    """Messages that were added: pending, or with `infer` false kept as memories."""

    message: str = optional()
    status: str = optional()
    event_id: str = optional("What `GET …/event/{event_id}/` tells of")
    results: list[Mem0Kept] = optional()
    messages: list[MessageOutcome]


class Mem0Attributes(Answer):
    """Attributes of a memory."""

    category: str
    subject: str
    importance: float


class Mem0Scores(Answer):
    """Parts of a score."""

    semantic: float | None
    bm25: float | None
    entity: float | None


class Mem0Memory(Answer):
    """A memory; with `fields` only those, and its id."""

    id: UUID
    memory: str
    user_id: str | None = optional()
    agent_id: str | None = optional()
    app_id: str | None = optional()
    run_id: str | None = optional()
    session_id: str | None = optional()
    metadata: dict[str, Any] | None = optional()
    categories: list[str] = optional()
    custom_categories: list[dict[str, Any]] | None = optional()
    structured_attributes: Mem0Attributes = optional()
    immutable: bool = optional()
    synthesized: bool = optional()
    replaced_by: UUID | None = optional()
    lifecycle_state: str = optional()
    expiration_date: str | None = optional()
    created_at: datetime = optional()
    updated_at: datetime = optional()
    score: float = optional("In a search")
    score_breakdown: Mem0Scores = optional("In a search")


class Mem0Page(Answer):
    """A page of memories."""

    count: int
    next: str | None
    previous: str | None
    results: list[Mem0Memory]


class Mem0Results(Answer):
    """Memories that a search found."""

    results: list[Mem0Memory]


class Mem0Input(Answer):
    """A message."""

    role: str
    content: str


class Mem0Version(Answer):
    """A version of a memory."""

    id: UUID
    memory_id: UUID
    input: list[Mem0Input]
    old_memory: str | None
    new_memory: str | None
    event: str
    user_id: str | None
    categories: list[str]
    metadata: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


class Mem0Entity(Answer):
    """A user, agent, app or run that owns memories."""

    id: str
    name: str
    type: str
    owner: str
    total_memories: int
    metadata: dict[str, Any] | None
    created_at: datetime
    updated_at: datetime


class Mem0Entities(Answer):
    """A page of entities."""

    count: int
    next: str | None
    previous: str | None
    results: list[Mem0Entity]
    total_users: int
    total_agents: int
    total_apps: int
    total_runs: int


class Mem0Event(Answer):
    """Whether everything that follows from an `add` is done."""

    id: str
    event_id: str
    event_type: str
    status: str = Field(description="`RUNNING` or `SUCCEEDED`")
    pending: int
    results: list[Mem0Kept]


class Mem0FlatMemory(Answer):
    """A memory as mem0's own server shows it; with `fields` only those, and its id."""

    id: UUID
    memory: str
    user_id: str | None = optional()
    agent_id: str | None = optional()
    run_id: str | None = optional()
    metadata: dict[str, Any] | None = optional()
    created_at: datetime = optional()
    updated_at: datetime = optional()
    expiration_date: str | None = optional()
    hash: str | None
    actor_id: str | None
    role: str | None
    score: float = optional("In a search")


class Mem0FlatResults(Answer):
    """Memories, best or newest first."""

    results: list[Mem0FlatMemory]
