"""Redacts erased content from the log and from everything that followed from its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.erasure import runner
from core.erasure.steps import ErasurePart
from core.storage.db import Tx
from core.storage.tables import ABOUT_MEMORY, BESIDE_MEMORY

SLACK: Final = timedelta(hours=1)
"""Largest difference between the clocks of machines: an event about a memory is at most this much older than it."""


def redact(tx: Tx, tenant_id: str, ids: Sequence[UUID], *, since: datetime, also: Sequence[str] = ()) -> Counter[str]:
    """Redact the content of these memories from the log and the ledger; return the number of rows by table.

    `since`: when the first of them was recorded. `also`: ids of further events to redact. Unfinished dispatches of
    such events are cancelled, because they would work on erased content.
    """
    values = {
        "ids": [str(memory_id) for memory_id in ids],
        "subjects": _subjects(ids),
        "since": since - SLACK,
        "also": list(also),
    }
    beside = tx.execute(_BESIDE, values).all()
    about = tx.execute(_ABOUT, values | {"beside": [row.id for row in beside]}).all()
    rows = [*about, *beside]
    bound = {
        "shortened": [row.seq for row in beside],
        "emptied": [row.seq for row in about],
        "seqs": [row.seq for row in rows],
        "events": [row.id for row in rows],
    }
    return runner.run(tx, tenant_id, ErasurePart.EVENTS, bound)


def deleted_parts(tx: Tx, ids: Sequence[UUID], since: datetime) -> dict[UUID, datetime]:
    """Return memories deleted because these replaced them, with their time: the log may contain their content."""
    deleted: dict[UUID, datetime] = {}
    fresh = list(ids)
    while fresh:
        rows = tx.execute(_DELETED_PARTS, {"subjects": _subjects(fresh), "since": since - SLACK}).all()
        fresh = [row.id for row in rows if row.id not in deleted]
        deleted |= {row.id: row.made_at or since for row in rows}
    return deleted


def _subjects(ids: Sequence[UUID]) -> list[str]:
    return [f"memory:{memory_id}" for memory_id in ids]


_ABOUT = text(f"""
    WITH RECURSIVE about AS (
        SELECT e.seq, e.id FROM events e
        WHERE e.{ABOUT_MEMORY} AND e.subject = ANY(:subjects) AND e.time >= :since
        UNION
        SELECT e.seq, e.id FROM events e
        WHERE e.memory_id = ANY(:ids) AND e.payload ->> 'memory_id' = ANY(:ids) AND e.time >= :since
        UNION
        SELECT e.seq, e.id FROM events e WHERE e.id = ANY(:also)
        UNION
        SELECT e.seq, e.id FROM events e
        WHERE e.causation_id = ANY(:beside) AND (e.subject IS NULL OR e.subject NOT LIKE 'memory:%')
        UNION
        SELECT e.seq, e.id FROM about CROSS JOIN LATERAL (
            SELECT e.seq, e.id FROM events e
            WHERE e.causation_id = about.id
              AND (e.subject IS NULL OR e.subject NOT LIKE 'memory:%' OR e.subject = ANY(:subjects)) OFFSET 0) AS e
    )
    SELECT seq, id FROM about
""")
"""Events that followed from these, and from those that name a memory beside another, are about the same memory unless
their subject is another one.
"""

_DELETED_PARTS = text(f"""
    WITH named AS (
        SELECT DISTINCT cast(part AS uuid) AS id FROM events e, jsonb_array_elements_text(
            CASE jsonb_typeof(e.payload -> 'parts') WHEN 'array' THEN e.payload -> 'parts' ELSE '[]' END
            || jsonb_build_array(e.payload -> 'absorbed')) AS part
        WHERE e.{ABOUT_MEMORY} AND e.subject = ANY(:subjects) AND e.time >= :since
          AND e.event_type IN ('memory.compressed', 'memory.merged') AND part IS NOT NULL
    )
    SELECT id, uuid_extract_timestamp(id) AS made_at FROM named
    WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = named.id)
""")

_BESIDE = text(f"""
    SELECT e.seq, e.id FROM events e WHERE e.time >= :since AND {BESIDE_MEMORY}
      AND (e.payload ->> 'by' = ANY(:ids) OR e.payload ->> 'with' = ANY(:ids) OR e.payload ->> 'absorbed' = ANY(:ids)
           OR jsonb_exists_any(CASE jsonb_typeof(e.payload -> 'parts') WHEN 'array' THEN e.payload -> 'parts' END,
                               cast(:ids AS text[])))
""")
"""A reason may quote both memories it mentions, and `new` is the text that replaced one of them. Of the events since
then, those that mention two are read.
"""
