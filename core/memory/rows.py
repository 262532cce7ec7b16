"""Types of the rows that statements on `memories` return."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from core.types import Json


class KnownRow(Protocol):
    """Columns of a memory by which a candidate is compared with it."""

    id: UUID
    version: int
    content: str
    subject: str
    attribute: str | None
    value: str | None
    occurred_at: datetime
    category: str
    said_at: datetime
    valid_from: datetime | None
    audience_labels: Sequence[str]
    features: bytes | None

    @property
    def structured(self) -> Json | None: ...


class MemoryRow(KnownRow, Protocol):
    """All columns of a memory."""

    structured: Json
    tenant_id: str
    user_id: str
    group_id: str | None
    session_id: str | None
    kind: str
    topic: str
    statement_key: str
    importance: float
    confidence: float
    trust: str
    status: str
    valid_to: datetime | None
    recorded_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    half_life_days: float | None
    last_used_at: datetime | None
    uses: int
    fade_height: float
    fade_floor: float
    fade_half_life: float | None
    fade_at: datetime | None
    pinned: bool
    tags: Sequence[str]
    level: int

    def _asdict(self) -> dict[str, Any]: ...
