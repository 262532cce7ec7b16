"""Agents: their interface, their dependencies, and what they record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Self
from uuid import UUID

from core import metrics
from core.config import Settings
from core.consolidation import pipeline
from core.consolidation.pipeline import Consolidation
from core.errors import Never, NotFound
from core.inference import costs
from core.inference.client import Call
from core.inference.embedders import Embedder
from core.inference.installed_embedders import InstalledEmbedders
from core.storage.db import Database
from core.tenancy.embedding import TenantEmbedding
from workers.dispatch.model import Job, Outcome
from workers.routing.action_dispatches import ActionLimits

COUNTED: Final = frozenset(
    (
        "added confirmed superseded merged replaced disputed ignored derived edited archived restored quarantined used"
    ).split()
)
"""Kinds of change that the metric of memories counts."""


@dataclass(frozen=True, slots=True)
class Tools:
    """Dependencies of the agents: a tenant-bound database, an embedder, the settings.

    `embedders`: those of tenants with a model of their own; None: there are none. `actions`: limits of the actions of
    rules, for an agent that decides on events.
    """

    db: Database
    embedder: Embedder
    settings: Settings
    embedders: InstalledEmbedders | None = None
    actions: ActionLimits | None = None

    def of(self, own: TenantEmbedding | None) -> Self:
        """Return the tools for a tenant: its model, and the database with the vectors of that."""
        if own is None or self.embedders is None:
            return self
        return replace(self, db=self.db.at(own.schema), embedder=self.embedders.of(own.model))

    @property
    def unlabelled(self) -> Tools:
        """The same tools for an agent that reads nothing that has audience labels."""
        return replace(self, db=self.db.as_reader(()))

    @property
    def consolidation(self) -> Consolidation:
        """Settings of the consolidation, without a model."""
        return pipeline.from_settings(self.db, self.embedder, self.settings)


AgentFunction = Callable[[Tools, Job], Outcome]


@dataclass(frozen=True, slots=True)
class Agent:
    """A named unit of work: its function and its queue. Entry points of the group `imprint.agents` name one.

    `seconds`: time limit of one attempt, where it differs from that of its queue.
    """

    run: AgentFunction
    queue: str
    seconds: float | None = None


@contextmanager
def session_of(job: Job) -> Iterator[str]:
    """Yield the session that a job is about. Never: the job names none, or there is nothing of it to read."""
    session_id = job.params.get("session_id") or job.event.session_id
    if not session_id:
        raise Never(f"{job.target} needs an event with a session; {job.event.event_type} {job.event.id!r} has none.")
    try:
        yield str(session_id)
    except NotFound as error:
        raise Never(f"{job.target} has nothing to read: {error}") from error


def user_of(job: Job) -> str:
    """Return the user that a job is about. Never: the job names none."""
    user_id = job.params.get("user_id") or job.event.user_id
    if not user_id:
        raise Never(f"{job.target} needs an event with a user; {job.event.event_type} {job.event.id!r} has none.")
    return str(user_id)


def id_of(job: Job, name: str) -> UUID:
    """Return the id that the parameters of a job, else its event, have under a name. Never: there is none."""
    named = job.params.get(name) or job.event.payload.get(name)
    try:
        return UUID(str(named))
    except ValueError:
        raise Never(f"{job.target} needs an id in `{name}`, not {named!r:.100}.") from None


def count_changes(counts: Mapping[str, int]) -> None:
    """Count changes to memories in the metric, after they were committed."""
    for name in COUNTED & counts.keys():
        metrics.MEMORIES.labels(name).inc(counts[name])


def note_call(tools: Tools, job: Job, call: Call) -> None:
    """Record a call of a model at once: it is paid for even if the job fails."""
    with tools.db.tenant(job.tenant_id) as tx:
        costs.record(tx, tools.settings, job.tenant_id, job.id, call, job.lease)
