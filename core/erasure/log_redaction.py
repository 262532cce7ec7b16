"""Redacts log and ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from sqlalchemy import text

from core.storage import tables
from core.storage.db import Tx
from core.tenancy import tenants

SLACK: Final = timedelta(hours=1)
"""How far the clocks of machines may stand apart: no event is about a memory that was recorded later than that."""

KEPT: Final = "user_id group_id session_id memory_id memory_ids by with absorbed parts decision_id rebuild_id".split()
"""What stays of an event's payload: who and what it is about, by id."""

GONE: Final = "What it was about has been erased."


def wipe(tx: Tx, ids: Sequence[UUID], *, since: datetime, also: Sequence[str] = ()) -> Counter[str]:
    """Take the words of these memories out of the log, and of all that followed from their events; rows by table.

    `since`: when the first of them was recorded. `also`: ids of more events whose words go. What has not been carried
    out yet for such an event is cancelled, for it would speak of what is gone.
    """
    values = {
        "ids": [str(one) for one in ids],
        "subjects": [f"memory:{one}" for one in ids],
        "since": since - SLACK,
        "also": list(also),
    }
    counts: Counter[str] = Counter()
    beside = [*tx.execute(_UNSAID, values)]
    rows = [*tx.execute(_ABOUT, values | {"beside": [row.id for row in beside]})]
    counts["events"] += len(beside)
    counts["events"] += tx.execute(_EMPTY, {"seqs": [row.seq for row in rows], "kept": KEPT}).rowcount
    rows += beside
    found = {"seqs": [row.seq for row in rows], "events": [row.id for row in rows], "gone": GONE}
    counts["dispatches"] += tx.execute(_DISPATCHES, found).rowcount
    counts["flows"] += tx.execute(_FLOWS, found).rowcount
    counts["notices"] += tx.execute(_NOTICES, found).rowcount
    counts["model_calls"] += tx.execute(_CALLS, found).rowcount
    return counts


def dropped_parts(tx: Tx, ids: Sequence[UUID], since: datetime) -> dict[UUID, datetime]:
    """Memories that are no more because these stand for them, and when each was made; the log may hold their words."""
    found: dict[UUID, datetime] = {}
    fresh = list(ids)
    while fresh:
        rows = tx.execute(_DROPPED, {"subjects": [f"memory:{one}" for one in fresh], "since": since - SLACK}).all()
        fresh = [row.id for row in rows if row.id not in found]
        found |= {row.id: row.made_at or since for row in rows}
    return found


def call_back(tx: Tx, *, but: Sequence[int] = ()) -> int:
    """Let everything that agents have in hand begin again, but what reacts to these events; how many.

    What they have read may hold what is erased now, and they could write it after this is committed.
    """
    return tx.execute(_CALL_BACK, {"seqs": list(but)}).rowcount


def drop_shadow(tx: Tx, tenant_id: str, shadow_id: str) -> None:
    """Let a set of memories that were being made anew go with what was erased, in the same transaction."""
    if not shadow_id.startswith(tenants.RESERVED):
        raise ValueError(shadow_id)
    tx.execute(_SPEAK_FOR, {"tenant": shadow_id})
    for table in tables.TENANT_TABLES:
        tx.execute(table.delete().where(table.c.tenant_id == shadow_id))
    tx.execute(text("DELETE FROM tenants WHERE id = :shadow"), {"shadow": shadow_id})
    tx.execute(_SPEAK_FOR, {"tenant": tenant_id})


_SPEAK_FOR = text("SELECT set_config('imprint.tenant', :tenant, true)")

