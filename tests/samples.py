"""Events that the tests publish, and the short ways of publishing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.events import log, parsing, reserved
from core.sessions import ingest
from core.sessions.ingest import Accepted
from core.storage.db import Database, Tx, run_together
from core.types import Json

TENANT = "acme"
NOON = "2026-11-21T12:00:00+00:00"


def event(event_type: str = "order.placed", payload: Json | None = None, **fields: Any) -> Json:
    """An event as a client sends it, or as the service announces it, by its type."""
    source = reserved.SERVICE if event_type in reserved.TYPES else "test"
    return {"event_type": event_type, "source": source, "time": NOON, "payload": payload or {}, **fields}


def said(content: str, *, session: str = "s1", user: str = "ada", role: str = "user", **more: Any) -> Json:
    """`message.added`; `id` and `time` go to the event, whatever else is given into the payload."""
    fields = {name: more.pop(name) for name in ("id", "time", "source") if name in more}
    payload = {"session_id": session, "user_id": user, "role": role, "content": content, **more}
    return event("message.added", payload, **fields)


def ended(session: str = "s1", user: str = "ada", **more: Any) -> Json:
    """`session.ended`; `id` and `time` go to the event."""
    fields = {name: more.pop(name) for name in ("id", "time", "source") if name in more}
    return event("session.ended", {"session_id": session, "user_id": user, **more}, **fields)


def accept(app: Database, *documents: Json, tenant: str = TENANT) -> Accepted:
    """Put a batch on the log, as the doors do; events of the service, too."""
    return accept_all(app, documents, tenant=tenant)


def append(tx: Tx, *documents: Json) -> None:
    """Put events on the log in a transaction that stays open."""
    run_together(tx, log.appending(TENANT, parsing.check(documents, may_be_own=True)))


def accept_all(app: Database, documents: Sequence[Json], *, tenant: str = TENANT) -> Accepted:
    """Put a batch on the log, as the doors do."""
    return ingest.accept(app, tenant, parsing.check(documents, may_be_own=True))
