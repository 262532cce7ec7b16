"""Answers about events."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.authors import Authorship
from api.http.rules.answers import BacktestEstimate, FiringSample
from api.http.work.answers import Dispatch
from api.ingress.answers import Answer, ProblemPlace, of, optional, page
from core.types import DispatchStatus, Json
from rules.backtest import selection
from rules.registry.event_trace import TracedRule


class AcceptedEvent(Answer):
    """An accepted event."""

    id: str
    duplicate: bool = Field(description="Whether it was known already, by its source and id")


class AcceptedBatch(Answer):
    """Result of a batch, sent after the commit."""

    accepted: int
    duplicates: int
    events: list[AcceptedEvent]
    settle_token: str = Field(description="Position in the log, for `GET /v1/settle`")
    errors: list[ProblemPlace] = optional(
        "With `on_error=skip`: what is wrong with the events that were not accepted; a pointer begins with their index"
    )


class Settled(Answer):
    """Whether everything up to a position, and all that follows from it, is done."""

    settled: bool
    pending: int


class LoggedEvent(Answer):
    """An event with its place in the log and in its chain."""

    seq: int = Field(description="Position in the log")
    id: str
    event_type: str
    source: str
    subject: str | None
    time: datetime
    payload: Json
    correlation_id: str = Field(description="Id of the first event of the chain")
    causation_id: str | None = Field(description="Id of the event that it follows from")
    hop: int = Field(description="Number of events between it and the first of the chain")
    traceparent: str | None = Field(description="Trace context, as the publisher sent it")
    tracestate: str | None
    partitionkey: str | None


class TracedChange(Answer):
    """A change of a memory that followed from an event."""

    memory_id: UUID
    version: int
    change: str
    reason: str
    content: str | None
    dispatch_id: UUID | None


class ReplayedDecision(Answer):
    """Decision of a replay on the event."""

    rule: str
    version: int
    verdict: str = Field(description="`fired`, `gathered` or `held`")
    reason: str | None = Field(description="What held it back")


class Consequences(Answer):
    """Consequences of an event, in the order of their occurrence."""

    dispatches: list[Dispatch]
    changes: list[TracedChange]
    followed_by: list[LoggedEvent]


class TracedReplay(Consequences):
    """A replay of the event, and what followed from it."""

    id: UUID
    mode: str = Field(description="`shadow` or `live`")
    status: str = Field(description="`running`, `done` or `cancelled`")
    created_at: datetime
    rules: list[ReplayedDecision]


class EventTrace(Consequences):
    """Consequences of an event as it came, and of its replays."""

    event: LoggedEvent
    rules: list[TracedRule]
    replays: list[TracedReplay]


class ChainedDispatch(Answer):
    """An action of a chain."""

    id: UUID
    rule: str | None = Field(description="Null: the service asked for it")
    rule_version: int | None
    action_type: str
    target: str
    to: str | None = Field(description="Where it sends something: an address without its query, a channel, a task")
    status: DispatchStatus
    hold: str | None = Field(description="What it waits for: `approval`, `turn`, …")
    attempt: int
    error: str | None
    wake_at: datetime | None = Field(description="When it is due")


class ChainedEvent(Answer):
    """An event of a chain, with the actions that it caused."""

    depth: int = Field(description="Steps from the event whose chain this is; 1: it followed from it directly")
    id: str
    event_type: str
    subject: str | None
    time: datetime
    causation_id: str = Field(description="Id of the event that it follows from")
    dispatch_id: UUID | None = Field(description="The action whose effect it reports")
    dispatches: list[ChainedDispatch]


class EventChain(Answer):
    """What followed from an event."""

    dispatches: list[ChainedDispatch] = Field(description="Actions of the event itself")
    followed_by: list[ChainedEvent] = Field(description="Events that followed, the nearest first")
    truncated: bool = Field(description="Whether there are more")


class HookContext(Answer):
    """Context for the model, as the hook expects it."""

    hook_event_name: str = Field(alias="hookEventName")
    additional_context: str = Field(alias="additionalContext")


class HookAnswer(Answer):
    """Answer to a hook; without a body if there is nothing to say."""

    hook_specific_output: HookContext = Field(alias="hookSpecificOutput")


class PlannedFirings(Answer):
    """Planned decisions of a rule in a replay."""

    rule: str
    version: int
    action_mode: str
    risk_level: str
    matched: int
    fired: int
    held: dict[str, int] = Field(description="Matches that would be held back, by what")
    gathered: int = Field(description="Matches that would still wait for others at the end")
    keys: int
    users: int
    samples: list[FiringSample]
    estimate: BacktestEstimate
    not_simulated: list[str]


class ReplayCost(Answer):
    """Expected cost of a replay; null: it is not known of every rule."""

    seconds: float | None
    tokens: float | None
    cost: float | None


class ReplayPlan(Answer):
    """Plan of a replay; nothing was written."""

    mode: str = Field(description="`plan`")
    events: int
    truncated: bool = Field(description="Whether more events match than `limit`")
    next: int | None = Field(description="What to send as `filter.after` for the events behind `limit`")
    failed: int = Field(description="Events on which rules fail")
    dispatches: int
    rules: list[PlannedFirings]
    idle: list[str] = Field(description="Rules that would do nothing")
    estimate: ReplayCost
    took_ms: int


@of(selection.EventSelector)
class EventSelected(Answer):
    """Filter of the events of a replay."""

    since: datetime | None = Field(alias="from")
    until: datetime | None = Field(alias="to", description="Exclusive")


class ReplayedRule(Answer):
    """Figures of a rule in a replay; none: no event has matched it yet."""

    rule: str
    version: int
    matched: int = optional()
    fired: int = optional()
    gathered: int = optional("Matches that a debounce or count took up")
    held: dict[str, int] = optional("Matches that were held back, by what")
    dispatches: int = optional()


class ReplaySummary(Answer):
    """A replay of events."""

    id: UUID
    mode: str = Field(description="`shadow` or `live`")
    status: str = Field(description="`running`, `done` or `cancelled`")
    events: int = Field(description="Number of events that it decides on")
    decided: int = Field(description="How many of them it has decided on")
    author: Authorship
    created_at: datetime
    ended_at: datetime | None
    filter: EventSelected
    truncated: bool = Field(description="Whether more events match than it takes")
    next: int | None = Field(description="What to send as `filter.after` for those behind it")
    rules: list[ReplayedRule]


class EventReplay(ReplaySummary):
    """A replay of events, and how far it is."""

    dispatches: dict[str, int] = Field(description="Its dispatches by status")
    error: str | None = Field(description="Why a running one stands still")
    settle_token: str = Field(description="Waits for everything that follows from it: `GET /v1/settle`")


EventPage = page("EventPage", LoggedEvent, "A page of events.")
ReplayPage = page("ReplayPage", ReplaySummary, "A page of replays.")
