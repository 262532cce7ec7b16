"""Answers about the processes, queues and servers of an installation."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from api.ingress.answers import Answer


class ProcessHealth(Answer):
    """A kind of process, or one worker."""

    name: str
    alive: bool = Field(description="Whether it has said so within ten seconds")
    seen_at: datetime | None
    since: datetime | None = Field(description="When it started; of several of a kind, the one that said so last")
    version: str | None
    queue: str | None = Field(description="Of a worker: the queue that it serves")
    processes: int | None = Field(description="Of a worker: how many processes it has")


class QueueHealth(Answer):
    """Work of the tenant on a queue."""

    name: str
    waiting: int
    running: int
    retrying: int = Field(description="Those that wait for another attempt")
    more: bool = Field(description="Counted were 1,000 on all queues; there may be others")
    oldest_at: datetime | None = Field(description="When the one that has waited longest was decided")
    processes: int = Field(description="Processes that serve the queue, for all tenants")


class ScheduleHealth(Answer):
    """A rule with a schedule."""

    rule: str
    enabled: bool
    every_seconds: int | None
    cron: str | None
    timezone: str | None
    fired_to: datetime = Field(description="Due times up to this one are dealt with")
    next_at: datetime | None
    late: bool = Field(description="Whether a due time has passed by more than a minute without being fired")


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


class ConnectionHealth(Answer):
    """Connections to the database; what they do is told of the API's own role alone."""

    total: int
    active: int
    idle: int
    in_transaction: int
    most: int = Field(description="How many the server takes")


class DatabaseHealth(Answer):
    """The database server."""

    version: str
    started_at: datetime
    bytes: int
    connections: ConnectionHealth
    oldest_transaction_seconds: float = Field(description="Of the API's own role")
    migration: str | None
    newest_migration: str


class TableHealth(Answer):
    """A table, as the server's statistics describe it."""

    name: str
    rows: int = Field(description="An estimate")
    dead_rows: int = Field(description="Rows that vacuum will remove, an estimate")
    bytes: int = Field(description="With its indexes")
    vacuumed_at: datetime | None
    analyzed_at: datetime | None


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
