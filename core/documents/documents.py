"""Knowledge-base documents.

A document keeps its id as long as its source is the same: a new version from that source replaces the old one.
`core.documents.preparation` computes everything before `save` writes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.documents.preparation import DocumentDraft, PreparedPassage, SentDocument
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.index import passages as shelf
from core.sessions import known_owners
from core.storage.db import Tx, recordset, required_row
from core.types import Json

ADDED, UPDATED, DELETED = "document.added", "document.updated", "document.deleted"

Fate = Literal["added", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class SavedDocument:
    """Result of storing a draft, and its number of passages; `apart`: quarantined ones, which are never shown."""

    document: Any
    fate: Fate
    passages: int
    apart: Sequence[PreparedPassage]


@dataclass(frozen=True, slots=True)
class DocumentPast:
    """Version and times of a document of an archive."""

    version: int
    created_at: datetime
    updated_at: datetime


def save(tx: Tx, tenant_id: str, draft: DocumentDraft, author: Author) -> SavedDocument:
    """Write a document, its passages, its index rows and its event; an unchanged document is left alone.

    Keyword search finds it from the commit on; its vectors are computed by an agent that reacts to the event.
    """
    sent = draft.sent
    shelf.lock(tx, sent.user_id, sent.group_id)
    stored = _same_place(tx, sent)
    apart = [piece for piece in draft.pieces if piece.apart]
    if stored is not None and _says_the_same(stored, draft):
        return SavedDocument(stored, "unchanged", len(draft.pieces), apart)
    document_id = stored.id if stored is not None else uuid7()
    row = tx.execute(_WRITE, _values(tenant_id, document_id, draft)).one()
    known_owners.note(tx, tenant_id, known_owners.of(row.user_id, row.group_id, row.updated_at))
    _put_passages(tx, tenant_id, document_id, draft)
    _publish(tx, tenant_id, author, ADDED if stored is None else UPDATED, row, len(draft.pieces))
    return SavedDocument(row, "added" if stored is None else "updated", len(draft.pieces), apart)


def restore(tx: Tx, tenant_id: str, draft: DocumentDraft, past: DocumentPast) -> bool:
    """Store a document of an archive unless it is there; return whether it was stored. Its vectors remain to be made.

    One without a source is known by its text, its title and its time. Nothing is announced.
    """
    sent = draft.sent
    shelf.lock(tx, sent.user_id, sent.group_id)
    if _same_place(tx, sent) is not None:
        return False
    values = _values(tenant_id, uuid7(), draft)
    if sent.uri is None and tx.execute(_SAME_TEXT, values | {"created_at": past.created_at}).first() is not None:
        return False
    row = tx.execute(_WRITE, values).one()
    known_owners.note(tx, tenant_id, known_owners.of(row.user_id, row.group_id, past.updated_at))
    stamps = {"version": past.version, "created_at": past.created_at, "updated_at": past.updated_at}
    tx.execute(_STAMP, stamps | {"id": row.id})
    _put_passages(tx, tenant_id, row.id, draft)
    return True


def get(tx: Tx, document_id: UUID) -> Any:
    """Return the row of a document. NotFound: there is none."""
    return required_row(tx, _GET, {"id": document_id}, f"There is no document {document_id} in this tenant.")


def find(
    tx: Tx,
    *,
    user_id: str | None = None,
    group_id: str | None = None,
    uri: str | None = None,
    uri_prefix: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> Sequence[Any]:
    """Return documents without their content, with the number of their passages, newest first."""
    values = {"user": user_id, "group": group_id, "uri": uri, "prefix": uri_prefix, "before": before, "limit": limit}
    return tx.execute(_FIND, values).all()


def cut(tx: Tx, document_id: UUID) -> Sequence[Any]:
    """Return a document's passages in reading order; `served`: whether searches return them."""
    return tx.execute(_PASSAGES, {"id": document_id}).all()


def delete(tx: Tx, tenant_id: str, document_id: UUID, author: Author) -> int:
    """Erase a document with its passages and index entries; return the number of passages. NotFound."""
    row = get(tx, document_id)
    shelf.lock(tx, row.user_id, row.group_id)
    get(tx, document_id)  # Who waited for the lock may have waited for someone who deleted it.
    shelf.forget(tx, document_id)
    passages_gone = tx.execute(_UNCUT, {"id": document_id}).rowcount
    tx.execute(_DELETE, {"id": document_id})
    _publish(tx, tenant_id, author, DELETED, row, passages_gone)
    return passages_gone


def _put_passages(tx: Tx, tenant_id: str, document_id: UUID, draft: DocumentDraft) -> None:
    tx.execute(_UNCUT, {"id": document_id})
    pieces = recordset([{name: getattr(piece, name) for name in PreparedPassage.__slots__} for piece in draft.pieces])
    tx.execute(_CUT, {"tenant": tenant_id, "id": document_id, "rows": pieces})
    shelf.put(tx, tenant_id, document_id, draft.rows)


