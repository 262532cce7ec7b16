"""Keeps what a request to forget erases until it can no longer be undone, and drops it then.

The erasure itself is done at once, so that nothing can read what was erased; triggers copy the rows that it changes to
`kept_rows` (`imprint.keep`), which nothing but `core.forgetting.restoring` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.storage import vector_spaces
from core.storage.db import Tx
from core.types import Json


@dataclass(frozen=True, slots=True)
class UndoableForgetting:
    """A request that was carried out and can be undone until `final_at`: who asked, where, and how much it erased."""

    id: UUID
    event_id: str
    user_id: str
    group_id: str | None
    session_id: str
    message_id: str
    sessions: Sequence[str]
    owners: Sequence[str]
    messages: int
    memories: int
    at: datetime
    final_at: datetime

    def as_json(self) -> Json:
        return {
            "id": str(self.id),
            "user_id": self.user_id,
            "group_id": self.group_id,
            "session_id": self.session_id,
            "message_id": self.message_id,
            "messages": self.messages,
            "memories": self.memories,
            "at": self.at.isoformat(),
            "final_at": self.final_at.isoformat(),
        }


def begin(tx: Tx, tenant_id: str, payload: Mapping[str, Any], event_id: str, seconds: int) -> UUID:
    """Keep what this transaction erases from now on, for a new request to forget; return its id."""
    models = {place: str(model) for place, model in sorted(vector_spaces.models_by_place(tx).items())}
    forgetting_id = UUID(str(uuid7()))
    values = {name: payload.get(name) for name in ("user_id", "group_id", "session_id", "message_id")}
    values |= {"tenant": tenant_id, "id": forgetting_id, "event": event_id, "seconds": seconds}
    tx.execute(_BEGIN, values | {"models": json.dumps(models)})
    go_on(tx, forgetting_id)
    return forgetting_id


def go_on(tx: Tx, forgetting_id: UUID) -> bool:
    """Keep what this transaction erases from now on; return False if the request was undone or is final."""
    if tx.execute(_LOCK, {"id": forgetting_id}).one_or_none() is None:
        return False
    tx.execute(_KEEP, {"id": str(forgetting_id)})
    return True


def extend(tx: Tx, forgetting_id: UUID, messages: int, memories: int) -> UndoableForgetting | None:
    """Add what was erased to a request, with the sessions and users of the kept rows; drop it if nothing was."""
    values = {"id": forgetting_id, "messages": messages, "memories": memories}
    tx.execute(_EXTEND, values)
    if tx.execute(_DROP_EMPTY, values).rowcount:
        tx.execute(_SWEEP)
        return None
    return find(tx, forgetting_id)


def find(tx: Tx, forgetting_id: UUID) -> UndoableForgetting | None:
    """Return a request that can be undone, locked until the transaction ends; None if there is none of this id."""
    row = tx.execute(_LOCK, {"id": forgetting_id}).one_or_none()
    return None if row is None else _forgetting(row)


def spare(tx: Tx) -> None:
    """Let this transaction erase without ending the windows of other requests: what it erases was never told."""
    tx.execute(_SPARE)


def listed(tx: Tx, user_id: str | None, limit: int, *, after: UUID | None = None) -> list[UndoableForgetting]:
    """Return the requests that can be undone, the newest first; of one user or of all.

    `after`: the last id of the page before.
    """
    return [_forgetting(row) for row in tx.execute(_LISTED, {"user": user_id, "limit": limit, "after": after})]


def later(tx: Tx, forgetting: UndoableForgetting) -> UUID | None:
    """Return the newest later request that can be undone and touched the same sessions or users, if any."""
    later_id: UUID | None = tx.execute(
        _LATER, {"id": forgetting.id, "sessions": list(forgetting.sessions), "owners": list(forgetting.owners)}
    ).scalar_one_or_none()
    return later_id


def drop(tx: Tx, forgetting_id: UUID) -> None:
    """Delete a request and what it kept."""
    tx.execute(_DROP, {"id": forgetting_id})
    tx.execute(_SWEEP)


def close_due(tx: Tx, forgetting_id: UUID) -> list[str]:
    """Delete this request and all others whose window has closed, with what they kept; return their events' ids."""
    events = list(tx.execute(_CLOSE, {"id": forgetting_id}).scalars())
    tx.execute(_SWEEP)
    return events


def _forgetting(row: Any) -> UndoableForgetting:
    return UndoableForgetting(**{name: getattr(row, name) for name in UndoableForgetting.__slots__})


_BEGIN = text("""
    INSERT INTO forgettings (tenant_id, id, event_id, user_id, group_id, session_id, message_id, models, final_at)
    VALUES (:tenant, :id, :event, :user_id, :group_id, :session_id, :message_id, cast(:models AS jsonb),
            clock_timestamp() + make_interval(secs => :seconds))
""")

_KEEP = text("SELECT set_config('imprint.keep', :id, true)")

_SPARE = text("SELECT set_config('imprint.undoing', 'yes', true)")

_LOCK = text("SELECT * FROM forgettings WHERE id = :id AND final_at > clock_timestamp() FOR UPDATE")

_EXTEND = text("""
    UPDATE forgettings f SET messages = f.messages + :messages, memories = f.memories + :memories,
        sessions = ARRAY(
            SELECT coalesce(k.before, k.after) ->> 'session_id' FROM kept_rows k
            WHERE k.forgetting_id = f.id AND k.name = 'messages' GROUP BY 1 ORDER BY 1),
        owners = ARRAY(
            SELECT coalesce(k.before, k.after) ->> 'user_id' AS owner FROM kept_rows k
            WHERE k.forgetting_id = f.id AND k.name IN ('messages', 'memories')
              AND coalesce(k.before, k.after) ->> 'user_id' <> '' GROUP BY 1 ORDER BY 1)
    WHERE f.id = :id
""")

_DROP_EMPTY = text("DELETE FROM forgettings WHERE id = :id AND messages = 0 AND memories = 0")

_LISTED = text("""
    SELECT * FROM forgettings WHERE final_at > clock_timestamp() AND (cast(:user AS text) IS NULL OR user_id = :user)
      AND (cast(:after AS uuid) IS NULL OR id < :after)
    ORDER BY id DESC LIMIT :limit
""")

_LATER = text("""
    SELECT id FROM forgettings
    WHERE id > :id AND final_at > clock_timestamp()
      AND (sessions && cast(:sessions AS text[]) OR owners && cast(:owners AS text[]))
    ORDER BY id DESC LIMIT 1
""")

_DROP = text("DELETE FROM forgettings WHERE id = :id")

_CLOSE = text("DELETE FROM forgettings WHERE id = :id OR final_at <= clock_timestamp() RETURNING event_id")

_SWEEP = text("""
    DELETE FROM kept_rows k WHERE NOT EXISTS (SELECT FROM forgettings f WHERE f.id = k.forgetting_id)
""")
