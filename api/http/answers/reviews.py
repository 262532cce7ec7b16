"""Answers about what waits for a person: conflicts, quarantine, approvals."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from api.http.answers.memories import Memory
from api.ingress.answers import Answer, Page, optional


class EvidenceMessage(Answer):
    """A message that a memory rests on."""

    session_id: str = Field(description="Empty: the evidence is no message")
    message_id: str
    event_id: str
    quote: str = Field(description="Without secrets")
    at: datetime | None = Field(description="When it was said")
    role: str | None = Field(description="Null: the message has left")
    speaker: str | None
    user_id: str | None


class ConflictSide(Answer):
    """One of the memories of a conflict, with the messages that it rests on."""

    memory: Memory
    cited: list[EvidenceMessage] = Field(description="The latest 5")


class Contradiction(Answer):
    """Which of two memories denies which."""

    from_id: UUID = Field(description="The one that denies")
    to_id: UUID
    at: datetime
    change_id: UUID | None = Field(description="The verdict; undoing it ends the dispute")
    reason: str | None


class ShownConflict(Answer):
    """Disputed memories that deny each other, directly or through others."""

    id: UUID = Field(description="The newest of its memories")
    sides: list[ConflictSide] = Field(description="At most 20, newest first; a single one lost its opponents")
    contradictions: list[Contradiction]
    held: list[UUID] = Field(description="Dispatches that wait for an approval to decide it")


class ConflictPage(Page):
    """A page of conflicts."""

    items: list[ShownConflict]


class ResolvedConflict(Answer):
    """What a decision about a conflict has changed."""

    change_id: UUID
    undo: str = Field(description="Path that takes the decision back")
    memories: list[Memory] = Field(description="As they are now")
    cancelled: list[UUID] = Field(description="Dispatches that waited to decide it, and were cancelled")


class QuarantineFinding(Answer):
    """Why a text is quarantined."""

    kind: str = Field(description="`instruction`, `hidden`, `blob`, `exfiltration` or `risky_instruction`")
    detail: str = Field(description="What was found; the words as far as they may be shown")
    place: Literal["content", "quote"] = Field(description="In the statement itself, or in a message that it rests on")


class QuarantinedMemory(Answer):
    """A quarantined memory, why it is, and what it rests on."""

    memory: Memory
    cause: str = Field(description="Why it was set apart; names all memories of one cause")
    findings: list[QuarantineFinding] = Field(description="What the screen finds in it today")
    cited: list[EvidenceMessage]


class QuarantinePage(Page):
    """A page of quarantined memories."""

    items: list[QuarantinedMemory]


class ReviewedRow(Answer):
    """What became of one row."""

    id: UUID
    outcome: Literal["done", "refused"]
    detail: str | None = optional("Why it was refused")
    undo: str | None = optional("Path that takes it back")


class ReviewedRows(Answer):
    """What became of each row of a request."""

    done: int
    refused: int
    more: bool = Field(description="Others fit as well; send the request again for them")
    items: list[ReviewedRow]
