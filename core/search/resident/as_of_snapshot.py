"""A snapshot as recorded at an earlier time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy import text

from core.search.resident import columns, loading, segments
from core.search.resident.columns import FIELDS, Columns
from core.search.resident.loading import ENUMERATED, message_key
from core.search.resident.segments import Registers
from core.search.resident.snapshot import View
from core.storage.db import Tx
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
    whole = _whole(now)
    memories = [key for key, memory in zip(whole.keys, whole.fields["memory"].tolist(), strict=True) if memory]
    then = loading.then(tx, memories, known_at) if memories else {}
    rows = tx.execute(_LATER, {**reader, "known_at": known_at})
    gone = {message_key(row.session_id, row.id) for row in rows} | (set(memories) - then.keys())
    kept = segments.without(whole, gone)
    fields = {name: values.copy() for name, values in kept.fields.items()}
    tags, sessions = list(kept.tags), list(kept.sessions)
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
    return _in_place_of(now, known), worded


def _whole(view: View) -> Columns:
    """All rows that live, in one."""
    read = columns.none(view.dimension)
    for layer in view.layers:
        read = segments.merged(read, layer.columns)
    return read


def _in_place_of(view: View, read: Columns) -> View:
    """Other rows under the same keys, in one layer; not under the lock, so that no shared register may grow."""
    registers = Registers(view.registers.rows)
    return View(registers, [segments.layer(registers, read)], view.cites)


_LATER = text("""
    SELECT t.session_id, t.id FROM messages t JOIN events e ON e.seq = t.event_seq
    WHERE (t.user_id = :user OR t.group_id = :group) AND e.received_at > :known_at
""")
"""Messages that had not been received yet."""
