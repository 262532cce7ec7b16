"""Jobs that change many memories: a preview first, then the same rows for good, carried out by workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated, Any, Final
from uuid import UUID

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field

from api.authors import Authorship
from api.http.memories import bulk_changes, decisions
from api.http.memories.bulk_changes import LEAST_MERGED
from api.http.memories.reading import MemorySelection, filter_of, filter_problems
from api.http.memories.requests import Content, Reason
from api.ingress import audience
from api.ingress.answers import Answer, answers, page, shown
from api.ingress.bodies import RequestBody
from api.ingress.dependencies import Dependencies, Deps, Limit, Reader, Writer, author
from api.ingress.large_json import Route
from core.bulk import jobs
from core.bulk.jobs import MOST_ROWS, ChosenRow, JobStanding, NewJob
from core.consolidation import manual_merge
from core.consolidation.manual_merge import MOST_MERGED
from core.errors import ImprintError, Invalid, Problem
from core.events import log, request_ids
from core.events.parsing import Name
from core.memory import memories
from core.settings.limits import LimitReached
from core.storage.db import Tx
from core.tenancy.tenants import Caller
from core.types import Json


class BulkJob(Answer):
    """One action on many memories, which workers carry out; how far it is."""

    id: UUID
    action: str = Field(description="`pin`, `unpin`, `archive`, `restore`, `merge` or `erase`")
    preview: bool = Field(description="Whether each row is only tried, and taken back")
    of: UUID | None = Field(description="The preview whose rows it carries out")
    status: str = Field(description="`running`, `done` or `cancelled`")
    rows: int = Field(description="Number of memories")
    done: int
    unchanged: int
    refused: int
    along: int = Field(description="Of an erasure: memories that nobody chose and that go with a chosen one")
    counts: dict[str, int] = Field(description="Of an erasure: rows of each table that go")
    chosen: Json = Field(
        description="What the memories were chosen by; of conditions with words only the names, in `words`; "
        "`more`: others match as well"
    )
    evidence: bool = Field(description="Of an erasure: whether the cited messages lose their text")
    reason: str | None
    warnings: list[str] = Field(description="Of the preview of a merge: what speaks against it")
    erased: bool = Field(description="Whether one of its memories was erased since it began")
    author: Authorship
    created_at: datetime
    ended_at: datetime | None
    error: str | None = Field(description="Why a running one stands still")
    settle_token: str = Field(description="Waits for everything that follows from it: `GET /v1/settle`")


class BulkJobRow(Answer):
    """A memory of a job, and what became of it, or would."""

    place: int
    memory_id: UUID
    version: int | None = Field(description="The version that is changed; null: whichever it has by then")
    outcome: str | None = Field(description="`done`, `unchanged`, `refused`; null: still to come")
    status: int | None = Field(description="What the single route would have answered")
    detail: str | None
    change_id: UUID | None
    undo: str | None = Field(description="Path of the request that takes it back")
    receipt_id: UUID | None
    with_id: UUID | None = Field(description="The row with which it was erased")
    erased: list[UUID] = Field(description="Memories that go together")
    counts: dict[str, int] = Field(description="Rows of each table that are erased")


BulkJobPage = page("BulkJobPage", BulkJob, "A page of jobs.")
BulkJobRows = page("BulkJobRows", BulkJobRow, "A page of the rows of a job.")


router = APIRouter(prefix="/v1/memories/bulk", tags=["memory"], route_class=Route)

BEGUN: Final = answers(
    BulkJob, description="The job that an earlier request with this key has begun", refusals=(409,)
) | answers(BulkJob, 202, "The job, which workers carry out")

PLAIN: Final = frozenset(
    (
        "user_id group_id session_id message_id kind category topic trust pinned min_importance min_strength "
        "episode_type success value_type status include_archived"
    ).split()
)
"""Conditions of a filter that are kept with the job; of the others, which hold words, only the names."""

IdempotencyKey = Annotated[
    Name | None, Header(description="Identifies the request: repeated, it begins nothing and gets the same job")
]

Confirmed = Annotated[
    int | None, Field(description="Of an erasure: the number of memories, as it cannot be undone", ge=0)
]


class BulkJobRequest(RequestBody):
    """An action on many memories: those named, or the newest that match a filter."""

    action: jobs.Action
    ids: Annotated[
        list[UUID] | None,
        Field(min_length=1, max_length=MOST_ROWS, description="In this order; the first of a merge is kept"),
    ] = None
    filter: Annotated[
        MemorySelection | None, Field(description=f"As for `GET /v1/memories`; the newest {MOST_ROWS:,} that match")
    ] = None
    preview: Annotated[bool, Field(description="Only find out what would happen to each row")] = True
    reason: Annotated[Reason | None, Field(description="Reason, stored in the history")] = None
    content: Annotated[Content | None, Field(description="Of a merge: its wording; default: that of the first")] = None
    evidence: Annotated[bool, Field(description="Of an erasure: also blank the text of the cited messages")] = False
    confirm: Confirmed = None

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the request as a whole."""
        if (self.ids is None) == (self.filter is None):
            yield Problem("", "name the memories: either `ids` or `filter`")
        if self.ids is not None and len(set(self.ids)) < len(self.ids):
            yield Problem("/ids", "names a memory twice")
        if self.filter is not None:
            yield from (
                Problem(f"/filter{problem.pointer}", problem.detail) for problem in filter_problems(self.filter)
            )
        yield from bulk_changes.misplaced(self, self.action)


