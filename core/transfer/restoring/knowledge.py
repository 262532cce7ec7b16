"""Documents of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.documents import documents, preparation, quota
from core.documents.documents import DocumentPast
from core.documents.preparation import DocumentDraft, SentDocument
from core.errors import Invalid
from core.sessions.restoration import Fate
from core.settings.limits import QuotaReached
from core.storage.db import Tx
from core.transfer.archive_reader import ReadLine
from core.transfer.restoring.context import ERASED, Context, ErasedUntil

REASON_CHARACTERS = 200

Drafts = Sequence[DocumentDraft | str]
"""Documents ready to be stored, or why one is left out."""


def prepare(context: Context, batch: Sequence[ReadLine]) -> Drafts:
    """Screen and cut the documents, before the transaction."""
    return [_draft(context, line) for line in batch]


def write(
    tx: Tx, context: Context, batch: Sequence[ReadLine], until: ErasedUntil, drafts: Drafts
) -> Iterator[Fate | str]:
    """Store the documents that are not there and for which the tenant has room."""
    for line, draft in zip(batch, drafts, strict=True):
        gone = until.covers(line.checked.created_at, line.checked.group_id)
        yield ERASED if gone else _store(tx, context, line, draft)


def _draft(context: Context, line: ReadLine) -> DocumentDraft | str:
    document = line.checked
    sent = SentDocument(
        document.content,
        document.media_type,
        document.title,
        document.uri,
        context.user_id,
        document.group_id,
        line.plain["metadata"],
    )
    try:
        return preparation.prepare(sent, context.settings)
    except Invalid as error:
        return str(error)[:REASON_CHARACTERS]


def _store(tx: Tx, context: Context, line: ReadLine, draft: DocumentDraft | str) -> Fate | str:
    if isinstance(draft, str):
        return draft
    try:
        quota.require_room(tx, context.tenant_id, draft.sent, context.limits)
    except QuotaReached as error:
        return f"the limit `{error.name}` of the tenant is reached"
    past = DocumentPast(line.checked.version, line.checked.created_at, line.checked.updated_at)
    return "restored" if documents.restore(tx, context.tenant_id, draft, past) else "known"
