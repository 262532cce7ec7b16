from __future__ import annotations

import pytest

from core.documents import quota
from core.documents.preparation import SentDocument
from core.settings.limits import QuotaReached, TenantLimits
from core.storage.db import Database
from tests.samples import TENANT


def test_a_document_is_refused_where_the_tenant_has_no_room(app: Database) -> None:
    sent = SentDocument("The office is in Porto.", user_id="ada")
    with app.tenant(TENANT) as tx:
        quota.require_room(tx, TENANT, sent, TenantLimits(documents=1, document_bytes=23))
        with pytest.raises(QuotaReached) as refused:
            quota.require_room(tx, TENANT, sent, TenantLimits(document_bytes=22))
    assert refused.value.name == "document_bytes"
