"""A user's rows by what was recorded at an earlier time: rare, and read from the database each time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import text

from core.db import Tx
from core.search import columns, shelf
from core.search.columns import ENUMERATED, FIELDS, message_key
from core.search.shelf import View
from core.types import Trust

_OF_THEN: Final = [
    name for name in FIELDS.names or () if name not in {"memory", "embedded", "timed", "asks", "told", "names", "at"}
]
"""What a memory's row takes from how it was recorded then; when it happened is as it is indexed now."""

_HOSTILE: Final = ENUMERATED["trust"].index(Trust.QUARANTINED) + 1


def view(tx: Tx, now: View, known_at: datetime, reader: Mapping[str, object]) -> tuple[View, dict[str, str]]:
    """What was there then, and the words of the memories that have others now, by key.

    Those are found by their words of then alone: of them there is no vector.
    """
    if not len(now):
        return now, {}
    whole = shelf.whole(now)
    memories = [key for key, memory in zip(whole.keys, whole.fields["memory"].tolist(), strict=True) if memory]
    then = columns.then(tx, memories, known_at) if memories else {}
    rows = tx.execute(_LATER, {**reader, "known_at": known_at})
    gone = {message_key(row.session_id, row.id) for row in rows} | (set(memories) - then.keys())
    kept = shelf.without(whole, gone)
    fields, tags, sessions = kept.fields.copy(), list(kept.tags), list(kept.sessions)
    for at, key in enumerate(kept.keys):
        if key in then:
            was, hostile = then[key], kept.fields["trust"][at] == _HOSTILE
            for name in _OF_THEN:
                fields[name][at] = was.fields[name]
            if hostile:  # What was set apart since was hostile then, too.
                fields["trust"][at] = _HOSTILE
            if was.worded is not None:
                fields["embedded"][at] = False
            tags[at], sessions[at] = was.tags, was.session_id
    known = replace(kept, fields=fields, tags=tags, sessions=sessions)
    worded = {key: was.worded for key, was in then.items() if was.worded is not None}
    return shelf.in_place_of(now, known), worded


_LATER = text("""
    SELECT t.session_id, t.id FROM messages t JOIN events e ON e.seq = t.event_seq
    WHERE (t.user_id = :user OR t.group_id = :group) AND e.received_at > :known_at
""")
"""Messages that had not been received yet."""
