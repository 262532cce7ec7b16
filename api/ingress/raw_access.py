"""Access to text as it was sent: its scope, and the audit record."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query
from uuid_utils import uuid7

from api.ingress.dependencies import Dependencies
from core.errors import Forbidden
from core.events import log
from core.events.log import Announcement
from core.tenancy.tenants import Caller

SCOPE = "raw"

Raw = Annotated[
    bool, Query(description="Return text as it was sent, including secrets; requires the scope `raw` and is recorded")
]


def allow(deps: Dependencies, caller: Caller, door: str, **about: str | None) -> None:
    """Record that a caller reads raw text, before any of it is handed out. Forbidden: the key lacks the scope.

    `about`: whose text it is, such as `user_id`; a user's erasure finds the record by it.
    """
    if not caller.may(SCOPE):
        raise Forbidden(
            f"Raw text requires the scope `{SCOPE}`. Create a key with `imprint keys create --scopes {SCOPE}`."
        )
    named = {name: value for name, value in about.items() if value is not None}
    payload = {"door": door, "by": f"key:{caller.key_id}", **named}
    with deps.db.tenant(caller.tenant_id) as tx:
        log.announce(tx, caller.tenant_id, [Announcement(str(uuid7()), "raw.read", datetime.now(UTC), payload)])
    deps.bell.notify()
