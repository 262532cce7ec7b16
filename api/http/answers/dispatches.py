"""Answers about dispatches."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, Page, optional
from core.types import DispatchStatus, Json


class Dispatch(Answer):
    """An action that must happen: a row of the ledger, from decision to completion."""

    id: UUID
    rule: str | None = Field(description="Null: the service asked for it")
    rule_version: int | None
    action_type: str
    target: str = Field(description="The agent that carries it out")
    params: Json = Field(description="Parameters, without secrets")
    status: DispatchStatus
    hold: str | None = Field(description="What it waits for: `approval`, `turn`, …")
    expires_at: datetime | None = Field(description="When an approval is no longer possible")
    approval: Json | None = Field(description="Who was asked, and who decided what")
    after: UUID | None = Field(description="The dispatch that has to be done first")
    lane: str | None = Field(description="Dispatches of one lane run one at a time")
    attempt: int
    sends: int
    error: str | None
    wake_at: datetime | None = Field(description="When it is due")
    result: Json | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    correlation_id: str
    hop: int


class DispatchOfEvent(Dispatch):
    """A dispatch, and the event that it follows from."""

    event_id: str | None
    event_type: str | None


class DispatchPage(Page):
    """A page of dispatches."""

    items: list[DispatchOfEvent]


class Decider(Answer):
    """A key that may decide about a dispatch."""

    id: str
    name: str | None
    scopes: list[str]


class ShownDispatch(DispatchOfEvent):
    """A dispatch; if it waits for approval, with the keys that may approve it."""

    may_decide: list[Decider] = optional()


class ReplayedDispatches(Answer):
    """Dispatches that are tried again."""

    matched: int
    replayed: int
    ids: list[UUID] = Field(description="Of those that begin again; of a dry run: of those that would")
