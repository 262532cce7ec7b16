"""Types of the ledger: dispatches, jobs, outcomes, retry policy, agents."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Literal, Self
from uuid import UUID

from uuid_utils.compat import uuid7

from core import tracing
from core.config import Settings
from core.errors import Later
from core.events import trace_context
from core.events.pending import Pending, Reported
from core.events.publishing import Author
from core.inference.client import ChatClient
from core.inference.quota import Grant
from core.settings.limits import TenantLimits
from core.storage.db import Database
from core.tenancy.embedding import TenantEmbedding
from core.tracing import Carrier
from core.types import DispatchStatus, Event, Json
from workers.dispatch.admission import ModelAdmission, Wait
from workers.dispatch.fair_share import FairShare

MOST_OVERRUNS = 2
"""Attempts of a dispatch that may overrun: the second may have met an idle machine, a third would not help."""

LONGEST_PAUSE = timedelta(days=30)
"""Upper bound of a pause that another service asks for: more is a mistake, or beyond the calendar."""

RETRY_MAX_SECONDS: Final = 600.0
"""Longest pause between two attempts; with the defaults (2 s first, 8 attempts) the pauses stay below it."""


@dataclass(frozen=True, slots=True)
class NewDispatch:
    """A dispatch that is not inserted yet.

    `alone`: key of which one runs at a time. `after`: the dispatch that must be done first. `lane`, `lane_limit`: how
    many of that lane may run at a time. `hold`: what a held one waits for; `expires_at`: when the wait for approval, or
    for its time, ends. `lineage`: the rules that led to it, its own last. `replay_id`: the replay that decided it.
    `lists_others`: whether `params` lists sessions or events of others than its event's; an erasure looks these up.
    `trace`: the trace context in which it was decided.
    """

    tenant_id: str
    action_type: str
    target: str
    queue: str
    params: Json
    event_seq: int | None
    root_seq: int
    correlation_id: str
    hop: int
    rule: str | None = None
    rule_version: int | None = None
    alone: str | None = None
    status: DispatchStatus = DispatchStatus.PENDING
    error: str | None = None
    lineage: Sequence[str] = ()
    after: UUID | None = None
    lane: str | None = None
    lane_limit: int | None = None
    hold: Literal["approval", "turn", "time"] | None = None
    expires_at: datetime | None = None
    replay_id: UUID | None = None
    lists_others: bool = False
    trace: Carrier | None = None
    id: UUID = field(default_factory=uuid7)

    @classmethod
    def on(cls, event: Event, action_type: str, target: str, queue: str, params: Json, **more: Any) -> Self:
        """Return a dispatch that reacts to an event, in its chain, and in the active trace or that of the event."""
        return cls(
            event.tenant_id,
            action_type,
            target,
            queue,
            params,
            event.seq,
            event.root_seq,
            event.correlation_id,
            event.hop,
            trace=tracing.current() or trace_context.of(event),
            **more,
        )


def lists_others(params: Json, event: Event, gathered: Sequence[Event] = ()) -> bool:
    """Return whether parameters list sessions or events that are not those of whom the event is."""
    sessions = params.get("sessions")
    if sessions is not None and sessions != [event.session_id]:
        return True
    whose = {(member.session_id, member.user_id, member.payload.get("group_id")) for member in gathered}
    return len(whose) > 1 or (len(gathered) > 1 and (None, None, None) in whose)


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed dispatch with the event it reacts to; the view of it that an agent gets.

    `grant`: what it may ask a model for. `model`: a client whose calls are paid from that grant; None: no model is
    configured, or the job began without it. `wait`: until when the model is not to be asked, where it began without.
    `seconds`: time limit of the attempt; None: there is none. `embedding`: the tenant's model, which the job keeps to
    its end; None: that of the installation. `replay_id`: the replay that decided it. `trace`: the trace context in
    which it was decided.
    """

    tenant_id: str
    id: UUID
    target: str
    action_type: str
    params: Json
    event: Event
    author: Author
    attempt: int
    lease: UUID
    alone: str | None = None
    lane: str | None = None
    lane_limit: int | None = None
    grant: Grant | None = None
    model: ChatClient | None = None
    wait: Wait | None = None
    queue: str = "io"
    overruns: int = 0
    seconds: float | None = None
    embedding: TenantEmbedding | None = None
    replay_id: UUID | None = None
    trace: Carrier | None = None


