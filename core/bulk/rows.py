"""Carries out the next rows of a bulk job, in one transaction: memories, results and the end of the job.

Each row has a savepoint of its own: one that is refused stops no other, and one of a preview is taken back. The job's
row is locked first, so that two attempts do not work on the same page, and none after it was cancelled.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final
from uuid import UUID

from sqlalchemy import text

from core.bulk import jobs
from core.consolidation import manual_merge
from core.consolidation.manual_merge import PreparedMerge
from core.erasure import memory as memory_erasure
from core.errors import Conflict, ImprintError, Invalid, NotFound
from core.events import publishing
from core.events.log import Emission
from core.events.publishing import Author
from core.memory import by_hand, memories, receipts
from core.memory.receipts import Signer
from core.storage.db import Tx
from core.types import Json

PAGE: Final = 100
"""Rows of one transaction."""

SECONDS: Final = 2.0
"""Seconds after which a transaction begins no further row: it keeps the locks of the owners it has written to."""

STATUS: Final[Mapping[type[ImprintError], int]] = {NotFound: 404, Conflict: 409, Invalid: 422}
"""HTTP status that the single route would have answered."""


@dataclass(frozen=True, slots=True)
class RowResult:
    """Outcome of a row; of a preview the one that it would have."""

    outcome: jobs.Outcome
    status: int = 200
    detail: str | None = None
    change_id: UUID | None = None
    receipt_id: UUID | None = None
    erased: Sequence[UUID] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: Mapping[str, int] = field(default_factory=dict)


class _TakenBack(Exception):
    """Ends the savepoint of a row that was only tried."""


@dataclass(frozen=True, slots=True)
class RowPage:
    """The next rows of a job, not carried out yet. `merge`: the changes of a merge, which takes all rows at once."""

    tenant_id: str
    job_id: UUID
    sign: Signer
    merge: PreparedMerge | ImprintError | None = None

    def write(self, tx: Tx, author: Author) -> Json:
        """Carry out rows until the page or the time is over, store their results, and end the job after the last."""
        job = tx.execute(_LOCK, {"id": self.job_id}).one_or_none()
        if job is None:
            return {"job": "ended", "more": False}
        by = Author(job.author["name"], author.cause, author.rule, author.rule_version)
        changes = self._merge(tx, job, by) if job.action == "merge" else self._each(tx, job, by)
        left = tx.execute(_LEFT, {"job": job.id}).scalar_one()
        if not left:
            self._end(tx, job, author)
        return {"left": left, "more": bool(left), "changes": {} if job.preview else dict(changes)}

    def _each(self, tx: Tx, job: Any, by: Author) -> Counter[str]:
        changes, gone, began = Counter[str](), set[UUID](), time.monotonic()
        for row in tx.execute(_NEXT, {"job": job.id, "most": PAGE}).all():
            if time.monotonic() - began > SECONDS:
                break
            if row.memory_id in gone:
                continue  # Its result is stored with that of an earlier row.
            result = self._try(tx, job, partial(self._carry_out, tx, job, row, by))
            gone.update(result.erased)
            changes.update(result.changes)
            self._store(tx, job, row, result)
        return changes

    def _try(self, tx: Tx, job: Any, work: Callable[[], RowResult]) -> RowResult:
        """Return the result of the work on a row; what is refused, or only tried, leaves no trace."""
        done = RowResult("unchanged")
        try:
            with tx.begin_nested():
                done = work()
                if job.preview:
                    raise _TakenBack
        except _TakenBack:
            return replace(done, change_id=None, receipt_id=None, changes={})
        except (NotFound, Conflict, Invalid) as error:
            return RowResult("refused", STATUS[type(error)], error.detail)
        return done

    def _carry_out(self, tx: Tx, job: Any, row: Any, by: Author) -> RowResult:
        if job.action == "erase":
            return self._erase(tx, job, row, by)
        made = by_hand.CHANGES[job.action](tx, self.tenant_id, by, row.memory_id, job.params.get("reason"), row.version)
        if made is None:
            return RowResult("unchanged")
        return RowResult("done", change_id=made.change_id, changes=made.counts)

    def _erase(self, tx: Tx, job: Any, row: Any, by: Author) -> RowResult:
        evidence = bool(job.params.get("evidence"))
        own = [by.cause.event.seq] if by.cause else []
        done = memory_erasure.erase(
            tx, self.tenant_id, row.memory_id, by, evidence=evidence, but=own, version=row.version
        )
        receipt = receipts.issue(
            tx,
            self.tenant_id,
            self.sign,
            scope="memory",
            subject=str(row.memory_id),
            counts=done.counts,
            tombs=done.tombstones,
            requested_by=by.name,
            evidence=evidence,
        )
        counts = {name: number for name, number in sorted(done.counts.items()) if number}
        return RowResult("done", receipt_id=UUID(receipt.body["id"]), erased=list(done.memory_ids), counts=counts)

    def _merge(self, tx: Tx, job: Any, by: Author) -> Counter[str]:
        """Merge all rows into the first as one change, or refuse them all."""
        rows = tx.execute(_NEXT, {"job": job.id, "most": PAGE}).all()

        def work() -> RowResult:
            if not isinstance(self.merge, PreparedMerge):
                raise self.merge or Conflict("The merge was not prepared.")
            for row in rows:
                by_hand.require_version(memories.get(tx, row.memory_id), row.version)
            counts = manual_merge.write(tx, self.tenant_id, self.merge, by)
            return RowResult("done", change_id=self.merge.change_id, changes=counts)

        done = self._try(tx, job, work)
        for index, row in enumerate(rows):
            detail = done.detail if done.outcome == "refused" else manual_merge.detail_at(index)
            self._store(tx, job, row, replace(done, detail=detail))
        return Counter(done.changes)

    def _store(self, tx: Tx, job: Any, row: Any, result: RowResult) -> None:
        values = {name: getattr(result, name) for name in RowResult.__slots__}
        values |= {
            "job": job.id,
            "place": row.place,
            "erased": list(result.erased),
            "counts": json.dumps(result.counts),
        }
        tx.execute(_STORE, values)
        others = [memory_id for memory_id in result.erased if memory_id != row.memory_id]
        if others:
            detail = f"{'Goes' if job.preview else 'Went'} with {row.memory_id}."
            tx.execute(_STORE_WITH, values | {"others": others, "with": row.memory_id, "told": detail})

    def _end(self, tx: Tx, job: Any, author: Author) -> None:
        tx.execute(_END, {"id": job.id})
        if job.preview:
            return
        outcomes = {count.outcome: count.times for count in tx.execute(_BY_OUTCOME, {"job": job.id})}
        payload = {
            "job_id": str(job.id),
            "action": job.action,
            **{name: outcomes.get(name, 0) for name in ("done", "unchanged", "refused")},
        }
        publishing.publish(tx, self.tenant_id, author, [Emission(jobs.COMPLETED, payload)])


_LOCK = text("SELECT * FROM bulk_jobs WHERE id = :id AND status = 'running' FOR UPDATE")

_NEXT = text("""
    SELECT place, memory_id, version FROM bulk_rows WHERE job_id = :job AND outcome IS NULL ORDER BY place LIMIT :most
""")

_LEFT = text("SELECT count(*) FROM bulk_rows WHERE job_id = :job AND outcome IS NULL")

_BY_OUTCOME = text("SELECT outcome, count(*) AS times FROM bulk_rows WHERE job_id = :job GROUP BY outcome")

_STORE = text("""
    UPDATE bulk_rows SET outcome = :outcome, status = :status, detail = :detail, change_id = :change_id,
                         receipt_id = :receipt_id, erased = :erased, counts = cast(:counts AS jsonb)
    WHERE job_id = :job AND place = :place
""")

_STORE_WITH = text("""
    UPDATE bulk_rows SET outcome = 'done', status = 200, detail = :told, receipt_id = :receipt_id, with_id = :with
    WHERE job_id = :job AND memory_id = ANY(:others) AND outcome IS NULL
""")

_END = text("UPDATE bulk_jobs SET status = 'done', ended_at = clock_timestamp() WHERE id = :id")
