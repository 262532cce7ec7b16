"""Answers about dead letters."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from api.http.answers.dispatches import DispatchOfEvent
from api.ingress.answers import Answer, Page
from core.types import Json


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


class DeadLetterGroups(Page):
    """A page of groups."""

    items: list[DeadLetterGroup]


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