class BulkRunRequest(RequestBody):
    """Carrying a preview out."""

    confirm: Confirmed = None
    reason: Annotated[Reason | None, Field(description="Reason, stored in the history; default: of the preview")] = None


def _require_readable(deps: Dependencies, reads: Dependencies, caller: Caller, ids: Sequence[UUID]) -> None:
    """Refuse memories that the reader cannot read, as if they were not there. NotFound."""
    with deps.db.tenant(caller.tenant_id) as tx:
        present = memories.of_ids(tx, ids)
    with reads.db.tenant(caller.tenant_id) as tx:
        for memory_id in present.keys() - memories.of_ids(tx, ids).keys():
            memories.get(tx, memory_id)


@router.post("/jobs", operation_id="beginBulkJob", responses=BEGUN)
def post_job(
    deps: Deps, caller: Writer, request: BulkJobRequest, response: Response, idempotency_key: IdempotencyKey = None
) -> Json:
    """Begin a job that pins, unpins, archives, restores, merges or erases up to 10,000 memories, or previews it.

    Its memories are those of `ids`, or the newest that match `filter` now. Without `"preview": false` each row is
    carried out and taken back; `POST …/jobs/{job_id}/run` then carries the same rows out, each at the version that was
    previewed. `GET …/jobs/{job_id}` shows the progress, `…/rows` what became of each row.
    """
    if problems := list(request.problems()):
        raise Invalid(problems)
    reads = audience.for_reader(deps, caller, request.filter.reader_labels if request.filter else None)
    _require_readable(deps, reads, caller, request.ids or [])
    chosen: Json = {"ids": len(request.ids)} if request.ids else {}
    rows: list[ChosenRow] = [(memory_id, None) for memory_id in request.ids or ()]
    if request.filter is not None:
        with reads.db.tenant(caller.tenant_id) as tx:
            rows, more = jobs.choose(tx, filter_of(request.filter))
        chosen = _filter_json(request.filter) | {"more": more}
    if not request.preview and request.filter is not None:
        rows = [(memory_id, None) for memory_id, _ in rows]
    _check(request, len(rows))
    params = {"reason": request.reason, "content": request.content, "evidence": request.evidence or None}
    requests = request_ids.of(deps.settings, caller.tenant_id, "bulk job", idempotency_key)
    new = NewJob(
        action=request.action,
        preview=request.preview,
        params={name: value for name, value in params.items() if value is not None},
        chosen=chosen,
        request=requests.id_of("") if idempotency_key else None,
        fingerprint=requests.fingerprint(request.model_dump(mode="json")),
    )
    return _begin(deps, caller, new, rows, response)


@router.get("/jobs", operation_id="listBulkJobs", responses=answers(BulkJobPage))
def get_jobs(deps: Deps, caller: Reader, after: UUID | None = None, limit: Limit = 50) -> Json:
    """List jobs that change many memories, newest first."""
    with deps.db.tenant(caller.tenant_id) as tx:
        standings = jobs.find(tx, after=after, limit=limit)
    items = [_json(deps, caller, standing) for standing in standings]
    return {"items": items, "next": str(standings[-1].row.id) if len(standings) == limit else None}


@router.get("/jobs/{job_id}", operation_id="getBulkJob", responses=answers(BulkJob))
def get_job(deps: Deps, caller: Reader, job_id: UUID) -> Json:
    """Return a job: how many of its rows are done, unchanged or refused, and why a running one stands still."""
    with deps.db.tenant(caller.tenant_id) as tx:
        standing = jobs.get(tx, job_id)
        return _json(deps, caller, standing) | {"warnings": _warnings(tx, standing)}


@router.get("/jobs/{job_id}/rows", operation_id="listBulkJobRows", responses=answers(BulkJobRows))
def get_rows(
    deps: Deps,
    caller: Reader,
    job_id: UUID,
    outcome: Annotated[jobs.Outcome | None, Query(description="Only rows with this outcome")] = None,
    after: Annotated[int, Query(ge=0, le=MOST_ROWS, description="`next` of the previous page")] = 0,
    limit: Limit = 100,
) -> Json:
    """List the rows of a job in their order, with what became of each."""
    with deps.db.tenant(caller.tenant_id) as tx:
        rows = jobs.rows(tx, job_id, outcome=outcome, after=after, limit=limit)
    return {"items": [_row_json(row) for row in rows], "next": str(rows[-1].place) if len(rows) == limit else None}


