"""Answers about a tenant: prompts, destinations, secrets, limits, retention, extraction, clock, embedding."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import Field

from api.http.service.answers import RemovedRows
from api.ingress.answers import Answer, optional, page
from core.settings.limits import TenantLimits
from core.tenancy.retention import Retention


class PromptSummary(Answer):
    """A prompt in force."""

    name: str
    packaged: str = Field(description="Versioned name of the packaged prompt")
    version: int | None = Field(description="Version of the tenant's own; null: it has none")
    share: float | None
    recorded_as: str = Field(description="How the ledger of calls names it")


class PromptVersion(Answer):
    """A version of a tenant's own prompt."""

    version: int
    share: float
    is_reset: bool
    comment: str
    author: str
    created_at: datetime


class Prompt(PromptSummary):
    """A prompt with its texts and versions."""

    packaged_text: str
    text: str | None
    versions: list[PromptVersion]


class RenderedPrompt(Answer):
    """A prompt with an example question."""

    system: str
    user: str
    answer_schema: dict[str, Any] = Field(description="JSON Schema of the model's answer")
    estimated_tokens: int


class Destinations(Answer):
    """Destinations that a tenant's rules may reach."""

    tenant: str
    hosts: list[str]
    may_use: list[str] = Field(description="Hosts that the operator allows")
    channels: dict[str, str] = Field(description="Channels with masked addresses")
    own_channels: list[str]
    queues: list[str]
    secrets: list[str] = Field(description="Names of the secrets that headers may reference")
    signed: bool
    signing_secret_since: datetime | None
    updated_at: datetime | None
    updated_by: str | None


class Secret(Answer):
    """A stored secret without its value."""

    name: str
    value: str = Field(description="Dots")
    hosts: list[str] | None = Field(description="The only hosts to which it may be sent; null: all that are allowed")
    created_at: datetime
    updated_at: datetime
    updated_by: str | None


class Tenant(Answer):
    """The tenant of a key."""

    id: str
    allow_high_risk: bool


class LimitsInForce(Answer):
    """Limits of a tenant."""

    limits: TenantLimits
    granted: dict[str, int] = Field(description="By the operator, in place of the installation's")
    chosen: dict[str, int] = Field(description="By the tenant, lower ones")


class ChosenRetention(Retention):
    """Days for which each kind is kept; null: for ever."""


class DueRows(Answer):
    """Rows that leave at the next sweep, by kind; each count ends at 100,000."""

    messages: int
    tool_results: int
    sessions: int
    events: int
    dispatches: int


class RetentionInForce(Answer):
    """How long everything is kept, and what leaves by it."""

    retention: ChosenRetention
    due: DueRows
    removed: dict[str, RemovedRows] = Field(description="What has left, by kind")
    dry_run: bool = optional("Of a change: true: nothing was set")


class ExtractionSettings(Answer):
    """Filters of extracted statements, and of what they end."""

    min_importance: float
    min_certainty: float


class ClockSettings(Answer):
    """The clock of users for whom no time zone was set; null: UTC."""

    time_zone: str | None


class VectorCounts(Answer):
    """Vectors by model."""

    model: int
    other: int
    more: bool = Field(description="Only the first 10,000 entries were looked at; all are during a change")


class EmbeddingSettings(Answer):
    """Embedding model of a tenant."""

    model: str
    state: str = Field(description="`settled`, or how far a change is")
    other: str | None = Field(description="The model of before or of after a change")
    until: datetime | None
    vectors: VectorCounts
    offered: list[str]


PromptPage = page("PromptPage", PromptSummary, "The prompts.")
SecretPage = page("SecretPage", Secret, "Stored secrets.")
