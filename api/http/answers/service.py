"""Answers about the service and its tenant: statistics, costs, settings, prompts, rebuilds, imports."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from api.http.answers.memories import Authorship
from api.ingress.answers import Answer, Page, optional
from core.settings.limits import TenantLimits
from core.storage.short_ids import Kind
from core.tenancy.retention import Retention
from core.types import Json


class ServiceStatus(Answer):
    """State of this process or of the service: `alive`, `ready`."""

    status: str


class DecisionCount(Answer):
    """Decisions of one rule and verdict."""

    rule: str
    verdict: str
    count: int


class TargetCount(Answer):
    """Dispatches of one target and status."""

    target: str
    status: str
    count: int


class CategoryCount(Answer):
    """Memories of one category and status."""

    category: str
    status: str
    count: int


class GrowthDay(Answer):
    """Memories recorded on a day."""

    day: date
    added: int


class FadingMemory(Answer):
    """A memory that is about to fade."""

    id: UUID
    user_id: str | None
    content: str
    category: str
    importance: float
    uses: int
    fade_at: datetime | None
    strength: float


class Fading(Answer):
    """Memories about to fade."""

    count: int
    weakest: list[FadingMemory]


class VerdictCount(Answer):
    """Verdicts of a kind, and how many of them were undone."""

    count: int
    undone: int


class ModelFigures(Answer):
    """Calls of language models."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float


class ModelFiguresByName(ModelFigures):
    """Calls of one model."""

    model: str
    failed: int = Field(description="Calls without a usable answer")


class ModelTotals(ModelFigures):
    """Calls of all models."""

    by_model: list[ModelFiguresByName]


class HitRate(Answer):
    """Searches of this process, and how many returned a memory."""

    searches: int
    with_memories: int
    hit_rate: float | None


class RecallFigures(Answer):
    """Searches that returned a memory."""

    with_memories: int
    process: HitRate


class Percentiles(Answer):
    """Percentiles in milliseconds."""

    p50: float | None
    p95: float | None
    p99: float | None


class Latencies(Answer):
    """Latencies of this process."""

    search: Percentiles
    write: Percentiles


class MemoryFigures(Answer):
    """State of the memory."""

    days: int = Field(description="Days that `growth`, `verdicts` and `model` cover")
    total: int
    active: int
    by_kind: dict[str, int]
    by_category: dict[str, int]
    by_status: dict[str, int]
    by_trust: dict[str, int]
    mean_importance: float | None
    mean_age_days: float | None
    mean_uses: float | None
    never_used: float | None = Field(description="Share of the memories that were never recalled")
    growth: list[GrowthDay]
    fading: Fading
    verdicts: dict[str, VerdictCount]
    model: ModelTotals
    recall: RecallFigures
    latency_ms: Latencies


class RemovedRows(Answer):
    """Rows of one kind that have left by the tenant's retention."""

    at: datetime = Field(description="When rows left last")
    last: int = Field(description="How many left then")
    total: int = Field(description="How many have ever left")
    newest: datetime = Field(description="Time of the newest of them")


class Stats(Answer):
    """Counts of a tenant."""

    events: dict[str, int] = Field(description="By type")
    decisions: list[DecisionCount]
    dispatches: list[TargetCount]
    removed: dict[str, RemovedRows] = Field(description="What has left, and is counted no longer, by kind")
    memories: list[CategoryCount]
    memory: MemoryFigures


class Spending(ModelFigures):
    """Model calls with their cost."""

    latency_ms_p95: float | None


class SpendingOf(Spending):
    """Model calls of one rule, agent, user, model or prompt."""

    key: str | None = Field(description="Null: calls that belong to none")


class Costs(Page):
    """Cost of model calls."""

    since: datetime | None = Field(alias="from", description="When the period began; null: with the first call")
    items: list[SpendingOf]
    total: Spending


class DailySpending(Answer):
    """Model calls by day: one number for each of `days`."""

    calls: list[int]
    input_tokens: list[int]
    output_tokens: list[int]
    cost: list[float]