@router.post("/jobs/{job_id}/run", operation_id="runBulkJob", responses=BEGUN)
def post_run(
    deps: Deps,
    caller: Writer,
    job_id: UUID,
    request: BulkRunRequest,
    response: Response,
    idempotency_key: IdempotencyKey = None,
) -> Json:
    """Carry out what a job has previewed: the same rows, each at the version that was previewed.

    A row that has changed since is refused. Repeated with the same `Idempotency-Key`, it begins nothing more.
    """
    requests = request_ids.of(deps.settings, caller.tenant_id, "bulk job", idempotency_key)
    with deps.db.tenant(caller.tenant_id) as tx:
        preview = jobs.get(tx, job_id).row
        print_ = requests.fingerprint({"of": str(job_id), **request.model_dump(mode="json")})
        request_id = requests.id_of("") if idempotency_key else None
        if (job_of_request := jobs.of_request(tx, caller.tenant_id, request_id, print_)) is not None:
            return _json(deps, caller, jobs.get(tx, job_of_request))
        rows = jobs.chosen_rows(tx, preview)
        if preview.action == "erase" and request.confirm != len(rows):
            raise Invalid([_unconfirmed(len(rows))])
        params = preview.params | ({} if request.reason is None else {"reason": request.reason})
        new = NewJob(preview.action, False, params, preview.chosen, request_id, print_, job_id)
    return _begin(deps, caller, new, rows, response)


@router.post("/jobs/{job_id}/cancel", operation_id="cancelBulkJob", responses=answers(BulkJob, refusals=(409,)))
def post_cancel(deps: Deps, caller: Writer, job_id: UUID) -> Json:
    """Cancel a job; rows that were carried out stay so."""
    with deps.db.tenant(caller.tenant_id) as tx:
        return _json(deps, caller, jobs.cancel(tx, job_id))


def _begin(deps: Dependencies, caller: Caller, new: NewJob, rows: list[ChosenRow], response: Response) -> Json:
    """Store a job; the same request again gets the job that it began. LimitReached: too much is waiting."""
    with deps.db.tenant(caller.tenant_id) as tx:
        if (job_of_request := jobs.of_request(tx, caller.tenant_id, new.request, new.fingerprint)) is not None:
            return _json(deps, caller, jobs.get(tx, job_of_request))
        backlog = caller.limits.events_waiting
        if log.backlog(tx, backlog) >= backlog:
            raise LimitReached("events_waiting", backlog)
        job_id = jobs.request(tx, caller.tenant_id, new, rows, author(caller), limit=caller.limits.bulk_jobs)
        standing = jobs.get(tx, job_id)
    deps.bell.notify()
    response.status_code = 202
    return _json(deps, caller, standing)


def _check(request: BulkJobRequest, count: int) -> None:
    """Refuse a job about no memory, a merge of too many, and an erasure whose extent nobody has confirmed. Invalid."""
    if not count:
        raise Invalid([Problem("/filter", "matches no memory; `GET /v1/memories` lists what it matches")])
    if request.action == "merge" and not LEAST_MERGED <= count <= MOST_MERGED:
        pointer = "/ids" if request.ids else "/filter"
        raise Invalid([Problem(pointer, f"names {count}; a merge takes {LEAST_MERGED} to {MOST_MERGED} memories")])
    if request.action == "erase" and not request.preview and request.confirm != count:
        raise Invalid([_unconfirmed(count)])


def _unconfirmed(count: int) -> Problem:
    return Problem("/confirm", f"must be the number of memories, {count}: an erasure cannot be undone")


def _filter_json(selection: MemorySelection) -> Json:
    """Return the filter as it is kept: names and numbers, of conditions with words only that they were set."""
    given = selection.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    names = sorted(given.keys() - PLAIN - {"reader_labels"})
    return {name: value for name, value in given.items() if name in PLAIN} | ({"words": names} if names else {})


def _warnings(tx: Tx, standing: JobStanding) -> list[str]:
    """Return what speaks against a merge; it is not stored, as it may quote the memories."""
    row = standing.row
    if row.action != "merge" or not row.preview or standing.outcomes.get("refused"):
        return []
    ids = [job_row.memory_id for job_row in jobs.rows(tx, row.id, outcome=None, after=0, limit=MOST_MERGED)]
    try:
        return manual_merge.objections(tx, ids)
    except ImprintError:  # They were changed since; carrying it out refuses them.
        return []


def _json(deps: Dependencies, caller: Caller, standing: JobStanding) -> Json:
    row = standing.row
    return shown(
        BulkJob,
        row,
        of=row.of_preview,
        **{name: standing.outcomes.get(name, 0) for name in ("done", "unchanged", "refused")},
        along=standing.along,
        counts=dict(sorted(standing.counts.items())),
        evidence=bool(row.params.get("evidence")),
        reason=row.params.get("reason"),
        warnings=[],
        error=standing.error,
        settle_token=deps.settle_tokens.of(caller.tenant_id, standing.seq),
    )


def _row_json(row: Any) -> Json:
    return shown(BulkJobRow, row, undo=decisions.undo_path(row.change_id) if row.change_id else None)
