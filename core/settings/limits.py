"""Limits of a tenant on its use of a shared installation."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from core.errors import Overloaded, TooLarge

Count = Annotated[int, Field(ge=1, le=2**53)]


class TenantLimits(BaseModel):
    """Limits of a tenant. A request that reaches one gets 429 with `Retry-After`, or 413 if waiting does not help."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: Count = Field(48, description="Concurrent HTTP and MCP requests.")
    requests_per_key: Count = Field(32, description="Concurrent HTTP and MCP requests per key.")
    body_bytes: Count = Field(16 * 1024**2, description="Bytes of request bodies in memory.")
    settles: Count = Field(32, description="Concurrent callers of `GET /v1/settle`.")
    streams: Count = Field(200, description="Concurrent followers of `GET /v1/stream`.")
    streams_per_key: Count = Field(100, description="Concurrent followers of `GET /v1/stream` per key.")
    pages: Count = Field(16, description="Concurrent pages of the console.")
    backtests: Count = Field(1, description="Concurrent backtests, plans of replays and dry runs of extraction.")
    rebuilds: Count = Field(2, description="Concurrent rebuilds of users' memories.")
    imports: Count = Field(
        4,
        description="Concurrent requests to `POST /v1/import`; also archives that are uploaded or restored at once.",
    )
    import_bytes: Count = Field(
        2 * 1024**3, description="Total bytes of uploads that are kept until they are restored."
    )
    bulk_jobs: Count = Field(2, description="Concurrent jobs that change many memories, previews too.")
    replays: Count = Field(2, description="Concurrent replays of events, `shadow` or `live`.")
    running: Count = Field(
        16,
        description="Concurrent dispatches per queue; always at least one less than its processes.",
    )
    events_waiting: Count = Field(200_000, description="Accepted events that have not been routed yet.")
    documents: Count = Field(10_000, description="Stored documents.")
    document_bytes: Count = Field(1024**3, description="Total bytes of stored documents.")
    window_bytes: Count = Field(16 * 1024**2, description="Bytes of recent messages cached in the broker.")


class LimitReached(Overloaded):
    """A limit of the tenant is reached and waiting helps: 429 with `Retry-After`."""

    def __init__(self, name: str, value: int, retry_after_s: int = 1) -> None:
        self.name, self.value = name, value
        super().__init__(f"{_message(name, value)} Send again after the time in Retry-After.", retry_after_s)


class QuotaReached(TooLarge):
    """A limit of the tenant is reached and waiting does not help: 413."""

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value
        super().__init__(f"{_message(name, value)} Delete some, or have the limit raised.")


def _message(name: str, value: int) -> str:
    meaning = str(TenantLimits.model_fields[name].description).rstrip(".")
    return (
        f"The limit `{name}` of this tenant is reached: {value} ({meaning}). `GET /v1/tenant/limits` shows all limits; "
        f"the operator raises one with `imprint tenant limits --tenant … {name}=…`."
    )
