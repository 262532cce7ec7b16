"""Gives a message audience labels after it was accepted, and all that was drawn from it by then."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

from sqlalchemy import text

from core.events.publishing import Author
from core.memory import writer
from core.memory.changes import Change, Edit, Owner
from core.plans import tracker
from core.storage.db import Tx
from core.summaries import rolling, units
from core.types import Json

REASON: Final = "A message that it rests on got these audience labels."


def label_message(
    tx: Tx, tenant_id: str, session_id: str, event_seq: int, labels: Sequence[str], author: Author
) -> Json:
    """Add labels to the message of an event, and to the memories that rest on it; return what was done.

    What was told of its session to everybody (summaries, units, plans) is written again without it. Conflict: one of
    the memories was changed in the meantime.
    """
    values = {"session": session_id, "seq": event_seq, "labels": sorted(set(labels))}
    message = tx.execute(_LABEL, values).one_or_none()
    if message is None:
        return {"labelled": False, "memories": 0}
    tx.execute(_LOG, values)
    places = [(session_id, message.id)]
    rolling.forget_messages(tx, tenant_id, places)
    units.forget_messages(tx, places)
    tracker.forget_messages(tx, [session_id])
    return {"labelled": True, "memories": _label_memories(tx, tenant_id, places[0], labels, author)}


def _label_memories(tx: Tx, tenant_id: str, message: tuple[str, str], labels: Sequence[str], author: Author) -> int:
    """Add labels to the memories that cite a message, and to those derived from them."""
    rows = tx.execute(_RESTING, {"session": message[0], "message": message[1], "labels": sorted(set(labels))}).all()
    edits: defaultdict[Owner, list[Change]] = defaultdict(list)
    for row in rows:
        edits[Owner(row.user_id, row.group_id)].append(_edit(row, labels))
    for owner in sorted(edits, key=lambda owner: (owner.user_id or "", owner.group_id or "")):
        writer.apply(tx, tenant_id, owner, edits[owner], author)
    return len(rows)


def _edit(row: Any, labels: Sequence[str]) -> Edit:
    return Edit(row.id, row.version, {"audience_labels": sorted({*row.audience_labels, *labels})}, REASON)


_ADDED: Final = (
    "ARRAY(SELECT unnest(audience_labels || cast(:labels AS text[])) AS label GROUP BY label ORDER BY label)"
)

_LABEL = text(f"""
    UPDATE messages SET audience_labels = {_ADDED}
    WHERE session_id = :session AND event_seq = :seq AND NOT audience_labels @> cast(:labels AS text[])
    RETURNING id
""")

_LOG = text("""
    UPDATE events e SET payload = e.payload || jsonb_build_object('audience_labels', to_jsonb(m.audience_labels))
    FROM messages m WHERE m.session_id = :session AND m.event_seq = :seq AND e.seq = m.event_seq
""")
"""In the log, too: whatever is projected from it again has the labels."""

_RESTING = text("""
    WITH RECURSIVE resting (id) AS (
        SELECT e.memory_id FROM evidence e WHERE e.session_id = :session AND e.message_id = :message
        UNION
        SELECT r.from_id FROM resting JOIN relations r ON r.to_id = resting.id AND r.relation = 'derived_from'
    )
    SELECT m.* FROM memories m JOIN resting USING (id)
    WHERE m.status <> 'erased' AND NOT m.audience_labels @> cast(:labels AS text[])
    ORDER BY m.id
""")
