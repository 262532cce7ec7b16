"""Outcomes of agents in tests: pending changes made of a function, and carrying an outcome out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.events.publishing import Author
from core.storage.db import Database, Tx
from core.types import Json
from tests.samples import TENANT
from workers.dispatch.model import Job, Outcome


@dataclass(frozen=True, slots=True)
class Writing:
    """A pending change that calls a function with the transaction."""

    do: Callable[[Tx], Json]

    def write(self, tx: Tx, _author: Author) -> Json:
        return self.do(tx)


def carried_out(app: Database, outcome: Outcome, job: Job | None = None) -> Json:
    """Write an outcome as the ledger would, in the name of its job, and return its result."""
    with app.tenant(TENANT) as tx:
        return outcome.pending.write(tx, job.author if job else Author("agent"))
