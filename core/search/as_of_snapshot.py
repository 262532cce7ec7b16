"""The resident rows as recorded at an earlier time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import Any, Final

import numpy as np
from sqlalchemy import text

from core.index.resident import columns, loading, segments
from core.index.resident.columns import FIELDS, Columns
from core.index.resident.encoding import ENUMERATED, message_key
from core.index.resident.segments import Interners
from core.index.resident.snapshot import Snapshot
from core.memory import as_of
from core.storage.db import Tx, stream_chunks
from core.types import Trust

_OF_THEN: Final = [
    name for name in FIELDS.names or () if name not in {"memory", "embedded", "timed", "asks", "told", "names", "at"}
]
"""Columns that a memory takes from its version of then; those about its text and event are of now."""

_HOSTILE: Final = ENUMERATED["trust"].index(Trust.QUARANTINED) + 1


@dataclass(frozen=True, slots=True)
class _VersionThen:
    """A memory's row as recorded at a time. `content`: its statement of then, if it differs from today's."""

    fields: Any
    content: str | None
    tags: Sequence[str]
    session_id: str


def snapshot_at(
    tx: Tx, now: Snapshot, known_at: datetime, reader: Mapping[str, object]
) -> tuple[Snapshot, dict[str, str]]:
    """Return the rows recorded by then, and the statements of then that have changed since, by key.

    Changed statements are found by their words of then alone; they have no vector.
    """
    if not len(now):
        return now, {}
    whole = _all_rows(now)
    memories = [key for key, memory in zip(whole.keys, whole.fields["memory"].tolist(), strict=True) if memory]
    then = _versions_then(tx, memories, known_at) if memories else {}
    rows = tx.execute(_RECEIVED_LATER, {**reader, "known_at": known_at})
    replaced_keys = {message_key(row.session_id, row.id) for row in rows} | (set(memories) - then.keys())
    unchanged = segments.without(whole, replaced_keys)
    fields = {name: values.copy() for name, values in unchanged.fields.items()}
    tags, sessions = list(unchanged.tags), list(unchanged.sessions)
    for index, key in enumerate(unchanged.keys):
        if key in then:
            was, hostile = then[key], unchanged.fields["trust"][index] == _HOSTILE
            for name in _OF_THEN:
                fields[name][index] = was.fields[name]
            if hostile:  # What was set apart since was hostile then, too.
                fields["trust"][index] = _HOSTILE
            if was.content is not None:
                fields["embedded"][index] = False
            tags[index], sessions[index] = was.tags, was.session_id
    then_view = replace(unchanged, fields=fields, tags=tags, sessions=sessions)
    worded = {key: was.content for key, was in then.items() if was.content is not None}
    return _replace_rows(now, then_view), worded


def _versions_then(tx: Tx, keys: Sequence[str], known_at: datetime) -> dict[str, _VersionThen]:
    """Return memories as recorded at a time, by key, without those recorded later."""
    with closing(stream_chunks(tx, _THEN, {"ids": list(keys), "known_at": known_at, **loading.enumerations()})) as read:
        rows = chain.from_iterable(read)
        return {key: _VersionThen(np.frombuffer(fields, FIELDS)[0], *more) for key, fields, *more in rows}


def _all_rows(view: Snapshot) -> Columns:
    """Return all live rows in one segment."""
    read = columns.none(view.dimension)
    for layer in view.segments:
        read = segments.merge(read, layer.columns)
    return read


def _replace_rows(view: Snapshot, read: Columns) -> Snapshot:
    """Return a snapshot of other rows. Not under the lock, so the shared interners must not grow."""
    interners = Interners(view.interners.rows)
    return Snapshot(interners, [segments.segment(interners, read)], view.cites)


_RECEIVED_LATER = text("""
    SELECT t.session_id, t.id FROM messages t JOIN events e ON e.seq = t.event_seq
    WHERE (t.user_id = :user OR t.group_id = :group) AND e.received_at > :known_at
""")
"""Messages that had not been received yet."""

_FIELDS_THEN: Final = loading.field_bytes(
    memory="true",
    embedded="false",
    timed="false",
    asks="false",
    role="''",
    told="0::int2",
    names="0::int2",
    position="0",
    at="m.occurred_at",
)

_THEN: Final = f"""
    SELECT s.id::text, {_FIELDS_THEN}, CASE WHEN m.content <> s.content THEN m.content END, m.tags,
           coalesce(m.session_id, '')
    FROM memories s CROSS JOIN {as_of.KNOWN.replace(":known_at", "%(known_at)s")} m
    WHERE s.id = ANY(%(ids)s::uuid[])
"""