FollowUps = Sequence[tuple[str, Json]]
"""Agents that must run next, each with its parameters."""


@dataclass(frozen=True, slots=True)
class FailedPart:
    """A part of a job that failed for good while the rest succeeded: the parameters that name it, and the reason."""

    params: Json
    reason: str


@dataclass(frozen=True, slots=True)
class PostponedPart:
    """A part of a job that has to be tried again while the rest succeeded: its parameters, and what it waits for."""

    params: Json
    cause: Later | Wait


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of an agent: a pending change, written in the transaction that ends the dispatch.

    `then`: agents that must run next; where the same agent goes on, the rule's next action waits for that too.
    `then_by_result`: further ones, which only the result of the written change tells. `at`: when `then` begins; nothing
    waits for it meanwhile. `count`: called with the result after the commit, to update metrics. `failed`: parts that
    become dead dispatches of their own. `postponed`: parts that become dispatches of their own, which wait. `decided`:
    dispatches on other events, which the written change has decided.
    """

    pending: Pending = field(default_factory=Reported)
    then: FollowUps = ()
    count: Callable[[Json], None] = lambda _result: None
    at: datetime | None = None
    then_by_result: Callable[[Json], FollowUps] = lambda _result: ()
    failed: Sequence[FailedPart] = ()
    postponed: Sequence[PostponedPart] = ()
    decided: Sequence[NewDispatch] = ()


@dataclass(frozen=True, slots=True)
class LedgerPolicy:
    """Length of a lease, pauses between retries, number of attempts. Times in seconds.

    `running`: dispatches of one queue that a tenant without a limit of its own may have running.
    """

    lease: float
    resend: float
    retry_base: float
    retry_max: float
    attempts: int
    running: int = TenantLimits().running

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return leases, retries and limits as the settings have them."""
        return cls(
            lease=settings.lease_seconds,
            resend=settings.resend_seconds,
            retry_base=settings.retry_base_seconds,
            retry_max=RETRY_MAX_SECONDS,
            attempts=settings.attempts,
            running=settings.tenant_limits.running,
        )

    @property
    def shares(self) -> FairShare:
        """Settings of fair sharing."""
        return FairShare(self.resend, self.retry_max, self.lease, self.running)

    def pause(self, attempt: int, after: timedelta | None) -> float:
        """Return an exponential back-off, jittered between half and all of it, and at least `after`."""
        ceiling = min(self.retry_max, self.retry_base * 2.0 ** (attempt - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
        return max(jittered, min(after, LONGEST_PAUSE).total_seconds() if after else 0.0)


class Overran(Exception):
    """An attempt took longer than its agent may."""


class LaneFull(Exception):
    """The lane of a dispatch has no room."""


BoundAgent = Callable[[Job], Outcome]
"""An agent with its dependencies."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Dependencies of the ledger: the database, the agents and their queues, the policy, the model.

    `admission_control`: for agents that ask a model; None: no model. `seconds`: time limit of an attempt by agent;
    an agent without an entry has none. `interrupts`: whether the process is the ledger's own, so that an attempt that
    overruns or was cancelled can be stopped by signals and, as a last resort, with the process.
    """

    db: Database
    agents: Mapping[str, BoundAgent]
    queues: Mapping[str, str]
    policy: LedgerPolicy
    admission_control: ModelAdmission | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupts: bool = False
    model: ChatClient | None = None
