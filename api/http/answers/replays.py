"""Answers about replays of events: the plan of one, and one that workers carry out."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.http.answers.memories import Authorship
from api.http.answers.rules import BacktestEstimate, FiringSample
from api.ingress.answers import Answer, Page, optional


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


class EventSelected(Answer):
    """Filter of the events of a replay."""

    types: list[str]
    since: datetime | None = Field(alias="from")
    until: datetime | None = Field(alias="to", description="Exclusive")
    user_id: str | None
    session_id: str | None
    event_ids: list[str] | None
    source: str | None
    after: int


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


class ReplayPage(Page):
    """A page of replays."""

    items: list[ReplaySummary]
