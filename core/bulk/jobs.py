"""Jobs that change many memories: requesting, reading and cancelling them. A worker carries them out (`rows`).

A job is a row; `memory.bulk_requested` announces it. Its memories are rows of `bulk_rows`, chosen when it is requested:
what it will do does not grow while it waits. No text of a memory is kept there, and no words of the filter.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import UUID

from sqlalchemy import text
from uuid_utils.compat import uuid7

from core.browsing import listing
from core.browsing.listing import MemoryFilter
from core.dispatches import queries as dispatch_queries
from core.errors import Conflict, NotFound
from core.events import log
from core.events.log import Announcement
from core.events.publishing import Author
from core.settings.limits import LimitReached
from core.storage.db import Tx, recordset, required_row
from core.types import Json

MOST_ROWS: Final = 10_000
"""Memories of one job: a person has to be able to say how many, and take them back."""

RETRY_SECONDS: Final = 10
"""Retry-After at the limit of concurrent jobs: one takes seconds to minutes."""

REQUESTED: Final = "memory.bulk_requested"
COMPLETED: Final = "memory.bulk_completed"

Action = Literal["pin", "unpin", "archive", "restore", "merge", "erase"]
Outcome = Literal["done", "unchanged", "refused"]

ChosenRow = tuple[UUID, int | None]
"""A memory, and the version of it that is to be changed; None: whichever it has by then."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to begin. `params`: what else the action takes. `chosen`: what the memories were chosen by, to show it.

    `preview`: each row is carried out and taken back. `of`: the preview whose rows it carries out. `request`: digest of
    the idempotency key; None: the request had none. `fingerprint`: digest of what was asked for.
    """

    action: Action
    preview: bool
    params: Json
    chosen: Json
    request: str | None
    fingerprint: str
    of: UUID | None = None


@dataclass(frozen=True, slots=True)
class JobStanding:
    """State of a job: its row, its rows by outcome, what erasing takes along, why a running one stands still.

    `along`: memories that are erased although nobody chose them. `counts`: rows of each table that are erased.
    """

    row: Any
    outcomes: Mapping[str, int]
    seq: int
    along: int = 0
    counts: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None


def choose(tx: Tx, criteria: MemoryFilter) -> tuple[list[ChosenRow], bool]:
    """Return the newest memories that match a filter, with their versions, and whether there are more of them."""
    chosen = listing.places(tx, criteria, MOST_ROWS + 1)
    return [*chosen[:MOST_ROWS]], len(chosen) > MOST_ROWS


def request(tx: Tx, tenant_id: str, new: NewJob, rows: Sequence[ChosenRow], author: Author, *, limit: int) -> UUID:
    """Store a job with its rows and announce it to the workers; return its id. LimitReached: `limit` are running."""
    if tx.execute(_COUNT_RUNNING).scalar_one() >= limit:
        raise LimitReached("bulk_jobs", limit, RETRY_SECONDS)
    job_id = uuid7()
    values = asdict(new) | {
        "tenant": tenant_id,
        "id": job_id,
        "params": json.dumps(new.params, ensure_ascii=False),
        "chosen": json.dumps(new.chosen, ensure_ascii=False),
        "rows": len(rows),
        "author": json.dumps(author.as_json()),
    }
    tx.execute(_INSERT, values)
    places = [
        {"place": position, "id": str(memory_id), "version": version}
        for position, (memory_id, version) in enumerate(rows, 1)
    ]
    tx.execute(_INSERT_ROWS, {"tenant": tenant_id, "job": job_id, "rows": recordset(places)})
    payload = {
        "job_id": str(job_id),
        "action": new.action,
        "preview": new.preview,
        "rows": len(rows),
        "requested_by": author.name,
    }
    log.announce(tx, tenant_id, [Announcement(str(job_id), REQUESTED, datetime.now(UTC), payload)])
    return job_id


def of_request(tx: Tx, tenant_id: str, request: str | None, fingerprint: str) -> UUID | None:
    """Return the job that a request has begun; None: it is new, and others with its key wait until this one is stored.

    Conflict: the key was used for another request.
    """
    tx.execute(_LOCK, {"tenant": tenant_id})
    earlier = tx.execute(_OF_REQUEST, {"request": request}).one_or_none()
    if earlier is None:
        return None
    if earlier.asked != fingerprint:
        raise Conflict("This Idempotency-Key was used for a different job. Use a new key for a new one.")
    job_id: UUID = earlier.id
    return job_id


def get(tx: Tx, job_id: UUID) -> JobStanding:
    """Return the state of a job, or raise NotFound."""
    row = required_row(tx, _GET, {"id": job_id}, f"There is no bulk job {job_id} in this tenant.")
    [standing] = _standings(tx, [row])
    return standing


def find(tx: Tx, *, after: UUID | None = None, limit: int = 50) -> Sequence[JobStanding]:
    """Return jobs, newest first; `after`: the last id of the page before."""
    return _standings(tx, tx.execute(_LIST, {"after": after, "limit": limit}).all())


def rows(tx: Tx, job_id: UUID, *, outcome: Outcome | None, after: int, limit: int) -> Sequence[Any]:
    """Return a page of a job's rows, in order; `after`: the last place of the page before. NotFound: no such job."""
    if tx.execute(_GET, {"id": job_id}).first() is None:
        raise NotFound(f"There is no bulk job {job_id} in this tenant.")
    return tx.execute(_ROWS, {"job": job_id, "outcome": outcome, "after": after, "limit": limit}).all()