class DailySpendingOf(DailySpending):
    """Model calls by day of one rule, agent, user, model or prompt."""

    key: str | None = Field(description="Null: calls that belong to none")


class CostsByDay(Answer):
    """Cost of model calls by day."""

    since: datetime = Field(alias="from")
    until: datetime = Field(alias="to")
    days: list[date] = Field(description="Days in UTC, also those without calls")
    series: list[DailySpendingOf] = Field(description="The most expensive ones")
    rest: DailySpending = Field(description="All others together")


class SpendingToday(Answer):
    """What model calls have used today, and the budgets of a day."""

    tokens: int
    cost: float
    ends_at: datetime = Field(description="When the day ends: midnight UTC")
    tokens_per_day: int | None = Field(description="IMPRINT_LLM_TOKENS_PER_DAY; null: no limit")
    cost_per_day: float | None = Field(description="IMPRINT_LLM_COST_PER_DAY; null: no limit")


class FailingEndpoint(Answer):
    """An address whose last call failed."""

    address: str
    failing_since: datetime | None
    failures: int
    disabled_at: datetime | None
    error: str | None


class EndpointPage(Page):
    """Failing addresses."""

    items: list[FailingEndpoint]


class EnabledEndpoint(Answer):
    """An address that is called again."""

    address: str
    enabled: bool


class Profile(Answer):
    """Attributes of a user or group, each with the memories that it rests on."""

    version: int
    built_at: datetime
    until: datetime | None = Field(description="When the first of its memories stops being valid")
    attributes: Json = Field(description="Slots, lists, statements by topic, …; empty sections are left out")


class UserProfile(Profile):
    """Profile of a user."""

    user_id: str


class GroupProfile(Profile):
    """Profile of a group."""

    group_id: str


class AddedStatement(Answer):
    """A statement that a rebuild would add."""

    content: str


class GoneStatement(AddedStatement):
    """A statement that a rebuild would remove."""

    memory_id: UUID


class ChangedStatement(Answer):
    """A statement that a rebuild would change."""

    memory_id: UUID
    before: str = Field(alias="from")
    after: str = Field(alias="to")


class Difference(Answer):
    """Difference that a rebuild would make."""

    added: list[AddedStatement]
    gone: list[GoneStatement]
    changed: list[ChangedStatement]
    same: int
    kept: int = Field(description="Memories that a rebuild does not touch, since they do not come from the log")
    expired: int = optional("How many of these stay because messages that they rest on have left")


class Rebuild(Answer):
    """A rebuild of a user's memories."""

    id: UUID
    user_id: str
    status: str = Field(description="`running`, `ready`, `applied`, `dropped` or `failed`")
    params: Json
    difference: Difference | None
    author: Authorship
    created_at: datetime
    ended_at: datetime | None


class RebuildPage(Page):
    """A page of rebuilds."""

    items: list[Rebuild]


class AppliedRebuild(Answer):
    """A rebuild that was applied."""

    id: UUID
    status: str
    changes: dict[str, int]


class DroppedRebuild(Answer):
    """A rebuild that was dropped."""

    id: UUID
    status: str


class PromptSummary(Answer):
    """A prompt in force."""

    name: str
    packaged: str = Field(description="Versioned name of the packaged prompt")
    version: int | None = Field(description="Version of the tenant's own; null: it has none")
    share: float | None
    recorded_as: str = Field(description="How the ledger of calls names it")


class PromptPage(Page):
    """The prompts."""

    items: list[PromptSummary]


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


class SecretPage(Page):
    """Stored secrets."""

    items: list[Secret]


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


class FoundId(Answer):
    """An id, and what it names."""

    type: Kind
    id: UUID


class FoundIds(Page):
    """Ids with the same end, newest first, at most five."""

    items: list[FoundId]


class ExtractionSettings(Answer):
    """Filters of extracted statements."""

    min_importance: float


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
