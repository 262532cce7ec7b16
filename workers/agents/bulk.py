"""Agent that carries out bulk jobs: one action on many memories, a page of rows at a time.

Memories, the results of the rows and the end of the dispatch are one transaction. So each row is carried out once,
whatever is killed.
"""

from __future__ import annotations

from uuid import UUID

from core.bulk import jobs
from core.bulk.rows import RowPage
from core.consolidation import manual_merge
from core.consolidation.manual_merge import PreparedMerge
from core.errors import Conflict, ImprintError, Invalid, Never, NotFound
from core.events import log
from core.events.pending import Reported
from core.memory import receipts
from core.types import Json
from workers.dispatch.model import Job, Outcome
from workers.tools import Tools, count_changes


def change_in_bulk(tools: Tools, job: Job) -> Outcome:
    """Carry out the next rows of the job that the event requests; another dispatch continues."""
    if job.event.source != log.SOURCE or job.event.event_type != jobs.REQUESTED:
        raise Never(f"{job.target} obeys {jobs.REQUESTED} of the service itself; send POST /v1/memories/bulk/jobs.")
    job_id = UUID(str(job.event.payload["job_id"]))
    with tools.db.tenant(job.tenant_id) as tx:
        job_row = jobs.get(tx, job_id).row
        chosen = jobs.rows(tx, job_id, outcome=None, after=0, limit=manual_merge.MOST_MERGED)
    if job_row.status != "running":
        return Outcome(Reported({"job": job_row.status}))
    merge = _merge(tools, job, job_row.params, [row.memory_id for row in chosen]) if job_row.action == "merge" else None
    page = RowPage(job.tenant_id, job_id, receipts.signer(tools.settings), merge)

    def then(done: Json) -> list[tuple[str, Json]]:
        return [(job.target, job.params)] if done["more"] else []

    return Outcome(page, then_by_result=then, count=lambda done: count_changes(done.get("changes", {})))


def _merge(tools: Tools, job: Job, params: Json, ids: list[UUID]) -> PreparedMerge | ImprintError:
    """Return the changes of a merge, or why the memories cannot be merged."""
    try:
        return manual_merge.prepare(
            tools.db,
            tools.embedder,
            job.tenant_id,
            ids,
            content=params.get("content"),
            reason=params.get("reason"),
            secrets=tools.settings.secrets,
        )
    except (NotFound, Conflict, Invalid) as error:
        return error