def chosen_rows(tx: Tx, preview: Any) -> list[ChosenRow]:
    """Return the rows of a preview for the job that carries it out. Conflict: there is nothing to carry out.

    Each with the version it was previewed at: what has changed since is refused.
    """
    if not preview.preview:
        raise Conflict("This job was no preview, so there is nothing to carry out. Begin a new one.")
    if preview.status == "running":
        raise Conflict("The preview is still running. Wait until it is done, or cancel it.")
    if preview.erased:
        raise Conflict("Some of these memories were erased since. Begin a new preview.")
    return [(row.memory_id, row.version) for row in tx.execute(_ALL_ROWS, {"job": preview.id})]


def lock_running(tx: Tx) -> None:
    """Wait for the pages of running jobs, and lock the jobs before anything else of an erasure is locked.

    A page locks its job, and then owners of memories; an erasure writes to the jobs of what it erases. In another order
    the two would wait for each other.
    """
    tx.execute(_LOCK_RUNNING)


def cancel(tx: Tx, job_id: UUID) -> JobStanding:
    """Cancel a job and return it; what is done stays done. Cancelling again changes nothing. Conflict: it has ended."""
    standing = get(tx, job_id)
    if standing.row.status == "cancelled":
        return standing
    if not tx.execute(_CANCEL, {"id": job_id}).rowcount:
        raise Conflict("The job has ended; there is nothing left to cancel. Its rows say how each can be undone.")
    return get(tx, job_id)


def _standings(tx: Tx, job_rows: Sequence[Any]) -> list[JobStanding]:
    ids = {"ids": [row.id for row in job_rows]}
    outcomes: dict[UUID, dict[str, int]] = {row.id: {} for row in job_rows}
    for count in tx.execute(_BY_OUTCOME, ids):
        outcomes[count.job_id][count.outcome] = count.times
    erasing = {"ids": [row.id for row in job_rows if row.action == "erase"]}
    along = {count.job_id: count.along for count in tx.execute(_ALONG, erasing)} if erasing["ids"] else {}
    counts: dict[UUID, dict[str, int]] = {}
    if erasing["ids"]:
        for count in tx.execute(_ERASED_ROWS, erasing):
            counts.setdefault(count.job_id, {})[count.name] = int(count.times)
    names = [str(row.id) for row in job_rows]
    seqs = log.seqs_of(tx, names)
    running = [seqs[str(row.id)] for row in job_rows if row.status == "running" and str(row.id) in seqs]
    errors = dispatch_queries.stopped(tx, running, "bulk_changer", _NO_RULE)
    return [
        JobStanding(
            row,
            outcomes[row.id],
            seqs.get(str(row.id), 0),
            along.get(row.id, 0),
            counts.get(row.id, {}),
            errors.get(seqs.get(str(row.id), 0)),
        )
        for row in job_rows
    ]


_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended('bulk jobs of ' || :tenant, 0))")

_LOCK_RUNNING = text("SELECT FROM bulk_jobs WHERE status = 'running' ORDER BY id FOR UPDATE")

_OF_REQUEST = text("SELECT id, asked FROM bulk_jobs WHERE request = :request")

_COUNT_RUNNING = text("SELECT count(*) FROM bulk_jobs WHERE status = 'running'")

_INSERT = text("""
    INSERT INTO bulk_jobs (tenant_id, id, request, asked, action, preview, of_preview, status, params, chosen, rows,
                           author)
    VALUES (:tenant, :id, :request, :fingerprint, :action, :preview, :of, 'running', cast(:params AS jsonb),
            cast(:chosen AS jsonb), :rows, cast(:author AS jsonb))
""")

_INSERT_ROWS = text("""
    INSERT INTO bulk_rows (tenant_id, job_id, place, memory_id, version)
    SELECT :tenant, :job, place, id, version
    FROM json_to_recordset(cast(:rows AS json)) AS r (place int, id uuid, version int)
""")

_GET = text("SELECT * FROM bulk_jobs WHERE id = :id")

_LIST = text("SELECT * FROM bulk_jobs WHERE cast(:after AS uuid) IS NULL OR id < :after ORDER BY id DESC LIMIT :limit")

_ROWS = text("""
    SELECT * FROM bulk_rows
    WHERE job_id = :job AND place > :after AND (cast(:outcome AS text) IS NULL OR outcome = :outcome)
    ORDER BY place LIMIT :limit
""")

_ALL_ROWS = text("SELECT memory_id, version FROM bulk_rows WHERE job_id = :job ORDER BY place")

_BY_OUTCOME = text("""
    SELECT job_id, outcome, count(*) AS times FROM bulk_rows
    WHERE job_id = ANY(:ids) AND outcome IS NOT NULL GROUP BY job_id, outcome
""")

_ALONG = text("""
    SELECT e.job_id, count(DISTINCT e.id) AS along
    FROM (SELECT job_id, unnest(erased) AS id FROM bulk_rows WHERE job_id = ANY(:ids) AND erased <> '{}') AS e
    WHERE NOT EXISTS (SELECT FROM bulk_rows r WHERE r.job_id = e.job_id AND r.memory_id = e.id)
    GROUP BY e.job_id
""")

_ERASED_ROWS = text("""
    SELECT r.job_id, c.key AS name, sum(cast(c.value AS bigint)) AS times
    FROM bulk_rows r CROSS JOIN jsonb_each_text(r.counts) AS c
    WHERE r.job_id = ANY(:ids) GROUP BY r.job_id, c.key
""")

_NO_RULE: Final = "No rule carries out `memory.bulk_requested`. Enable `change_on_request`, then begin another job."

_CANCEL = text("""
    UPDATE bulk_jobs SET status = 'cancelled', ended_at = clock_timestamp() WHERE id = :id AND status = 'running'
""")
"""A worker locks the row before it changes a memory, so this waits for the page under way, and no other follows."""
