"""Limits on the number and the bytes of documents that a tenant may store."""

from __future__ import annotations

from sqlalchemy import text

from core.documents.preparation import SentDocument
from core.settings.limits import QuotaReached, TenantLimits
from core.storage.db import Tx


def require_room(tx: Tx, tenant_id: str, sent: SentDocument, limits: TenantLimits) -> None:
    """Refuse a document for which the tenant has no room; the document that it replaces does not count.

    Until the transaction ends no other document of the tenant is accepted, so two cannot share the last place.

    Raises:
        QuotaReached: `documents` or `document_bytes`.
    """
    tx.execute(_LOCK, {"tenant": tenant_id})
    values = {"uri": sent.uri, "user": sent.user_id, "group": sent.group_id}
    stored = tx.execute(_STORED, values).one()
    if stored.documents + 1 > limits.documents:
        raise QuotaReached("documents", limits.documents)
    if stored.bytes + len(sent.content.encode()) > limits.document_bytes:
        raise QuotaReached("document_bytes", limits.document_bytes)


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('documents of ' || :tenant, 0))")

_STORED = text("""
    SELECT count(*) AS documents, coalesce(sum(octet_length(content)), 0) AS bytes FROM documents
    WHERE uri IS DISTINCT FROM cast(:uri AS text) OR uri IS NULL
       OR user_id IS DISTINCT FROM cast(:user AS text) OR group_id IS DISTINCT FROM cast(:group AS text)
""")
"""All documents except the one being replaced; the length of a text is known without reading it."""
