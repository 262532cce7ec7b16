"""Bulk jobs as tests begin and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from core.bulk import jobs
from core.bulk.jobs import ChosenRow, JobStanding, NewJob
from core.memory.changes import Add
from core.storage.db import Database
from tests.factories import PERSON, a_memory, carry_out
from tests.samples import TENANT

CONTENTS = ("Ada has a cat.", "Ada plays the cello.", "Ada is allergic to peanuts.")


def stored(app: Database, *contents: str) -> list[Add]:
    """Memories of Ada, oldest first."""
    made = [a_memory(content) for content in contents or CONTENTS]
    carry_out(app, *made)
    return made


def a_job(action: jobs.Action = "pin", **fields: Any) -> NewJob:
    plain: dict[str, Any] = {"preview": False, "params": {}, "chosen": {"user_id": "ada"}, "request": None}
    return NewJob(action, **{**plain, "fingerprint": uuid4().hex, **fields})


def begin(app: Database, new: NewJob, rows: Sequence[ChosenRow], limit: int = 100) -> UUID:
    with app.tenant(TENANT) as tx:
        return jobs.request(tx, TENANT, new, rows, PERSON, limit=limit)


def standing(app: Database, job_id: UUID) -> JobStanding:
    with app.tenant(TENANT) as tx:
        return jobs.get(tx, job_id)


def rows_of(app: Database, job_id: UUID, **how: Any) -> list[Any]:
    with app.tenant(TENANT) as tx:
        return list(jobs.rows(tx, job_id, **{"outcome": None, "after": 0, "limit": 100, **how}))
