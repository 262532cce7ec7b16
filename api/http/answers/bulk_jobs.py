"""Answers about jobs that change many memories."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.http.answers.memories import Authorship
from api.ingress.answers import Answer, Page
from core.types import Json


class BulkJob(Answer):
    """One action on many memories, which workers carry out; how far it is."""

    id: UUID
    action: str = Field(description="`pin`, `unpin`, `archive`, `restore`, `merge` or `erase`")
    preview: bool = Field(description="Whether each row is only tried, and taken back")
    of: UUID | None = Field(description="The preview whose rows it carries out")
    status: str = Field(description="`running`, `done` or `cancelled`")
    rows: int = Field(description="Number of memories")
    done: int
    unchanged: int
    refused: int
    along: int = Field(description="Of an erasure: memories that nobody chose and that go with a chosen one")
    counts: dict[str, int] = Field(description="Of an erasure: rows of each table that go")
    chosen: Json = Field(
        description="What the memories were chosen by; of conditions with words only the names, in `words`; "
        "`more`: others match as well"
    )
    evidence: bool = Field(description="Of an erasure: whether the cited messages lose their text")
    reason: str | None
    warnings: list[str] = Field(description="Of the preview of a merge: what speaks against it")
    erased: bool = Field(description="Whether one of its memories was erased since it began")
    author: Authorship
    created_at: datetime
    ended_at: datetime | None
    error: str | None = Field(description="Why a running one stands still")
    settle_token: str = Field(description="Waits for everything that follows from it: `GET /v1/settle`")


class BulkJobPage(Page):
    """A page of jobs."""

    items: list[BulkJob]


class BulkJobRow(Answer):
    """A memory of a job, and what became of it, or would."""

    place: int
    memory_id: UUID
    version: int | None = Field(description="The version that is changed; null: whichever it has by then")
    outcome: str | None = Field(description="`done`, `unchanged`, `refused`; null: still to come")
    status: int | None = Field(description="What the single route would have answered")
    detail: str | None
    change_id: UUID | None
    undo: str | None = Field(description="Path of the request that takes it back")
    receipt_id: UUID | None
    with_id: UUID | None = Field(description="The row with which it was erased")
    erased: list[UUID] = Field(description="Memories that go together")
    counts: dict[str, int] = Field(description="Rows of each table that are erased")


class BulkJobRows(Page):
    """A page of the rows of a job."""

    items: list[BulkJobRow]
