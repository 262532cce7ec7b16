"""Answers about the service: statistics, costs, what waits, health."""

from __future__ import annotations

from datetime import date, datetime
from uuid import UUID

from pydantic import Field

from api.ingress.answers import Answer, Page
from core.maintenance.health import DatabaseHealth, QueueHealth, TableHealth
from core.maintenance.heartbeat import ProcessHealth
from rules.flow.due import ScheduleHealth


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
    caches: dict[str, float | None] | None = Field(
        description="Share of the lookups of all tenants that each cache of this process answered, null where nobody "
        "asked. Null: the key is not an `admin` key of the tenant `default`"
    )
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


class DispatchGauge(Answer):
    """Dispatches of all tenants by status."""

    pending: int
    running: int
    retrying: int
    dead: int


class QueueGauge(Answer):
    """Tenants with work that waits, by queue."""

    io: int
    cpu: int


class Backlog(Answer):
    """What waits in the whole installation, as the clock counted it last."""

    at: datetime
    events: int = Field(description="Events that wait for the router, counted up to 100,000")
    lag_seconds: float = Field(description="Age of the oldest of them")
    dispatches: DispatchGauge
    oldest_seconds: float = Field(description="Age of the oldest dispatch that has not started")
    tenants: QueueGauge


class BrokerHealth(Answer):
    """The broker."""

    kind: str
    seconds: float | None = Field(description="What a new connection took; null: it did not answer")
    error: str | None


class EmbedderHealth(Answer):
    """The embedding model of the installation."""

    kind: str
    model: str
    dimension: int
    seconds: float | None = Field(description="What one vector took; null: of an endpoint, which is paid by the call")


class DiskHealth(Answer):
    """The disk of the home of the process that answers."""

    path: str
    free_bytes: int
    total_bytes: int


class Installation(Answer):
    """What all tenants share."""

    workers: list[ProcessHealth]
    backlog: Backlog | None = Field(description="Null: no clock has counted yet")
    database: DatabaseHealth
    tables: list[TableHealth]
    broker: BrokerHealth
    embedder: EmbedderHealth
    disk: DiskHealth


class Health(Answer):
    """Processes, queues and schedules; of the installation what its operator may know."""

    processes: list[ProcessHealth]
    queues: list[QueueHealth]
    schedules: list[ScheduleHealth]
    installation: Installation | None = Field(description="Null: the key is not an `admin` key of the tenant `default`")