def _same_place(tx: Tx, sent: SentDocument) -> Any:
    """Return the document of these owners with the same source; None: there is none."""
    if sent.uri is None:
        return None
    values = {"uri": sent.uri, "user": sent.user_id, "group": sent.group_id}
    return tx.execute(_SAME_PLACE, values).one_or_none()


def _says_the_same(row: Any, draft: DocumentDraft) -> bool:
    stands = (row.sha256, row.title, row.media_type, row.metadata)
    return bool(stands == (draft.sha256, draft.title, draft.media_type, draft.sent.metadata))


def _values(tenant_id: str, document_id: UUID, draft: DocumentDraft) -> Json:
    sent = draft.sent
    return {
        "tenant": tenant_id,
        "id": document_id,
        "user": sent.user_id,
        "group": sent.group_id,
        "title": draft.title,
        "uri": sent.uri,
        "media_type": draft.media_type,
        "content": sent.content,
        "sha256": draft.sha256,
        "metadata": json.dumps(sent.metadata, ensure_ascii=False),
        "at": draft.at,
    }


def _publish(tx: Tx, tenant_id: str, author: Author, event_type: str, row: Any, count: int) -> None:
    """Publish ids only: content that is deleted later must not remain in the log."""
    named = {"document_id": str(row.id), "user_id": row.user_id, "group_id": row.group_id}
    payload = {name: value for name, value in named.items() if value is not None}
    payload |= {"version": row.version, "passages": count}
    publishing.publish(tx, tenant_id, author, [Emission(event_type, payload, subject=f"document:{row.id}")])


_WRITE = text("""
    INSERT INTO documents AS d (tenant_id, id, user_id, group_id, title, uri, media_type, content, sha256, metadata,
                                created_at, updated_at)
    VALUES (:tenant, :id, :user, :group, :title, :uri, :media_type, :content, :sha256, cast(:metadata AS jsonb),
            :at, :at)
    ON CONFLICT (tenant_id, id) DO UPDATE SET
        title = excluded.title, media_type = excluded.media_type, content = excluded.content, sha256 = excluded.sha256,
        metadata = excluded.metadata, version = d.version + 1, updated_at = excluded.updated_at
    RETURNING *
""")

_CUT = text("""
    INSERT INTO passages (tenant_id, document_id, position, headings, content, from_char, to_char)
    SELECT :tenant, :id, position, headings, content, from_char, to_char
    FROM json_to_recordset(cast(:rows AS json)) AS r (
        position int, headings text[], content text, from_char int, to_char int)
""")

_UNCUT = text("DELETE FROM passages WHERE document_id = :id")

_DELETE = text("DELETE FROM documents WHERE id = :id")

_GET = text("SELECT * FROM documents WHERE id = :id")

_SAME_PLACE = text("""
    SELECT * FROM documents
    WHERE uri = :uri AND user_id IS NOT DISTINCT FROM :user AND group_id IS NOT DISTINCT FROM :group
""")

_STAMP = text("""
    UPDATE documents SET version = :version, created_at = :created_at, updated_at = :updated_at WHERE id = :id
""")

_SAME_TEXT = text("""
    SELECT FROM documents
    WHERE uri IS NULL AND user_id IS NOT DISTINCT FROM :user AND group_id IS NOT DISTINCT FROM :group
      AND sha256 = :sha256 AND title = :title AND created_at = :created_at
""")

_FIND = text("""
    SELECT d.id, d.user_id, d.group_id, d.title, d.uri, d.media_type, d.metadata, d.version, d.created_at, d.updated_at,
           octet_length(d.content) AS bytes,
           (SELECT count(*) FROM passages p WHERE p.document_id = d.id) AS passages
    FROM documents d
    WHERE (cast(:user AS text) IS NULL OR d.user_id = :user) AND (cast(:group AS text) IS NULL OR d.group_id = :group)
      AND (cast(:uri AS text) IS NULL OR d.uri = :uri)
      AND (cast(:prefix AS text) IS NULL OR starts_with(d.uri, :prefix))
      AND (cast(:before AS uuid) IS NULL OR d.id < :before)
    ORDER BY d.id DESC LIMIT :limit
""")

_PASSAGES = text("""
    SELECT p.position, p.headings, p.content, p.from_char, p.to_char, i.ref IS NOT NULL AS served
    FROM passages p
    LEFT JOIN search_index i ON i.type = 'document' AND i.session_id = cast(p.document_id AS text)
                            AND i.ref = cast(p.position AS text)
    WHERE p.document_id = :id ORDER BY p.position
""")
