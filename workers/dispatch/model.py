"""Vocabulary of the ledger: dispatches, jobs, outcomes, retry policy, agents."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from uuid import UUID

from uuid_utils.compat import uuid7

from core.events.publishing import Author
from core.inference.quota import Grant
from core.settings.limits import Limits
from core.storage.db import Database, Tx
from core.types import DispatchStatus, Event, Json
from workers.dispatch.admission import Gate
from workers.dispatch.fair_share import Shares

OVERRUNS = 2
"""Attempts of a dispatch that may take too long: the second may have met a machine at rest, a third would not help."""

LONGEST_PAUSE = timedelta(days=30)
"""Who asks for more patience than this has made a mistake, or is beyond every calendar."""


@dataclass(frozen=True, slots=True)
class NewDispatch:
    """An action that must happen, about to be written into the ledger.

    `after`: the dispatch that must be done first. `lane` with `lane_limit`: how many of that name may run at a time.
    `hold`: what a held one waits for; `expires_at`: when its waiting for approval, or for its time, ends. `lineage`:
    the rules that acted on the way to its effect, its own last.
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
    id: UUID = field(default_factory=uuid7)


@dataclass(frozen=True, slots=True)
class Job:
    """A claimed dispatch with the event it reacts to; what an agent gets to see. `grant`: what it may ask a model."""

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
    queue: str = "io"
    overruns: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an agent thought out: `write` is carried out in the transaction that ends the dispatch.

    `then`: agents that must run next, each with its parameters; where the same agent goes on, the rule's next action
    waits for that too. `count`: called with what `write` answered, once it is
    committed, for what is counted must have happened. `at`: when `then` begins; nothing waits for it meanwhile.
    """

    write: Callable[[Tx], Json] = lambda _tx: {}
    then: Sequence[tuple[str, Json]] = ()
    count: Callable[[Json], None] = lambda _result: None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """How long a lease lasts, when a retry comes, and how many attempts there are. All times in seconds.

    `running`: dispatches of one queue that a tenant without a limit of its own may have under way.
    """

    lease: float
    resend: float
    retry_base: float
    retry_max: float
    attempts: int
    running: int = Limits().running

    @property
    def shares(self) -> Shares:
        """How much of a tenant's work goes to the broker at a time."""
        return Shares(self.resend, self.retry_max, self.lease, self.running)

    def pause(self, attempt: int, after: timedelta | None) -> float:
        """Exponential back-off with full jitter above half of it, never below what the other side asked for."""
        ceiling = min(self.retry_max, self.retry_base * 2.0 ** (attempt - 1))
        jittered = ceiling * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards no secret
        return max(jittered, min(after, LONGEST_PAUSE).total_seconds() if after else 0.0)


class Overran(Exception):
    """An attempt took longer than its agent may."""


class LaneFull(Exception):
    """As many of its lane run as may."""


Agent = Callable[[Job], Outcome]


@dataclass(frozen=True, slots=True)
class Ledger:
    """What it takes to work dispatches off: the database, who does what on which queue, the policy.

    `gate`: what those who ask a model must pass, where there is one. `seconds`: how long an attempt of each agent may
    take; of those not in it, any time. `interrupts`: whether the process is the ledger's own, so that an attempt that
    takes too long or was called off can be stopped by signals and, at the worst, with the process.
    """

    db: Database
    agents: Mapping[str, Agent]
    queues: Mapping[str, str]
    policy: Policy
    gate: Gate | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    interrupts: bool = False
