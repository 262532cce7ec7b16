"""Answers about dispatches."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, optional, page
from core.dispatches.queries import Decider
from core.types import DispatchStatus, Json


class FailedAttempt(Answer):
    """A failed attempt of a dispatch."""

    attempt: int
    stage: Literal["agent", "write", "deadline", "worker"] = Field(
        description="`agent`: in its agent; `write`: when its effect was written; `deadline`: it took longer than it "
        "may; `worker`: its worker died or hung"
    )
    error: str | None = Field(description="Class of the error")
    began_at: datetime | None
    ended_at: datetime


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
    replay_id: UUID | None = Field(description="The replay that decided it; null: the event was decided as it came")
    failures: list[FailedAttempt] = Field(description="The last failed attempts, at most 10, oldest first")
    edit_of: UUID | None = Field(description="The dead dispatch that it retries with other parameters")
    edited_by: str | None = Field(description="The key that has changed the parameters")
    fingerprint: str | None = Field(description="Of a dead one: its group (`GET /v1/dispatches/groups`)")


class DispatchOfEvent(Dispatch):
    """A dispatch, and the event that it follows from."""

    event_id: str | None
    event_type: str | None


class ShownDispatch(DispatchOfEvent):
    """A dispatch; if it waits for approval, with the keys that may approve it."""

    may_decide: list[Decider] = optional()
    edited_as: UUID | None = Field(description="The dispatch that retries it with other parameters")


class ReplayedDispatches(Answer):
    """Dispatches that are tried again."""

    matched: int
    replayed: int
    ids: list[UUID] = Field(description="Of those that begin again; of a dry run: of those that would")


class DecidedDispatch(Answer):
    """What became of one held dispatch."""

    id: UUID
    outcome: Literal["done", "refused"]
    detail: str | None = optional("Why it was refused")


class DecidedDispatches(Answer):
    """What became of each of several held dispatches."""

    done: int
    refused: int
    more: bool = Field(description="Others wait as well; send the request again for them")
    items: list[DecidedDispatch]


class DispatchEffect(Answer):
    """What a dispatch would do."""

    kind: Literal["request", "notice", "event", "task", "ruling", "feedback", "forgetting", "agent"]
    target: str
    effect: Json | None = Field(description="By its kind, without secrets; null: it cannot be told before")


class BoundedCount(Answer):
    """A number of rows, counted up to a bound."""

    count: int
    more: bool = Field(description="There may be others")


class DeadLetterGroup(Answer):
    """Dead letters of one agent whose errors differ in ids, numbers and quotes alone."""

    fingerprint: str = Field(description="Names the group, in the filters of retrying and discarding")
    target: str = Field(description="The agent that failed")
    error: str | None = Field(description="The error of the newest, without secrets")
    letters: BoundedCount
    first_at: datetime | None = Field(description="When the first of them was given up")
    last_at: datetime | None
    rules: list[str] = Field(description="Rules that asked for them, at most 20")
    retryable: bool = Field(description="Whether the newest can be retried")
    newest: DispatchOfEvent


class DiscardedDispatches(Answer):
    """Dead letters that were discarded, or would be."""

    matched: int = Field(description="Dead letters of this request: what `confirm` has to say")
    more: bool = Field(description="Others match as well; send the request again for them")
    discarded: int
    ids: list[UUID]


class DispatchParams(Answer):
    """Parameters of a dispatch as a person may edit them."""

    params: Json = Field(description="Without secrets; what was masked and is left as it is, stays")
    editable: bool
    reason: str | None = Field(description="Why they cannot be edited")
    params_schema: Json = Field(description="JSON Schema of the parameters")


class FailingEndpoint(Answer):
    """An address whose last call failed."""

    address: str
    failing_since: datetime | None
    failures: int
    disabled_at: datetime | None
    error: str | None


class EnabledEndpoint(Answer):
    """An address that is called again."""

    address: str
    enabled: bool


DispatchPage = page("DispatchPage", DispatchOfEvent, "A page of dispatches.")
DeadLetterGroups = page("DeadLetterGroups", DeadLetterGroup, "A page of groups.")
EndpointPage = page("EndpointPage", FailingEndpoint, "Failing addresses.")
