"""The knowledge base: documents, and the passages that searches find."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import Field, StringConstraints, ValidationError

from api.ingress.answers import Answer, answers, optional, page, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Body, Dependencies, Deps, Reader, Writer, author
from api.ingress.large_json import Route
from api.ingress.route_bounds import Bounds, with_bounds
from core.config import Settings
from core.documents import documents, preparation, quota
from core.documents.chunking import MARKDOWN, PLAIN, MediaType
from core.documents.documents import SavedDocument
from core.documents.preparation import SentDocument
from core.errors import Invalid, Problem
from core.events.parsing import Content, Who
from core.tenancy.tenants import Caller
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


DocumentPage = page("DocumentPage", ListedDocument, "A page of documents.")


router = APIRouter(prefix="/v1/documents", tags=["knowledge"], route_class=Route)

JSON: Final = "application/json"

CHARSET: Final = re.compile(r'charset="?([^";\s]+)')

URI_CHARACTERS: Final = 600
"""Longest uri: in any script it fits into one entry of an index."""

Uri = Annotated[str, StringConstraints(min_length=1, max_length=URI_CHARACTERS, pattern=r"^[^\x00-\x1f]+$")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]+$")]
Limit = Annotated[int, Query(ge=1, le=200)]

UriPrefix = Annotated[Uri | None, Query(description="Only documents whose `uri` begins with this")]

ESCAPED: Final = 3
"""Bytes that JSON may need for one of a document: two bytes in UTF-8 become six where they are escaped."""

BESIDE_BYTES: Final = 64 * 1024
"""For what a request says beside the document's content."""
WithPassages = Annotated[bool, Query(description="Include the passages")]


class DocumentRequest(RequestBody):
    """A document. Without `user_id` and `group_id`, everyone in the tenant can find it."""

    content: Content
    title: Annotated[
        Title | None, Field(description="Default: from the front matter, the first heading or the first words")
    ] = None
    media_type: Annotated[MediaType | None, Field(description="Default: detected from the content")] = None
    uri: Annotated[
        Uri | None, Field(description="Source of the document; sending the same `uri` again replaces the document")
    ] = None
    user_id: Who | None = None
    group_id: Who | None = None
    metadata: Json = Field({})


BODY: Final[Json] = {
    "requestBody": {
        "required": True,
        "content": {
            JSON: {"schema": DocumentRequest.model_json_schema()},
            MARKDOWN: {"schema": {"type": "string"}},
            PLAIN: {"schema": {"type": "string"}},
        },
    }
}
"""Read by hand, so that a text may come as it is; the manual of the routes says so."""


def _most(settings: Settings) -> int:
    return min(settings.request_bytes, ESCAPED * settings.document_bytes + BESIDE_BYTES)


@router.post(
    "",
    status_code=201,
    openapi_extra=BODY,
    operation_id="saveDocument",
    responses=answers(StoredDocument, 201, "Added or updated")
    | answers(StoredDocument, 200, "Unchanged", refusals=(415,)),
)
@with_bounds(Bounds(body=_most))
def post_document(
    deps: Deps,
    caller: Writer,
    request: Request,
    response: Response,
    raw: Body,
    title: str | None = None,
    uri: str | None = None,
    user_id: str | None = None,
    group_id: str | None = None,
) -> Json:
    """Store a document, sent as JSON or as plain text with its metadata in the query string.

    201: a new document, or a new version of the one with this `uri`. 200: unchanged. Keyword search finds it at once,
    vector search as soon as its vectors are computed. `apart` lists passages that searches do not return.
    """
    named = {"title": title, "uri": uri, "user_id": user_id, "group_id": group_id}
    document = _parse_document(
        request.headers.get("content-type", JSON), raw, {n: v for n, v in named.items() if v is not None}
    )
    saved = save(deps, caller, document.model_dump())
    if saved.fate == "unchanged":
        response.status_code = 200
    apart = [{"passage": piece.position, "reason": piece.apart} for piece in saved.apart]
    return shown(StoredDocument, saved.document, fate=saved.fate, passages=saved.passages, apart=apart)


def save(deps: Dependencies, caller: Caller, sent: Json) -> SavedDocument:
    """Save a document of these fields. QuotaReached: the tenant has as many as it may have."""
    draft = preparation.prepare(SentDocument(**sent), deps.settings)
    with deps.db.tenant(caller.tenant_id) as tx:
        quota.require_room(tx, caller.tenant_id, draft.sent, caller.limits)
        saved = documents.save(tx, caller.tenant_id, draft, author(caller))
    if saved.fate != "unchanged":
        deps.bell.notify()
    return saved


@router.get("", operation_id="listDocuments", responses=answers(DocumentPage))
def get_documents(
    deps: Deps,
    caller: Reader,
    user_id: str | None = None,
    group_id: str | None = None,
    uri: str | None = None,
    uri_prefix: UriPrefix = None,
    after: UUID | None = None,
    limit: Limit = 50,
) -> Json:
    """List documents, newest first, without their content."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = documents.find(
            tx, user_id=user_id, group_id=group_id, uri=uri, uri_prefix=uri_prefix, before=after, limit=limit
        )
    items = [shown(ListedDocument, row) for row in rows]
    return {"items": items, "next": str(rows[-1].id) if len(rows) == limit else None}


@router.get("/{document_id}", operation_id="getDocument", responses=answers(DocumentText))
def get_document(deps: Deps, caller: Reader, document_id: UUID, passages: WithPassages = False) -> Json:
    """Return a document as stored, with secrets removed."""
    with deps.db.tenant(caller.tenant_id) as tx:
        row = documents.get(tx, document_id)
        cut = documents.cut(tx, document_id) if passages else []
    return {
        **shown(Document, row),
        "content": row.content,
        **({"passages": [_passage(passage) for passage in cut]} if passages else {}),
    }


@router.delete("/{document_id}", operation_id="deleteDocument", responses=answers(DeletedDocument))
def delete_document(deps: Deps, caller: Writer, document_id: UUID) -> Json:
    """Erase a document permanently: its text, its passages, and their index entries."""
    with deps.db.tenant(caller.tenant_id) as tx:
        gone = documents.delete(tx, caller.tenant_id, document_id, author(caller))
    deps.bell.notify()
    return {"id": document_id, "deleted": True, "passages": gone}


def _parse_document(content_type: str, raw: bytes, named: Json) -> DocumentRequest:
    """Parse a document in any accepted form. 415: unknown content type. Invalid: malformed document."""
    media_type, _, parameters = (part.strip().lower() for part in content_type.partition(";"))
    charset = CHARSET.search(parameters)
    if media_type not in {JSON, MARKDOWN, PLAIN} or (charset and charset[1] not in {"utf-8", "us-ascii"}):
        raise HTTPException(415, f"Send {JSON}, {MARKDOWN} or {PLAIN}, in UTF-8")
    try:
        if media_type == JSON:
            return DocumentRequest.model_validate_json(raw)
        return DocumentRequest.model_validate({"content": raw.decode(), "media_type": media_type, **named})
    except ValidationError as error:
        problems = [Problem("".join(f"/{part}" for part in fault["loc"]), fault["msg"]) for fault in error.errors()]
        raise Invalid(problems) from None
    except UnicodeDecodeError:
        raise Invalid([Problem("/content", "is not UTF-8")]) from None


def _passage(row: Any) -> Json:
    return {
        "passage": row.position,
        "headings": row.headings,
        "content": row.content,
        "from": row.from_char,
        "to": row.to_char,
        "served": row.served,
    }
