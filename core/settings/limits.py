"""Limits of one tenant: what it may use of an installation that it shares with others."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from core.errors import Overloaded, TooLarge

Count = Annotated[int, Field(ge=1, le=2**53)]


class TenantLimits(BaseModel):
    """Limits of a tenant. Reaching one is answered with 429 and `Retry-After`, or 413 if waiting does not help."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: Count = Field(24, description="HTTP and MCP requests being answered at the same time.")
    requests_per_key: Count = Field(16, description="The same, of one key.")
    body_bytes: Count = Field(64 * 1024**2, description="Bytes of request bodies held at the same time.")
    settles: Count = Field(32, description="Callers waiting in `GET /v1/settle`.")
    backtests: Count = Field(1, description="Backtests running at the same time.")
    rebuilds: Count = Field(2, description="Rebuilds of users' memories running at the same time.")
    running: Count = Field(
        16,
        description="Dispatches of one queue under way at the same time; never more than its processes but one.",
    )
    events_waiting: Count = Field(200_000, description="Events accepted and not yet routed.")
    documents: Count = Field(10_000, description="Documents stored.")
    document_bytes: Count = Field(1024**3, description="Bytes of all documents stored.")
    window_bytes: Count = Field(16 * 1024**2, description="Bytes of recent messages cached in the broker.")


class LimitReached(Overloaded):
    """A limit of the tenant was reached, and waiting helps: 429 with `Retry-After`."""

    def __init__(self, name: str, value: int, retry_after_s: int = 1) -> None:
        self.name, self.value = name, value
        super().__init__(f"{_message(name, value)} Send again after the time in Retry-After.", retry_after_s)


class QuotaReached(TooLarge):
    """A limit of the tenant was reached, and waiting does not help: 413."""

    def __init__(self, name: str, value: int) -> None:
        self.name, self.value = name, value
        super().__init__(f"{_message(name, value)} Delete some, or have the limit raised.")


def _message(name: str, value: int) -> str:
    meaning = str(TenantLimits.model_fields[name].description).rstrip(".")
    return (
        f"The limit `{name}` of this tenant is reached: {value} ({meaning}). `GET /v1/tenant/limits` shows all limits; "
        f"the operator raises one with `imprint tenant limits --tenant … {name}=…`."
    )
