"""Answers about documents."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, Page, optional
from core.types import Json


class Document(Answer):
    """A document of the knowledge base."""

    id: UUID
    user_id: str | None
    group_id: str | None
    title: str
    uri: str | None
    media_type: str
    metadata: Json
    version: int
    created_at: datetime
    updated_at: datetime


class ApartPassage(Answer):
    """A passage that searches do not return, and why."""

    passage: int
    reason: str


class StoredDocument(Document):
    """A document that was saved."""

    fate: str = Field(description="`added`, `updated` or `unchanged`")
    passages: int
    apart: list[ApartPassage]


class ListedDocument(Document):
    """A document without its content."""

    bytes: int
    passages: int


class DocumentPage(Page):
    """A page of documents."""

    items: list[ListedDocument]


class DocumentPassage(Answer):
    """A passage of a document."""

    passage: int
    headings: list[str]
    content: str
    from_: int = Field(alias="from", description="Its first character in the document")
    to: int
    served: bool = Field(description="Whether searches return it")


class DocumentText(Document):
    """A document with its content."""

    content: str
    passages: list[DocumentPassage] = optional("If they were asked for")


class DeletedDocument(Answer):
    """A document that was erased."""

    id: UUID
    deleted: bool
    passages: int
