"""Conversations that are published, and how they are read."""

from __future__ import annotations

from typing import Any

from core.sessions import sessions
from core.sessions.sessions import Session
from core.storage.db import Database
from core.types import Json, Message
from tests.samples import TENANT, event


def stands(app: Database, session: str = "s1") -> Session:
    with app.tenant(TENANT) as tx:
        return sessions.get(tx, session)


def spoken(app: Database, session: str = "s1") -> list[Message]:
    with app.tenant(TENANT) as tx:
        return sessions.transcript(tx, session, limit=1000)


def resulted(content: str, session: str = "s1", **more: Any) -> Json:
    fields = {name: more.pop(name) for name in ("id", "time") if name in more}
    return event("tool.result.added", {"session_id": session, "user_id": "ada", "content": content, **more}, **fields)


def started(session: str = "s1", **more: Any) -> Json:
    fields = {name: more.pop(name) for name in ("id", "time") if name in more}
    return event("session.started", {"session_id": session, "user_id": "ada", **more}, **fields)
