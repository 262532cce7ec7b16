"""Hide and restore messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import text

from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.storage.db import Tx, message_places, required_row

HIDDEN: Final = "message.hidden"
RESTORED: Final = "message.restored"


@dataclass(frozen=True, slots=True)
class HiddenMessage:
    """A hidden message's mark: why, by whom, since when."""

    message_id: str
    reason: str | None
    author: str
    at: datetime


def hide(
    tx: Tx, tenant_id: str, session_id: str, message_id: str, author: Author, reason: str | None = None
) -> HiddenMessage:
    """Hide a message; the mark of one hidden already stays. NotFound: there is no such message."""
    values = _lock(tx, session_id, message_id)
    written = json.dumps(author.as_json(), ensure_ascii=False)
    if tx.execute(_HIDE, values | {"tenant": tenant_id, "reason": reason, "author": written}).rowcount:
        _publish(tx, tenant_id, author, HIDDEN, values, reason)
    return _mark(tx.execute(_MARK, values).one())


def restore(tx: Tx, tenant_id: str, session_id: str, message_id: str, author: Author) -> bool:
    """Show a message again; return False if it was not hidden. NotFound: there is no such message."""
    values = _lock(tx, session_id, message_id)
    was_hidden = tx.execute(_RESTORE, values).rowcount == 1
    if was_hidden:
        _publish(tx, tenant_id, author, RESTORED, values, None)
    return was_hidden


def hidden_ids(tx: Tx, session_id: str) -> frozenset[str]:
    """Return the ids of a session's hidden messages."""
    return frozenset(tx.execute(_HIDDEN, {"session": session_id}).scalars())


def hidden_among(tx: Tx, places: Sequence[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the hidden ones of these messages, by session and id."""
    rows = tx.execute(_HIDDEN_AMONG, message_places(places)) if places else ()
    return frozenset((row.session_id, row.message_id) for row in rows)


def find_mark(tx: Tx, session_id: str, message_id: str) -> HiddenMessage | None:
    """Return the mark of a message; None if it is not hidden."""
    row = tx.execute(_MARK, {"session": session_id, "message": message_id}).one_or_none()
    return None if row is None else _mark(row)


def _lock(tx: Tx, session_id: str, message_id: str) -> dict[str, str]:
    """Lock the session of a message; return the message as parameters. NotFound: there is no such message."""
    values = {"session": session_id, "message": message_id}
    required_row(
        tx, _MESSAGE, values, f"There is no message {message_id!r} in a session {session_id!r} of this tenant."
    )
    return values


def _publish(
    tx: Tx, tenant_id: str, author: Author, event_type: str, values: dict[str, str], reason: str | None
) -> None:
    """Publish who did it and when: after a message is shown again, only the log knows."""
    payload = {"session_id": values["session"], "message_id": values["message"], "by": author.name}
    details = payload | ({"reason": reason} if reason else {})
    publishing.publish(tx, tenant_id, author, [Emission(event_type, details, subject=f"session:{values['session']}")])


def _mark(row: Any) -> HiddenMessage:
    return HiddenMessage(row.message_id, row.reason, row.author["name"], row.at)


_MESSAGE = text("""
    SELECT s.id FROM sessions s JOIN messages m ON m.session_id = s.id
    WHERE s.id = :session AND m.id = :message FOR SHARE OF s
""")
"""Locked against deletion, after which no mark may remain."""

_HIDE = text("""
    INSERT INTO hidden_messages (tenant_id, session_id, message_id, reason, author)
    VALUES (:tenant, :session, :message, :reason, cast(:author AS jsonb)) ON CONFLICT DO NOTHING
""")

_RESTORE = text("DELETE FROM hidden_messages WHERE session_id = :session AND message_id = :message")

_HIDDEN = text("SELECT message_id FROM hidden_messages WHERE session_id = :session")

_HIDDEN_AMONG = text("""
    SELECT session_id, message_id FROM hidden_messages
    WHERE (session_id, message_id) IN (SELECT * FROM unnest(cast(:sessions AS text[]), cast(:messages AS text[])))
""")

_MARK = text("SELECT * FROM hidden_messages WHERE session_id = :session AND message_id = :message")