_ABOUT = text("""
    WITH RECURSIVE about AS (
        SELECT e.seq, e.id FROM events e
        WHERE e.time >= :since AND (e.subject = ANY(:subjects) OR e.payload ->> 'memory_id' = ANY(:ids))
        UNION
        SELECT e.seq, e.id FROM events e WHERE e.id = ANY(:also)
        UNION
        SELECT e.seq, e.id FROM events e
        WHERE e.causation_id = ANY(:beside) AND (e.subject IS NULL OR e.subject NOT LIKE 'memory:%')
        UNION
        SELECT e.seq, e.id FROM about JOIN events e ON e.causation_id = about.id
        WHERE e.subject IS NULL OR e.subject NOT LIKE 'memory:%' OR e.subject = ANY(:subjects)
    )
    SELECT seq, id FROM about
""")
"""One pass over the log since then: no index knows what an event is about, and erasing is rare. What followed is about
the same, unless it says that it is about another memory.
So is all that followed from events which name it beside another."""

_DROPPED = text("""
    WITH named AS (
        SELECT DISTINCT cast(part AS uuid) AS id FROM events e, jsonb_array_elements_text(
            CASE jsonb_typeof(e.payload -> 'parts') WHEN 'array' THEN e.payload -> 'parts' ELSE '[]' END
            || jsonb_build_array(e.payload -> 'absorbed')) AS part
        WHERE e.time >= :since AND e.subject = ANY(:subjects)
          AND e.event_type IN ('memory.compressed', 'memory.merged') AND part IS NOT NULL
    )
    SELECT id, uuid_extract_timestamp(id) AS made_at FROM named
    WHERE NOT EXISTS (SELECT FROM memories m WHERE m.id = named.id)
""")

_EMPTY = text("""
    UPDATE events SET extensions = NULL, payload = coalesce(
        (SELECT jsonb_object_agg(key, value) FROM jsonb_each(payload) WHERE key = ANY(:kept)), '{}')
        || '{"erased": true}'
    WHERE seq = ANY(cast(:seqs AS bigint[]))
""")

_UNSAID = text("""
    UPDATE events e SET payload = payload - 'reason' - 'new'
    WHERE e.time >= :since AND jsonb_exists_any(e.payload, '{reason, new}')
      AND (e.payload ->> 'by' = ANY(:ids) OR e.payload ->> 'with' = ANY(:ids) OR e.payload ->> 'absorbed' = ANY(:ids)
           OR jsonb_exists_any(CASE jsonb_typeof(e.payload -> 'parts') WHEN 'array' THEN e.payload -> 'parts' END,
                               cast(:ids AS text[])))
    RETURNING e.seq, e.id
""")
"""A reason may quote both memories that it speaks of, and what took the place of another says so itself."""

_DISPATCHES = text("""
    UPDATE dispatches SET
        params = '{}', result = NULL, approval = NULL, lease = NULL, wake_at = NULL, hold = NULL,
        error = CASE WHEN ended_at IS NULL THEN :gone END,
        status = CASE WHEN ended_at IS NULL THEN 'cancelled' ELSE status END,
        ended_at = coalesce(ended_at, clock_timestamp())
    WHERE event_seq = ANY(cast(:seqs AS bigint[]))
""")
"""A worker that has one in hand loses its lease, so that nothing of what it thinks is written."""

_FLOWS = text("DELETE FROM flows WHERE event_seqs <> '{}' AND event_seqs <@ cast(:seqs AS bigint[])")
"""The key of a flow may be made of what an event says."""

_NOTICES = text("DELETE FROM notices WHERE event_id = ANY(:events)")

_CALLS = text("""
    UPDATE model_calls c SET answer = NULL FROM dispatches d
    WHERE d.event_seq = ANY(cast(:seqs AS bigint[])) AND c.dispatch_id = d.id AND c.answer IS NOT NULL
""")

_CALL_BACK = text("""
    UPDATE dispatches SET status = 'retrying', lease = NULL, wake_at = clock_timestamp(),
                          attempt = greatest(attempt - 1, 0)
    WHERE status = 'running' AND action_type = 'run_agent' AND event_seq <> ALL(cast(:seqs AS bigint[]))
""")
"""Who calls others has told them by then, and would tell them twice."""
