"""Answers about erasing and forgetting."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, optional, page


class ReceiptBody(Answer):
    """Extent of an erasure; the part of a receipt that is signed."""

    id: UUID
    tenant: str
    scope: str = Field(description="`memory`, `user`, `group`, …")
    subject_hash: str
    counts: dict[str, int] = Field(description="Erased rows by table")
    tombstones: int
    at: datetime
    requested_by: str
    statement: str
    algorithm: str
    key_id: str
    state: str = optional("Of a request to forget: `can be undone`, `final` or `undone`")
    final_at: datetime = optional("Of a request to forget: until when it can be undone")
    settled_at: datetime = optional("Of a request to forget: when it became final or was undone")


class SignedReceipt(Answer):
    """A signed receipt of an erasure."""

    receipt: ReceiptBody
    signature: str = Field(description="Of `receipt` as canonical JSON; `GET /v1/receipts/key` verifies it")


class ErasureRehearsal(Answer):
    """Plan of an erasure; nothing was erased."""

    dry_run: Literal[True]
    user_id: str
    memory_ids: list[UUID] = Field(description="Memories that would go together")
    sessions: int = Field(description="Conversations in which messages would lose their text")
    counts: dict[str, int] = Field(description="Rows by table")
    at_least: list[str] = Field(description="Counts that may be higher, of so much that it was not looked through")


class GroupErasureRehearsal(Answer):
    """Plan of the erasure of a group; nothing was erased."""

    dry_run: Literal[True]
    group_id: str
    users: int = Field(description="Members, and users whose memories are concerned")
    sessions: int = Field(description="Conversations in which messages would lose their text")
    counts: dict[str, int] = Field(description="Rows by table")
    at_least: list[str] = Field(description="Counts that may be higher, of so much that it was not looked through")


class ReceiptKey(Answer):
    """The public key that verifies receipts."""

    algorithm: str
    public_key: str
    key_id: str


class Forgetting(Answer):
    """A request to forget that was carried out."""

    id: UUID
    user_id: str
    group_id: str | None
    session_id: str
    message_id: str
    messages: int
    memories: int
    at: datetime
    final_at: datetime = Field(description="Until when it can be undone")


class UndoneForgetting(Forgetting):
    """A request to forget that was undone."""

    state: str = Field(description="`undone`")


ForgettingPage = page("ForgettingPage", Forgetting, "Requests to forget that can be undone.")
